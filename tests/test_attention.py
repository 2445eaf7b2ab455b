"""Attention against loops, torch's kernel and torch's module, on every array library."""

from __future__ import annotations

import itertools
import math
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.attention import (
    attend,
    attention_with_lse,
    attention_with_weights,
    masked_softmax,
    scaled_dot_product_attention,
    self_attention,
)
from companion.masks import padding_mask
from tests import oracle
from tests.oracle import as_numpy, assert_matches, draw

if TYPE_CHECKING:
    from typing import assert_type

    from torch import Tensor

# Untyped: the tests unpack arguments into them.
sdpa: Any = scaled_dot_product_attention
with_weights: Any = attention_with_weights
with_lse: Any = attention_with_lse
FORMS = {"output": sdpa, "weights": with_weights, "lse": with_lse}

B, H, G, Q, K, D, V = 2, 6, 3, 5, 7, 11, 13

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


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
# Every two options that go together stand together in some row.
MASKS = [None, "mask", "head mask", "padding", "bias"]
CAUSALITIES = [None, "causal", "offset", "behind", "offsets"]
MIXTURES = [
    [name for name in (mask, causality, scale, softcap, sinks) if name]
    for (i, mask), (j, causality) in itertools.product(enumerate(MASKS), enumerate(CAUSALITIES))
    for scale in ["scale" if (i + j) % 2 else None]
    for softcap in ["softcap" if (i + j // 2) % 2 else None]
    for sinks in ["sinks" if (i // 2 + j) % 2 else None]
    if mask or causality
]


def output_of(attention: Any, *arrays: Any, **options: Any) -> Any:
    """Return the output alone, whatever else comes with it."""
    found = attention(*arrays, **options)
    return found if attention is sdpa else found[0]


def check(
    xp: Any, options: dict[str, Any], q: int = Q, k: int = K, tolerance: float = 1e-12
) -> None:
    """Hold the definition, in its three forms, against the loops."""
    arrays = inputs(q, k)
    expected = oracle.attention(*arrays, **options)
    ours = [xp.asarray(array) for array in arrays]
    options = moved(xp, options) | {"enable_gqa": True}
    assert_matches(sdpa(*ours, **options), expected.output, tolerance)
    output, weights = with_weights(*ours, **options)
    assert_matches(output, expected.output, tolerance)
    assert_matches(weights, expected.weights, tolerance)
    output, lse = with_lse(*ours, **options)
    assert_matches(output, expected.output, tolerance)
    assert_matches(lse, expected.lse, tolerance)


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_alone(libraries: list[Any], option: str) -> None:
    for xp in libraries:
        check(xp, OPTIONS[option])


def test_options_together() -> None:
    for mixture in MIXTURES:
        options: dict[str, Any] = {}
        for name in mixture:
            options |= OPTIONS[name]
        check(np, options)


@st.composite
def options(draw_from: st.DrawFn, b: int, h: int, q: int, k: int) -> dict[str, Any]:
    """Any options that go with a call of these sizes; masks may broadcast."""
    some: dict[str, Any] = draw_from(st.fixed_dictionaries(
        {},
        optional={
            "scale": st.floats(-2, 2), "softcap": st.floats(0.5, 3), "is_causal": st.booleans(),
            "offset": st.integers(-3, 6) | st.lists(st.integers(-3, 6), min_size=b, max_size=b),
        },
    ))  # fmt: skip
    if isinstance(some.get("offset"), list):
        some["offset"] = np.asarray(some["offset"])
    seed = draw_from(st.integers(0, 99))
    if draw_from(st.booleans()):
        lead = [draw_from(st.sampled_from([1, axis])) for axis in (b, h, q)]
        shape = (*lead[draw_from(st.integers(0, 2)) :], k)
        mask = np.random.default_rng(seed).random(shape) < 0.7
        as_bias = draw_from(st.booleans())
        some["attn_mask"] = np.where(mask, draw(*shape, seed=seed), -np.inf) if as_bias else mask
    if draw_from(st.booleans()):
        some["sinks"] = draw(h, seed=seed)
    return some


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_call_is_the_loops(data: st.DataObject) -> None:
    sizes = st.integers(1, 3)
    b, g, r, d, v = (data.draw(sizes, name) for name in "bgrdv")
    q, k = (data.draw(st.integers(0, 6), name) for name in "qk")
    arrays = draw(b, g * r, q, d), draw(b, g, k, d, seed=1), draw(b, g, k, v, seed=2)
    told = data.draw(options(b, g * r, q, k))
    expected = oracle.attention(*arrays, **told)
    output, weights = with_weights(*arrays, **told, enable_gqa=True)
    assert_matches(output, expected.output)
    assert_matches(weights, expected.weights)
    assert_matches(with_lse(*arrays, **told, enable_gqa=True)[1], expected.lse)
    torch = pytest.importorskip("torch")
    tensors = [torch.asarray(array) for array in arrays]
    assert_matches(sdpa(*tensors, **moved(torch, told), enable_gqa=True), expected.output)


def test_lengths(torch: ModuleType) -> None:
    for q, k in [(1, 1), (1, 7), (5, 7), (7, 5), (7, 7), (63, 5), (5, 63), (0, 3), (3, 0)]:
        check(np, {"is_causal": True, "sinks": draw(H)}, q, k)
        check(torch, {"is_causal": True}, q, k)
        check(torch, {}, q, k)


def test_leading_axes_are_free() -> None:
    for lead in ((), (3,), (2, 3, 5)):
        query, key, value = draw(*lead, Q, D), draw(*lead, K, D), draw(*lead, K, V)
        actual = sdpa(query, key, value, is_causal=True)
        assert tuple(actual.shape) == (*lead, Q, V)
        for place in np.ndindex(*lead):
            one = (array[place][None, None] for array in (query, key, value))
            expected = oracle.attention(*one, is_causal=True).output[0, 0]
            assert_matches(actual[(*place, ...)], expected)


def test_leading_axes_broadcast(torch: ModuleType) -> None:
    query, key, value = draw(B, H, Q, D), draw(B, 1, K, D), draw(1, 1, K, V)
    expected = oracle.attention(query, key, np.repeat(value, B, 0), keep(Q, K)).output
    assert_matches(sdpa(*map(torch.asarray, (query, key, value, keep(Q, K)))), expected)


def test_offsets_are_one_a_sequence_even_where_there_are_as_many_heads() -> None:
    arrays = draw(B, B, Q, D), draw(B, B, K, D), draw(B, B, K, V)
    offset = np.array([0, 3])
    expected = oracle.attention(*arrays, is_causal=True, offset=offset).output
    assert_matches(sdpa(*arrays, is_causal=True, offset=offset), expected)


# Numbers at the edge


def test_huge_scores(libraries: list[Any]) -> None:
    for xp in libraries:
        mask = np.array([[True] * 3, [True, False, True], [False] * 3])
        for size in (1e4, 1e30, -1e4):
            logits = np.array([[size, 0.0, -size], [size, size, size], [0.0, size, 1.0]])
            weights = as_numpy(masked_softmax(xp.asarray(logits), xp.asarray(mask)))
            top = [1.0, 0, 0] if size > 0 else [0, 0, 1.0]
            np.testing.assert_array_equal(weights, [top, [0.5, 0, 0.5], [0, 0, 0]])


def test_scores_of_minus_infinity_are_masked_keys(libraries: list[Any]) -> None:
    for xp in libraries:
        logits = np.array([[-np.inf, 0.0], [-np.inf, -np.inf]])
        expected = np.array([[0.0, 1.0], [0.0, 0.0]])
        assert_matches(masked_softmax(xp.asarray(logits)), expected)
        assert_matches(masked_softmax(xp.zeros((2, 2)), xp.asarray(logits)), expected)
        allowed = xp.asarray([[True, True], [True, False]])
        assert_matches(masked_softmax(xp.asarray(logits), allowed), expected)


def test_sinks_at_the_edge(libraries: list[Any]) -> None:
    for xp in libraries:
        logits = xp.zeros((2, 1, 3), dtype=xp.float64)
        none = masked_softmax(logits, sinks=xp.asarray([-math.inf, 1e4], dtype=xp.float64))
        assert_matches(none, np.array([[[1 / 3] * 3], [[0.0] * 3]]))


def test_numpys_half_precision_accumulates_in_float32() -> None:
    arrays = [array.astype(np.float16) for array in inputs(K, 63, H)]
    exact = oracle.attention(*(array.astype(np.float64) for array in arrays)).output
    output, weights = with_weights(*arrays)
    lse = with_lse(*arrays)[1]
    assert (output.dtype, weights.dtype, lse.dtype) == (np.float16, np.float16, np.float32)
    # Only the last rounding is left, half a unit in the last place.
    assert np.abs(output - exact).max() <= 2.0**-11 * np.abs(exact).max()


def test_the_dtype_stays(libraries: list[Any]) -> None:
    for xp in libraries:
        arrays = [xp.asarray(array, dtype=xp.float32) for array in inputs()]
        mask = xp.asarray(bias(Q, K))  # float64
        for form in (with_weights, with_lse):
            assert all(x.dtype == xp.float32 for x in form(*arrays, mask, enable_gqa=True))
        assert masked_softmax(xp.zeros((2, 2), dtype=xp.float32)).dtype == xp.float32


def test_dtypes_promote(libraries: list[Any]) -> None:
    for xp in libraries:
        query, key, value = inputs(groups=H)
        expected = oracle.attention(query.astype(np.float32), key, value).output
        narrow = xp.asarray(query, dtype=xp.float32)
        actual = sdpa(narrow, xp.asarray(key), xp.asarray(value))
        assert actual.dtype == xp.float64
        assert_matches(actual, expected)


# Torch: gradients, the kernel, and torch's own implementations as oracles


def leaves(torch: ModuleType, arrays: Any, dtype: str = "float64") -> list[Any]:
    dtype = getattr(torch, dtype)
    return [torch.asarray(array).to(dtype).requires_grad_() for array in arrays]


def gradients(torch: ModuleType, output: Any, arrays: list[Any]) -> list[Any]:
    torch.manual_seed(0)
    found: list[Any] = list(torch.autograd.grad(output, arrays, torch.randn_like(output)))
    return found


@pytest.mark.parametrize("option", ["bias", "offsets", "softcap", "sinks"])
def test_gradients_of_the_definition(torch: ModuleType, option: str | None) -> None:
    options = moved(torch, OPTIONS[option]) if option else {}
    arrays = leaves(torch, [array[..., :2] for array in inputs()])

    def everything(query: Any, key: Any, value: Any) -> Any:
        output, weights = with_weights(query, key, value, **options, enable_gqa=True)
        lse = with_lse(query, key, value, **options, enable_gqa=True)[1]
        return output, weights, lse[lse.isfinite()]

    assert torch.autograd.gradcheck(everything, arrays, fast_mode=True)


def test_gradients_reach_sinks_and_float_masks(torch: ModuleType) -> None:
    query, key, value, sinks, mask = leaves(torch, [*inputs(3, 5, H), draw(H), draw(3, 5)])
    query, key, value = (array.detach() for array in (query, key, value))

    def attended(sinks: Any, mask: Any) -> Any:
        return with_lse(query, key, value, mask, sinks=sinks)

    assert torch.autograd.gradcheck(attended, (sinks, mask))
    fused = sdpa(query, key, value, mask)
    defined, _ = with_weights(query, key, value, mask)
    torch.testing.assert_close(
        gradients(torch, fused, [mask]), gradients(torch, defined, [mask]), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("option", ["mask", "padding", "bias", "causal", "behind", "offsets", None])
def test_the_kernel_computes_the_definition(torch: ModuleType, option: str | None) -> None:
    dtype, width = ("float32", D) if option in ("mask", "bias") else ("float64", V)
    options = moved(torch, OPTIONS[option]) if option else {}
    if option == "bias":
        options["attn_mask"] = options["attn_mask"].to(getattr(torch, dtype))
    arrays = leaves(torch, [*inputs()[:2], draw(B, G, K, width)], dtype)
    with torch.profiler.profile() as profile:
        fused = sdpa(*arrays, **options, enable_gqa=True)
    ran = {event.key for event in profile.key_averages()}
    assert "aten::scaled_dot_product_attention" in ran
    defined, _ = with_weights(*arrays, **options, enable_gqa=True)
    torch.testing.assert_close(fused, defined)
    torch.testing.assert_close(gradients(torch, fused, arrays), gradients(torch, defined, arrays))


def test_a_negative_scale_leaves_the_future_masked(torch: ModuleType) -> None:
    """Torch's kernel for the CPU scales after the mask: -inf times -0.3 would be inf."""
    arrays = [array.astype(np.float32) for array in inputs(Q, K, H)]
    expected = oracle.attention(*arrays, is_causal=True, scale=-0.3).output
    actual = sdpa(*map(torch.asarray, arrays), is_causal=True, scale=-0.3)
    assert_matches(actual, expected, 1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_dead_rows_have_finite_gradients(torch: ModuleType, form: str) -> None:
    for mask in (keep(Q, K), bias(Q, K).astype("float32")):
        arrays = leaves(torch, [1e4 * array for array in inputs(groups=H)], "float32")
        output = output_of(FORMS[form], *arrays, torch.asarray(mask))
        assert (output[..., -1, :] == 0).all()
        assert (output[..., 0, :] != 0).any()
        assert output.isfinite().all()
        assert all(gradient.isfinite().all() for gradient in gradients(torch, output, arrays))


def test_rows_of_minus_infinity_have_finite_gradients(torch: ModuleType) -> None:
    logits = torch.full((2, 3), -math.inf, requires_grad=True)
    weights = masked_softmax(logits + 1)
    assert (weights == 0).all()
    assert gradients(torch, weights, [logits])[0].isfinite().all()


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


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("mask_dtype", ["bool", "float32", "same"])
def test_low_precision_is_at_most_twice_as_wrong_as_plain(
    torch: ModuleType, dtype: str, mask_dtype: str
) -> None:
    query, key, value = (array.detach() for array in leaves(torch, inputs(63, 61, H), dtype))
    allowed = torch.asarray(keep(63, 61))
    distance = (torch.arange(63)[:, None] - torch.arange(61)).abs()
    mask = allowed if mask_dtype == "bool" else torch.where(allowed, -distance / 3, -math.inf)
    if mask_dtype == "same":
        mask = mask.to(query.dtype)
    exact, _ = with_weights(query.double(), key.double(), value.double(), mask)
    added = torch.where(mask, 0.0, -math.inf) if mask_dtype == "bool" else mask
    scores = query @ key.mT * D**-0.5 + added.to(query.dtype)
    plain = scores.softmax(-1).nan_to_num() @ value
    for form in (sdpa, with_weights):
        output = output_of(form, query, key, value, mask)
        assert output.dtype == query.dtype
        assert (output - exact).abs().max() <= 2 * (plain - exact).abs().max()


def test_weights_are_returned_before_dropout(torch: ModuleType) -> None:
    query, key = torch.asarray(draw(B, H, Q, D)), torch.asarray(draw(B, H, K, D))
    everything = torch.eye(K, dtype=torch.float64).expand(B, H, K, K)  # the output is the weights
    torch.manual_seed(0)
    dropped, weights = with_weights(query, key, everything, dropout_p=0.5)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, Q, dtype=torch.float64))
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], 2 * weights[kept])
    assert 0.35 < kept.double().mean() < 0.65
    fused = sdpa(query, key, everything, dropout_p=0.5)
    assert 0.35 < (fused != 0).double().mean() < 0.65


@pytest.mark.parametrize("option", ["mask", "offsets", "sinks"])
def test_meta_tensors_have_shapes(torch: ModuleType, option: str) -> None:
    arrays = [torch.empty(array.shape, device="meta") for array in inputs()]
    options = {
        name: torch.asarray(value).to("meta") if isinstance(value, np.ndarray) else value
        for name, value in OPTIONS[option].items()
    }
    output = sdpa(*arrays, **options, enable_gqa=True)
    _, weights = with_weights(*arrays, **options, enable_gqa=True)
    _, lse = with_lse(*arrays, **options, enable_gqa=True)
    assert (output.shape, weights.shape, lse.shape) == ((B, H, Q, V), (B, H, Q, K), (B, H, Q))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_torch_compiles_it_in_one_piece_with_sizes_left_open(torch: ModuleType) -> None:
    arrays = [torch.asarray(array) for array in inputs()]
    options = moved(torch, OPTIONS["offsets"] | OPTIONS["sinks"] | OPTIONS["softcap"])
    for form, extras in ((sdpa, {"is_causal": True, "offset": 2}), (with_lse, options)):

        def call(*arrays: Any, form: Any = form, extras: dict[str, Any] = extras) -> Any:
            return form(*arrays, **extras, enable_gqa=True)

        torch.compiler.reset()
        compiled = torch.compile(call, backend="eager", fullgraph=True, dynamic=True)
        torch.testing.assert_close(compiled(*arrays), call(*arrays))


def test_autocast(torch: ModuleType) -> None:
    arrays = [torch.asarray(array).float() for array in inputs()]
    expected = sdpa(*arrays, is_causal=True, enable_gqa=True)
    with torch.autocast("cpu", torch.bfloat16):
        for form in FORMS.values():
            mixed = (arrays[0].bfloat16(), *arrays[1:])
            output = output_of(form, *mixed, is_causal=True, enable_gqa=True)
            torch.testing.assert_close(output.float(), expected, rtol=0.03, atol=0.03)


def test_dropout_needs_torch(libraries: list[Any]) -> None:
    for xp in libraries:
        arrays = [xp.asarray(array) for array in inputs(groups=H)]
        if "torch" in xp.__name__:
            sdpa(*arrays, dropout_p=0.1)
            continue
        with pytest.raises(ValueError, match=r"^dropout_p: got 0\.1, wanted 0\.0 without torch$"):
            sdpa(*arrays, dropout_p=0.1)


# One layer, one head


def one_head(*batch: int) -> tuple[Any, Any, Any, Any]:
    """Return words, and the matrices of their queries, keys and values."""
    return draw(*batch, Q, 4), draw(4, D), draw(4, D, seed=1), draw(4, V, seed=2)


def test_self_attention_is_a_loop_over_words(libraries: list[Any]) -> None:
    for xp in libraries:
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


if TYPE_CHECKING:
    Grid = np.ndarray[tuple[int, int], np.dtype[np.float64]]

    def signatures_tell_type_checkers_what_comes_back(x: Tensor, y: Grid) -> None:
        attention = scaled_dot_product_attention
        assert_type(masked_softmax(x, x), Tensor)
        assert_type(attend(y, y), Grid)
        assert_type(attention(x, x, x, x, offset=x), Tensor)
        assert_type(attention(y, y, y, y > 0, scale=1, offset=2), Grid)
        assert_type(attention_with_weights(x, x, x), tuple[Tensor, Tensor])
        assert_type(attention_with_lse(y, y, y, sinks=y), tuple[Grid, Grid])
