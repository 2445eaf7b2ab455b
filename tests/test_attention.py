"""Attention against loops, torch's kernel and torch's module, on every array library."""

from __future__ import annotations

import itertools
import math
import re
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from companion.attention import (
    attend,
    masked_softmax,
    scaled_dot_product_attention,
    self_attention,
)
from companion.masks import causal_mask, padding_mask
from tests import oracle
from tests.oracle import as_numpy, assert_matches

if TYPE_CHECKING:
    from typing import assert_type

    from torch import Tensor

sdpa: Any = scaled_dot_product_attention  # untyped: the tests unpack arguments into it

B, H, G, Q, K, D, V = 2, 6, 3, 5, 7, 11, 13

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def draw(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def inputs(q: int = Q, k: int = K, groups: int = G) -> tuple[Any, Any, Any]:
    return draw(B, H, q, D), draw(B, groups, k, D, seed=1), draw(B, groups, k, V, seed=2)


def keep(*shape: int) -> Any:
    """A boolean mask whose rows all have a key, save those that are dead on purpose."""
    mask = np.random.default_rng(3).random(shape) < 0.6
    mask[..., 0] |= ~mask.any(-1)
    mask[..., -1, :] = False  # the last query may attend to nothing
    return mask


def bias(*shape: int) -> Any:
    mask = 3 * draw(*shape, seed=4)
    mask[~keep(*shape)] = -np.inf
    return mask


def moved(xp: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Bring the arrays among the options to a library."""
    return {
        name: xp.asarray(option) if isinstance(option, np.ndarray) else option
        for name, option in options.items()
    }


OPTIONS: dict[str, dict[str, Any]] = {
    "mask": {"attn_mask": keep(B, H, Q, K)},
    "head mask": {"attn_mask": keep(H, Q, K)},
    "padding": {"attn_mask": padding_mask(np.array([[3], [0]]), K)},
    "bias": {"attn_mask": bias(B, 1, Q, K)},
    "causal": {"is_causal": True},
    "offset": {"is_causal": True, "offset": 2},
    "behind": {"is_causal": True, "offset": -2},
    "offsets": {"is_causal": True, "offset": np.array([1, -3])},
    "scale": {"scale": 0.7},
    "softcap": {"softcap": 1.5},
    "sinks": {"sinks": draw(H)},
}
PAIRS = [
    (one, other)
    for one, other in itertools.combinations(OPTIONS, 2)
    if not OPTIONS[one].keys() & OPTIONS[other].keys()
]


def check(xp: Any, options: dict[str, Any], q: int = Q, k: int = K) -> None:
    """Hold the definition, and the path without weights, against the loops."""
    arrays = inputs(q, k)
    expected = oracle.attention(*arrays, **options)
    ours = [xp.asarray(array) for array in arrays]
    options = moved(xp, options) | {"enable_gqa": True}
    output, weights, lse = sdpa(*ours, **options, need_weights=True, need_lse=True)
    assert_matches(output, expected.output)
    assert_matches(weights, expected.weights)
    assert_matches(lse, expected.lse)
    assert_matches(sdpa(*ours, **options), expected.output)


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_alone(xp: Any, option: str) -> None:
    check(xp, OPTIONS[option])


@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
def test_every_option_in_pairs(xp: Any, pair: tuple[str, str]) -> None:
    check(xp, OPTIONS[pair[0]] | OPTIONS[pair[1]])


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize(
    ("q", "k"), [(1, 1), (1, 7), (5, 7), (7, 5), (7, 7), (63, 5), (5, 63), (0, 3), (3, 0)]
)
def test_lengths(xp: Any, q: int, k: int, is_causal: bool) -> None:
    check(xp, {"is_causal": is_causal}, q, k)
    check(xp, {"is_causal": is_causal, "sinks": draw(H)}, q, k)


@pytest.mark.parametrize("lead", [(), (3,), (B, 3), (2, 3, 5)])
def test_leading_axes_are_free(xp: Any, lead: tuple[int, ...]) -> None:
    query, key, value = draw(*lead, Q, D), draw(*lead, K, D), draw(*lead, K, V)
    actual = sdpa(*map(xp.asarray, (query, key, value)), is_causal=True)
    assert tuple(actual.shape) == (*lead, Q, V)
    for place in np.ndindex(*lead):
        one = (array[place][None, None] for array in (query, key, value))
        expected = oracle.attention(*one, is_causal=True).output[0, 0]
        assert_matches(actual[(*place, ...)], expected)


def test_leading_axes_broadcast(xp: Any) -> None:
    query, key, value = draw(B, H, Q, D), draw(B, 1, K, D), draw(1, 1, K, V)
    expected = oracle.attention(query, key, np.repeat(value, B, 0), keep(Q, K)).output
    arrays = (xp.asarray(array) for array in (query, key, value, keep(Q, K)))
    assert_matches(sdpa(*arrays), expected)


def test_a_row_mask_for_all(xp: Any) -> None:
    query, key, value = (xp.asarray(array) for array in inputs(groups=H))
    row = keep(2, K)[0]
    expected = oracle.attention(*inputs(groups=H), row[None]).output
    assert_matches(sdpa(query, key, value, xp.asarray(row)), expected)


def test_offsets_are_one_a_sequence_even_where_there_are_as_many_heads(xp: Any) -> None:
    arrays = draw(B, B, Q, D), draw(B, B, K, D), draw(B, B, K, V)
    offset = np.array([0, 3])
    expected = oracle.attention(*arrays, is_causal=True, offset=offset).output
    ours = map(xp.asarray, arrays)
    actual = sdpa(*ours, is_causal=True, offset=xp.asarray(offset))
    assert_matches(actual, expected)


# Properties


def test_rows_sum_to_one_less_the_sinks_share(xp: Any) -> None:
    logits, sinks = 3 * draw(B, H, Q, K), draw(H)
    mask = keep(B, H, Q, K)
    alive = mask.any(-1)
    weights = as_numpy(masked_softmax(xp.asarray(logits), xp.asarray(mask)))
    np.testing.assert_allclose(weights.sum(-1), alive, rtol=1e-12)
    assert (weights[~mask] == 0).all()

    with_sinks = masked_softmax(xp.asarray(logits), xp.asarray(mask), sinks=xp.asarray(sinks))
    powers = np.where(mask, np.exp(logits), 0).sum(-1)
    share = np.exp(sinks)[:, None] / (powers + np.exp(sinks)[:, None])
    np.testing.assert_allclose(as_numpy(with_sinks).sum(-1), 1 - share, rtol=1e-12)


def test_a_changed_future_changes_no_past(xp: Any) -> None:
    query, key, value = inputs(K, K)
    before = sdpa(*map(xp.asarray, (query, key, value)), is_causal=True, enable_gqa=True)
    key[..., 4:, :], value[..., 4:, :] = 9.0, -9.0
    after = sdpa(*map(xp.asarray, (query, key, value)), is_causal=True, enable_gqa=True)
    changed = (as_numpy(before) != as_numpy(after)).any((0, 1, 3))
    np.testing.assert_array_equal(changed, [False] * 4 + [True] * 3)


def test_permuting_keys_and_values_together_changes_nothing(xp: Any) -> None:
    query, key, value = inputs()
    mask, order = keep(Q, K), np.random.default_rng(0).permutation(K)
    attended = [
        sdpa(*map(xp.asarray, arrays), enable_gqa=True)
        for arrays in (
            (query, key, value, mask),
            (query, key[..., order, :], value[..., order, :], mask[:, order]),
        )
    ]
    assert_matches(attended[1], as_numpy(attended[0]))


def test_grouped_heads_are_heads_repeated_consecutively(xp: Any) -> None:
    query, key, value = inputs()
    groups = [head * G // H for head in range(H)]
    assert groups == [0, 0, 1, 1, 2, 2]
    grouped = sdpa(*map(xp.asarray, (query, key, value)), enable_gqa=True)
    repeated = sdpa(*map(xp.asarray, (query, key[:, groups], value[:, groups])))
    assert_matches(grouped, as_numpy(repeated))


def test_cached_steps_are_one_pass(xp: Any) -> None:
    query, key, value = (xp.asarray(array) for array in inputs(K, K, H))
    whole = as_numpy(sdpa(query, key, value, is_causal=True))
    for split in range(1, K):
        rest = sdpa(query[..., split:, :], key, value, is_causal=True, offset=split)
        assert_matches(rest, whole[..., split:, :])


def test_shifting_a_row_of_scores_changes_nothing(xp: Any) -> None:
    logits, shift = draw(Q, K), 50 * draw(Q, 1)
    weights = as_numpy(masked_softmax(xp.asarray(logits)))
    assert_matches(masked_softmax(xp.asarray(logits + shift)), weights)


# Numbers at the edge


@pytest.mark.parametrize("size", [1e4, 1e30, -1e4])
def test_huge_scores(xp: Any, size: float) -> None:
    logits = np.array([[size, 0.0, -size], [size, size, size], [0.0, size, 1.0]])
    mask = np.array([[True] * 3, [True, False, True], [False] * 3])
    weights = as_numpy(masked_softmax(xp.asarray(logits), xp.asarray(mask)))
    top = [1.0, 0, 0] if size > 0 else [0, 0, 1.0]
    np.testing.assert_array_equal(weights, [top, [0.5, 0, 0.5], [0, 0, 0]])


def test_scores_of_minus_infinity_are_masked_keys(xp: Any) -> None:
    logits = np.array([[-np.inf, 0.0], [-np.inf, -np.inf]])
    expected = np.array([[0.0, 1.0], [0.0, 0.0]])
    assert_matches(masked_softmax(xp.asarray(logits)), expected)
    assert_matches(masked_softmax(xp.zeros((2, 2)), xp.asarray(logits)), expected)
    allowed = xp.asarray([[True, True], [True, False]])
    assert_matches(masked_softmax(xp.asarray(logits), allowed), expected)


def test_sinks_at_the_edge(xp: Any) -> None:
    logits = xp.zeros((2, 1, 3), dtype=xp.float64)
    none = masked_softmax(logits, sinks=xp.asarray([-math.inf, 1e4], dtype=xp.float64))
    assert_matches(none, np.array([[[1 / 3] * 3], [[0.0] * 3]]))


def test_a_dead_row_with_a_sink_has_only_the_sink_to_sum(xp: Any) -> None:
    arrays = [xp.asarray(array) for array in inputs(groups=H)]
    mask, sinks = xp.zeros((Q, K), dtype=xp.bool), draw(H)
    output, lse = sdpa(*arrays, mask, sinks=xp.asarray(sinks), need_lse=True)
    assert_matches(output, np.zeros((B, H, Q, V)))
    assert_matches(lse, np.broadcast_to(sinks[:, None], (B, H, Q)))


def test_numpys_half_precision_accumulates_in_float32() -> None:
    arrays = [array.astype(np.float16) for array in inputs(K, 63, H)]
    exact = oracle.attention(*(array.astype(np.float64) for array in arrays)).output
    query, key, value = arrays
    scores = query @ np.swapaxes(key, -1, -2) * np.float16(D**-0.5)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    plain = (powers / powers.sum(-1, keepdims=True)) @ value
    assert plain.dtype == np.float16

    output, weights, lse = sdpa(*arrays, need_weights=True, need_lse=True)
    assert (output.dtype, weights.dtype, lse.dtype) == (np.float16, np.float16, np.float32)
    # Only the last rounding is left, half a unit in the last place: far below the plain error.
    assert np.abs(output - exact).max() <= 2.0**-11 * np.abs(exact).max()
    assert np.abs(output - exact).max() < np.abs(plain - exact).max() / 2


def test_half_precision_scores_do_not_overflow() -> None:
    query = np.full((1, 64), 100.0, np.float16)  # dot product 640,000, past float16's 65,504
    key = np.stack([query[0], query[0] / 2])
    value = np.eye(2, dtype=np.float16)
    np.testing.assert_array_equal(sdpa(query, key, value), [[1, 0]])


def test_the_dtype_stays(xp: Any) -> None:
    arrays = [xp.asarray(array, dtype=xp.float32) for array in inputs()]
    mask = xp.asarray(bias(Q, K))  # float64
    results = sdpa(*arrays, mask, enable_gqa=True, need_weights=True, need_lse=True)
    assert all(array.dtype == xp.float32 for array in results)
    assert masked_softmax(xp.zeros((2, 2), dtype=xp.float32)).dtype == xp.float32


def test_dtypes_promote(xp: Any) -> None:
    query, key, value = inputs(groups=H)
    expected = oracle.attention(query.astype(np.float32), key, value).output
    narrow = xp.asarray(query, dtype=xp.float32)
    actual = sdpa(narrow, xp.asarray(key), xp.asarray(value))
    assert actual.dtype == xp.float64
    assert_matches(actual, expected)


def test_results_come_in_order() -> None:
    arrays = inputs(groups=H)
    output, weights, lse = sdpa(*arrays, need_weights=True, need_lse=True)
    alone = sdpa(*arrays)
    assert isinstance(alone, np.ndarray)
    np.testing.assert_array_equal(alone, output)
    with_weights = sdpa(*arrays, need_weights=True)
    np.testing.assert_array_equal(with_weights[1], weights)
    with_lse = sdpa(*arrays, need_lse=True)
    np.testing.assert_array_equal(with_lse[1], lse)
    assert (len(with_weights), len(with_lse)) == (2, 2)


def test_attend(xp: Any) -> None:
    weights, value = draw(B, Q, K), draw(K, V)
    expected = np.array([[[math.fsum(row * value[:, c]) for c in range(V)] for row in one]
                         for one in weights])  # fmt: skip
    assert_matches(attend(xp.asarray(weights), xp.asarray(value)), expected)


# Torch: gradients, the kernel, and torch's own implementations as oracles


def leaves(torch: ModuleType, arrays: Any, dtype: str = "float64") -> list[Any]:
    dtype = getattr(torch, dtype)
    return [torch.asarray(array).to(dtype).requires_grad_() for array in arrays]


def gradients(torch: ModuleType, output: Any, arrays: list[Any]) -> list[Any]:
    torch.manual_seed(0)
    found: list[Any] = list(torch.autograd.grad(output, arrays, torch.randn_like(output)))
    return found


@pytest.mark.parametrize("option", [None, *OPTIONS])
def test_gradients_of_the_definition(torch: ModuleType, option: str | None) -> None:
    options = moved(torch, OPTIONS[option]) if option else {}
    arrays = leaves(torch, [array[..., :2] for array in inputs()])

    def everything(query: Any, key: Any, value: Any) -> Any:
        results = sdpa(
            query, key, value, **options, enable_gqa=True, need_weights=True, need_lse=True
        )
        return tuple(x[x.isfinite()] for x in results)

    assert torch.autograd.gradcheck(everything, arrays)


def test_gradients_reach_sinks_and_float_masks(torch: ModuleType) -> None:
    query, key, value, sinks, mask = leaves(torch, [*inputs(3, 5, H), draw(H), draw(3, 5)])
    query, key, value = (array.detach() for array in (query, key, value))

    def attended(sinks: Any, mask: Any) -> Any:
        return sdpa(query, key, value, mask, sinks=sinks, need_lse=True)

    assert torch.autograd.gradcheck(attended, (sinks, mask))
    fused = sdpa(query, key, value, mask)
    defined, _ = sdpa(query, key, value, mask, need_weights=True)
    torch.testing.assert_close(
        gradients(torch, fused, [mask]), gradients(torch, defined, [mask]), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("option", ["mask", "padding", "bias", "causal", "behind", "offsets", None])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("width", [D, V])
def test_the_kernel_computes_the_definition(
    torch: ModuleType, option: str | None, dtype: str, width: int
) -> None:
    options = moved(torch, OPTIONS[option]) if option else {}
    if option == "bias":
        options["attn_mask"] = options["attn_mask"].to(getattr(torch, dtype))
    arrays = leaves(torch, [*inputs()[:2], draw(B, G, K, width)], dtype)
    with torch.profiler.profile() as profile:
        fused = sdpa(*arrays, **options, enable_gqa=True)
    ran = {event.key for event in profile.key_averages()}
    assert "aten::scaled_dot_product_attention" in ran
    defined, _ = sdpa(*arrays, **options, enable_gqa=True, need_weights=True)
    torch.testing.assert_close(fused, defined)
    torch.testing.assert_close(gradients(torch, fused, arrays), gradients(torch, defined, arrays))


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("kind", ["mask", "bias", "scores"])
def test_dead_rows_have_finite_gradients(torch: ModuleType, kind: str, need_weights: bool) -> None:
    arrays = leaves(torch, [1e4 * array for array in inputs(groups=H)], "float32")
    mask = {"mask": keep(Q, K), "bias": bias(Q, K).astype("float32"), "scores": None}[kind]
    if kind == "scores":
        logits = torch.full((2, 3), -math.inf, requires_grad=True)
        output = masked_softmax(logits + 1, sinks=None)
        arrays = [logits]
    else:
        output = sdpa(*arrays, torch.asarray(mask), need_weights=need_weights)
        output = output[0] if need_weights else output
        assert (output[..., -1, :] == 0).all()
        assert (output[..., 0, :] != 0).any()
    assert output.isfinite().all()
    assert all(gradient.isfinite().all() for gradient in gradients(torch, output, arrays))


@pytest.mark.parametrize("bad", [math.nan, 7.0])
def test_dead_rows_do_not_depend_on_what_a_kernel_makes_of_them(
    torch: ModuleType, monkeypatch: pytest.MonkeyPatch, bad: float
) -> None:
    """Stand in for a kernel that spoils rows without keys, in values and gradients."""
    real = torch.nn.functional.scaled_dot_product_attention

    def careless(query: Any, key: Any, value: Any, mask: Any, *args: Any, **options: Any) -> Any:
        allowed = mask if mask.dtype == torch.bool else mask > -math.inf
        spoilt = torch.where(allowed.any(-1, keepdim=True), 1.0, bad)
        return real(query, key, value, mask, *args, **options) * spoilt

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", careless)
    for mask in (keep(Q, K), bias(Q, K)):
        arrays = leaves(torch, inputs(groups=H))
        output = sdpa(*arrays, torch.asarray(mask))
        assert_matches(output, oracle.attention(*inputs(groups=H), mask).output)
        assert all(gradient.isfinite().all() for gradient in gradients(torch, output, arrays))


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("q", [5, 7, 11])
def test_torchs_function_agrees(
    torch: ModuleType, q: int, need_weights: bool, is_causal: bool
) -> None:
    arrays = leaves(torch, inputs(q, 7))
    mask = None if is_causal else torch.asarray(keep(q, 7)[:, :] | (np.arange(q) == q - 1)[:, None])
    expected = torch.nn.functional.scaled_dot_product_attention(
        *arrays, mask, is_causal=is_causal, scale=0.3, enable_gqa=True
    )
    actual = sdpa(
        *arrays, mask, 0.0, is_causal, scale=0.3, enable_gqa=True, need_weights=need_weights
    )
    output = actual[0] if need_weights else actual
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(gradients(torch, output, arrays), gradients(torch, expected, arrays))


def test_torchs_module_agrees_with_its_mask_turned_round(torch: ModuleType) -> None:
    """`nn.MultiheadAttention` says True = may not: `~mask` is the one conversion."""
    torch.manual_seed(0)
    e, heads = 12, 3
    module = torch.nn.MultiheadAttention(e, heads, batch_first=True, dtype=torch.float64)
    x, memory = torch.asarray(draw(B, Q, e)), torch.asarray(draw(B, K, e))
    mask = torch.asarray(keep(Q, K)) | (torch.arange(Q) == Q - 1)[:, None]
    expected, expected_weights = module(
        x, memory, memory, attn_mask=~mask, average_attn_weights=False
    )

    def split(x: Any, part: int) -> Any:
        rows = slice(part * e, (part + 1) * e)
        projected = x @ module.in_proj_weight[rows].T + module.in_proj_bias[rows]
        return projected.unflatten(-1, (heads, e // heads)).transpose(1, 2)

    output, weights = sdpa(split(x, 0), split(memory, 1), split(memory, 2), mask, need_weights=True)
    torch.testing.assert_close(weights, expected_weights)
    joined = output.transpose(1, 2).flatten(2)
    torch.testing.assert_close(joined @ module.out_proj.weight.T, expected - module.out_proj.bias)


def test_numpy_and_torch_agree(torch: ModuleType) -> None:
    options = {"attn_mask": bias(Q, K), "is_causal": True, "offset": 1, "softcap": 2.0}
    arrays = inputs()
    ours = sdpa(*arrays, **options, enable_gqa=True, need_weights=True, need_lse=True)
    theirs = sdpa(
        *map(torch.asarray, arrays),
        **moved(torch, options),
        enable_gqa=True,
        need_weights=True,
        need_lse=True,
    )
    for one, other in zip(ours, theirs, strict=True):
        assert_matches(other, one, tolerance=1e-12)


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("mask_dtype", ["bool", "float32", "same"])
def test_low_precision_is_at_most_twice_as_wrong_as_plain(
    torch: ModuleType, dtype: str, mask_dtype: str, need_weights: bool
) -> None:
    query, key, value = (array.detach() for array in leaves(torch, inputs(63, 61, H), dtype))
    allowed = torch.asarray(keep(63, 61))
    distance = (torch.arange(63)[:, None] - torch.arange(61)).abs()
    mask = allowed if mask_dtype == "bool" else torch.where(allowed, -distance / 3, -math.inf)
    if mask_dtype == "same":
        mask = mask.to(query.dtype)
    exact, _ = sdpa(query.double(), key.double(), value.double(), mask, need_weights=True)
    added = torch.where(mask, 0.0, -math.inf) if mask_dtype == "bool" else mask
    scores = query @ key.mT * D**-0.5 + added.to(query.dtype)
    plain = scores.softmax(-1).nan_to_num() @ value
    actual = sdpa(query, key, value, mask, need_weights=need_weights)
    output = actual[0] if need_weights else actual
    assert output.dtype == query.dtype
    assert (output - exact).abs().max() <= 2 * (plain - exact).abs().max()


def test_weights_are_returned_before_dropout(torch: ModuleType) -> None:
    query, key = torch.asarray(draw(B, H, Q, D)), torch.asarray(draw(B, H, K, D))
    everything = torch.eye(K, dtype=torch.float64).expand(B, H, K, K)  # the output is the weights
    torch.manual_seed(0)
    dropped, weights = sdpa(query, key, everything, dropout_p=0.5, need_weights=True)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, Q, dtype=torch.float64))
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], 2 * weights[kept])
    assert 0.35 < kept.double().mean() < 0.65
    fused = sdpa(query, key, everything, dropout_p=0.5)
    assert 0.35 < (fused != 0).double().mean() < 0.65


@pytest.mark.parametrize("option", OPTIONS)
def test_meta_tensors_have_shapes(torch: ModuleType, option: str) -> None:
    arrays = [torch.empty(array.shape, device="meta") for array in inputs()]
    options = {
        name: torch.asarray(value).to("meta") if isinstance(value, np.ndarray) else value
        for name, value in OPTIONS[option].items()
    }
    output = sdpa(*arrays, **options, enable_gqa=True)
    _, weights, lse = sdpa(*arrays, **options, enable_gqa=True, need_weights=True, need_lse=True)
    assert (output.shape, weights.shape, lse.shape) == ((B, H, Q, V), (B, H, Q, K), (B, H, Q))


@pytest.mark.filterwarnings("ignore")
def test_torch_compiles_it_in_one_piece_with_sizes_left_open(torch: ModuleType) -> None:
    arrays = [torch.asarray(array) for array in inputs()]
    options = moved(torch, OPTIONS["offsets"] | OPTIONS["sinks"] | OPTIONS["softcap"])
    for extras in ({"is_causal": True, "offset": 2}, options | {"need_lse": True}):

        def call(*arrays: Any, extras: dict[str, Any] = extras) -> Any:
            return sdpa(*arrays, **extras, enable_gqa=True)

        torch.compiler.reset()
        compiled = torch.compile(call, backend="eager", fullgraph=True, dynamic=True)
        torch.testing.assert_close(compiled(*arrays), call(*arrays))


def test_autocast(torch: ModuleType) -> None:
    arrays = [torch.asarray(array).float() for array in inputs()]
    expected = sdpa(*arrays, is_causal=True, enable_gqa=True)
    with torch.autocast("cpu", torch.bfloat16):
        for need_weights in (False, True):
            mixed = (arrays[0].bfloat16(), *arrays[1:])
            actual = sdpa(*mixed, is_causal=True, enable_gqa=True, need_weights=need_weights)
            output = actual[0] if need_weights else actual
            torch.testing.assert_close(output.float(), expected, rtol=0.03, atol=0.03)


# Wrong calls


query, key, value = inputs(groups=H)
few_keys, few_values = inputs()[1:]
WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "list": (lambda: sdpa([[1.0]], key, value), TypeError, "query: got list, wanted an array"),
    "rank": (
        lambda: sdpa(query[0, 0, 0], key, value),
        ValueError,
        "query: got shape (11,), wanted (..., h, q, d)",
    ),
    "integers": (
        lambda: sdpa(query.astype(np.int64), key, value),
        TypeError,
        "query: got dtype int64, wanted a real floating dtype",
    ),
    "width": (
        lambda: sdpa(query, key[..., :7], value),
        ValueError,
        "key: got d = 7 in shape (2, 6, 7, 7), wanted 11 as in query",
    ),
    "keys": (
        lambda: sdpa(query, key, value[..., :3, :]),
        ValueError,
        "value: got k = 3 in shape (2, 6, 3, 13), wanted 7 as in key",
    ),
    "heads": (
        lambda: sdpa(query, few_keys, few_values),
        ValueError,
        "key: got leading axes (2, 3), wanted ones that broadcast with (2, 6); "
        "fewer heads than query's need enable_gqa=True",
    ),
    "batch": (
        lambda: sdpa(query, np.ones((3, 6, 7, 11)), value),
        ValueError,
        "key: got leading axes (3, 6), wanted ones that broadcast with (2, 6)",
    ),
    "values": (
        lambda: sdpa(query, key, np.ones((3, 6, 7, 13))),
        ValueError,
        "value: got leading axes (3, 6), wanted ones that broadcast with (2, 6)",
    ),
    "groups": (
        lambda: sdpa(query, np.ones((2, 4, 7, 11)), np.ones((2, 4, 7, 13)), enable_gqa=True),
        ValueError,
        "key: got g = 4, wanted a divisor of h = 6 as in query",
    ),
    "grouped values": (
        lambda: sdpa(query, few_keys, value, enable_gqa=True),
        ValueError,
        "value: got g = 6, wanted 3 as in key",
    ),
    "grouped rank": (
        lambda: sdpa(query[0, 0], key[0, 0], value[0, 0], enable_gqa=True),
        ValueError,
        "query: got no axis h, wanted (..., h, q, d)",
    ),
    "short mask": (
        lambda: sdpa(query, key, value, causal_mask(5, 4)),
        ValueError,
        "attn_mask: got k = 4 in shape (5, 4), wanted 7 as in key: a mask covers every "
        "key, cached ones too",
    ),
    "one column": (
        lambda: sdpa(query, key, value, causal_mask(5, 1)),
        ValueError,
        "attn_mask: got k = 1 in shape (5, 1), wanted 7 as in key",
    ),
    "long mask": (
        lambda: sdpa(query, key, value, causal_mask(5, 9)),
        ValueError,
        "attn_mask: got k = 9 in shape (5, 9), wanted 7 as in key",
    ),
    "mask queries": (
        lambda: sdpa(query, key, value, causal_mask(4, 7)),
        ValueError,
        "attn_mask: got q = 4 in shape (4, 7), wanted 5 as in query",
    ),
    "mask heads": (
        lambda: sdpa(query, key, value, padding_mask(np.array([3, 5]), 7)),
        ValueError,
        "attn_mask: got leading axes (2,) in shape (2, 1, 7), wanted ones that broadcast to "
        "(2, 6); a mask for each sequence needs an axis for its heads, mask[:, None]",
    ),
    "mask dtype": (
        lambda: sdpa(query, key, value, np.ones((5, 7), dtype=np.int64)),
        TypeError,
        "attn_mask: got dtype int64, wanted bool (True = may attend) or a real floating dtype",
    ),
    "sinks": (
        lambda: sdpa(query, key, value, sinks=np.ones(5)),
        ValueError,
        "sinks: got shape (5,), wanted ones that broadcast to (2, 6)",
    ),
    "sink integers": (
        lambda: sdpa(query, key, value, sinks=np.ones(6, dtype=np.int64)),
        TypeError,
        "sinks: got dtype int64, wanted a real floating dtype",
    ),
    "dropout": (
        lambda: sdpa(query, key, value, dropout_p=0.1),
        ValueError,
        "dropout_p: got 0.1, wanted 0.0 without torch",
    ),
    "probability": (
        lambda: sdpa(query, key, value, dropout_p=1.5),
        ValueError,
        "dropout_p: got 1.5, wanted at least 0 and at most 1",
    ),
    "scale": (
        lambda: sdpa(query, key, value, scale="1"),
        TypeError,
        "scale: got '1', wanted a finite number, or None",
    ),
    "scale not finite": (
        lambda: sdpa(query, key, value, scale=math.nan),
        ValueError,
        "scale: got nan, wanted a finite number",
    ),
    "scale of a switch": (
        lambda: sdpa(query, key, value, scale=True),
        TypeError,
        "scale: got bool, wanted a finite number, or None",
    ),
    "probability type": (
        lambda: sdpa(query, key, value, dropout_p="1"),
        TypeError,
        "dropout_p: got '1', wanted a finite number",
    ),
    "switch": (
        lambda: sdpa(query, key, value, is_causal="False"),
        TypeError,
        "is_causal: got 'False', wanted True or False",
    ),
    "a mask as a switch": (
        lambda: sdpa(query, key, value, is_causal=np.ones((5, 7), dtype=bool)),
        TypeError,
        "is_causal: got ndarray, wanted True or False",
    ),
    "what to return": (
        lambda: sdpa(query, key, value, need_lse="yes"),
        TypeError,
        "need_lse: got 'yes', wanted True or False",
    ),
    "no key": (lambda: sdpa(query, None, value), TypeError, "key: got NoneType, wanted an array"),
    "no offset": (
        lambda: sdpa(query, key, value, is_causal=True, offset=None),
        TypeError,
        "offset: got NoneType, wanted a whole number",
    ),
    "no scores": (
        lambda: masked_softmax(None),  # type: ignore[type-var]
        TypeError,
        "scores: got NoneType, wanted an array",
    ),
    "softcap not finite": (
        lambda: sdpa(query, key, value, softcap=math.inf),
        ValueError,
        "softcap: got inf, wanted a finite number",
    ),
    "softcap": (
        lambda: sdpa(query, key, value, softcap=0.0),
        ValueError,
        "softcap: got 0.0, wanted a number above 0",
    ),
    "offset": (
        lambda: sdpa(query, key, value, is_causal=True, offset=1.5),
        TypeError,
        "offset: got float, wanted a whole number",
    ),
    "offset dtype": (
        lambda: sdpa(query, key, value, is_causal=True, offset=np.ones(2)),
        TypeError,
        "offset: got dtype float64, wanted an integer dtype",
    ),
    "offset shape": (
        lambda: sdpa(query, key, value, is_causal=True, offset=np.ones(6, dtype=np.int64)),
        ValueError,
        "offset: got shape (6,), wanted the first of (2, 6)",
    ),
    "softmax mask": (
        lambda: masked_softmax(np.ones((5, 7)), np.ones((5, 3), dtype=bool)),
        ValueError,
        "mask: got k = 3 in shape (5, 3), wanted 7 as in scores",
    ),
    "softmax integers": (
        lambda: masked_softmax(np.ones((5, 7), dtype=np.int64)),
        TypeError,
        "scores: got dtype int64, wanted a real floating dtype",
    ),
    "softmax sinks": (
        lambda: masked_softmax(np.ones((3, 5, 7)), sinks=np.ones(2)),
        ValueError,
        "sinks: got shape (2,), wanted ones that broadcast to (3,)",
    ),
    "attend": (
        lambda: attend(np.ones((5, 7)), np.ones((3, 2))),
        ValueError,
        "value: got k = 3 in shape (3, 2), wanted 7 as in weights",
    ),
    "self-attention": (
        lambda: self_attention(np.ones((5, 4)), np.ones((3, 2)), np.ones((4, 2)), np.ones((4, 2))),
        ValueError,
        "query_weight: got e = 3 in shape (3, 2), wanted 4 as in x",
    ),
    "attend rank": (
        lambda: attend(np.ones(5), np.ones((5, 2))),
        ValueError,
        "weights: got shape (5,), wanted (..., q, k)",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_calls_say_what_is_wrong(case: str) -> None:
    wrong, error, message = WRONG[case]
    with pytest.raises(error, match="^" + re.escape(message)):
        wrong()


def test_mixed_libraries_and_devices_are_refused(torch: ModuleType) -> None:
    arrays = [torch.asarray(array) for array in (query, key, value)]
    message = r"^attn_mask: got an array of numpy, wanted one of torch like query$"
    with pytest.raises(TypeError, match=message):
        sdpa(*arrays, keep(Q, K))
    with pytest.raises(TypeError, match=r"^offset: got an array of numpy, wanted one of torch"):
        sdpa(*arrays, is_causal=True, offset=np.array([1, 2]))
    with pytest.raises(ValueError, match=r"^value: got device meta, wanted cpu, where query is$"):
        sdpa(*arrays[:2], arrays[2].to("meta"))


def test_dropout_needs_torch(xp: Any) -> None:
    arrays = [xp.asarray(array) for array in (query, key, value)]
    if "torch" in xp.__name__:
        sdpa(*arrays, dropout_p=0.1)
        return
    with pytest.raises(ValueError, match=r"^dropout_p: got 0\.1, wanted 0\.0 without torch$"):
        sdpa(*arrays, dropout_p=0.1)


# One layer, one head


def one_head(*batch: int) -> tuple[Any, Any, Any, Any]:
    """Return words, and the matrices of their queries, keys and values."""
    return draw(*batch, Q, 4), draw(4, D), draw(4, D, seed=1), draw(4, V, seed=2)


def test_self_attention_is_a_loop_over_words(xp: Any) -> None:
    x, query_weight, key_weight, value_weight = one_head(B)
    mask = keep(Q, Q)
    output, weights = self_attention(
        *(xp.asarray(array) for array in (x, query_weight, key_weight, value_weight, mask))
    )
    for b, i in itertools.product(range(B), range(Q)):
        asked = query_weight.T @ x[b, i]
        scores = [asked @ (key_weight.T @ x[b, j]) / math.sqrt(D) for j in range(Q)]
        powers = [math.exp(score) * mask[i, j] for j, score in enumerate(scores)]
        shares = [power / (sum(powers) or 1) for power in powers]
        told = sum(share * (value_weight.T @ x[b, j]) for j, share in enumerate(shares))
        np.testing.assert_allclose(as_numpy(weights)[b, i], shares, atol=1e-12)
        np.testing.assert_allclose(as_numpy(output)[b, i], told, atol=1e-12)


def test_self_attention_is_torchs_module_with_one_head(torch: ModuleType) -> None:
    x, query_weight, key_weight, value_weight = (
        torch.tensor(draw(*s)) for s in ((B, Q, D),) + 3 * ((D, D),)
    )
    module = torch.nn.MultiheadAttention(D, 1, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        joined = torch.cat([query_weight.T, key_weight.T, value_weight.T])
        module.in_proj_weight.copy_(joined)
        module.out_proj.weight.copy_(torch.eye(D))
    wanted = module(x, x, x)
    found = self_attention(x, query_weight, key_weight, value_weight)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other)


def test_self_attention_reorders_its_outputs_with_its_words() -> None:
    x, query_weight, key_weight, value_weight = one_head()
    matrices = query_weight, key_weight, value_weight
    order = np.random.default_rng(5).permutation(Q)
    output, weights = self_attention(x, *matrices)
    moved_output, moved_weights = self_attention(x[order], *matrices)
    np.testing.assert_allclose(moved_output, output[order], atol=1e-12)
    np.testing.assert_allclose(moved_weights, weights[np.ix_(order, order)], atol=1e-12)
    causal = causal_mask(Q)
    masked_output, _ = self_attention(x, *matrices, causal)
    moved_output, _ = self_attention(x[order], *matrices, causal)
    assert abs(moved_output - masked_output[order]).max() > 1e-3


if TYPE_CHECKING:
    Grid = np.ndarray[tuple[int, int], np.dtype[np.float64]]

    def overloads_tell_type_checkers_what_comes_back(x: Tensor, y: Grid) -> None:
        attention = scaled_dot_product_attention
        assert_type(masked_softmax(x, x), Tensor)
        assert_type(attend(y, y), Grid)
        assert_type(attention(x, x, x, x, offset=x), Tensor)
        assert_type(attention(y, y, y, y > 0, scale=1, offset=2), Grid)
        assert_type(attention(x, x, x, need_weights=True), tuple[Tensor, Tensor])
        assert_type(attention(y, y, y, sinks=y, need_lse=True), tuple[Grid, Grid])
        everything = attention(x, x, x, need_weights=True, need_lse=True)
        assert_type(everything, tuple[Tensor, Tensor, Tensor])
