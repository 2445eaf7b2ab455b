"""Tiled attention against the loops and the definition, on every array library."""

import contextlib
import math
import tracemalloc
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from companion.attention import attention_with_lse, scaled_dot_product_attention
from companion.dispatch import definitions
from companion.masks import sliding_window_mask
from companion.tiled import (
    merge_attention,
    online_softmax,
    tiled_attention,
    tiled_attention_with_lse,
    window_attention,
)
from tests import oracle
from tests.oracle import as_numpy, assert_matches, draw
from tests.test_attention import MIXTURES, OPTIONS, B, D, H, K, Q, V, inputs, keep, moved

sdpa: Any = scaled_dot_product_attention  # untyped: the tests unpack arguments into them
tiled: Any = tiled_attention
tiled_with_lse: Any = tiled_attention_with_lse
with_lse: Any = attention_with_lse

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

compat: Any = pytest.importorskip("array_api_compat.torch")
only = pytest.mark.parametrize("xp", [np, compat], ids=["numpy", "torch"])
"""The loop, and the operator."""


def together(names: list[str]) -> dict[str, Any]:
    """Return the options of some names as those of one call."""
    return {key: option for name in names for key, option in OPTIONS[name].items()}


def check(xp: Any, options: dict[str, Any], q: int = Q, k: int = K, **tiles: Any) -> None:
    """Hold output and log-sum-exp against the loops."""
    arrays = inputs(q, k)
    expected = oracle.attention(*arrays, **options)
    ours = [xp.asarray(array) for array in arrays]
    output, lse = tiled_with_lse(*ours, **moved(xp, options), enable_gqa=True, **tiles)
    assert_matches(output, expected.output)
    assert_matches(lse, expected.lse)


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_for_arrays_and_tensors(torch: ModuleType, option: str) -> None:
    check(np, OPTIONS[option], block_size=1)
    check(np, OPTIONS[option], block_size=(3, 2))
    check(torch, OPTIONS[option])


def test_options_for_arrays_of_any_library(libraries: list[Any]) -> None:
    for xp in libraries:
        for names in (["bias", "offset", "sinks"], ["mask", "offsets", "softcap"]):
            check(xp, together(names), block_size=(2, 3))


@pytest.mark.slow
@only
@pytest.mark.parametrize("mixture", MIXTURES, ids=" and ".join)
def test_options_together(xp: Any, mixture: list[str]) -> None:
    check(xp, together(mixture), block_size=3)


@only
@pytest.mark.parametrize("is_causal", [False, True])
def test_lengths(xp: Any, is_causal: bool) -> None:
    for q, k in [(1, 1), (1, 7), (5, 7), (7, 5), (63, 5), (5, 63), (0, 3), (3, 0)]:
        check(xp, {"is_causal": is_causal}, q, k, block_size=4)
        check(xp, {"is_causal": is_causal, "sinks": draw(H)}, q, k)


def windowed(q: int, k: int, left: int | None, right: int | None, offset: int = 0) -> Any:
    far = q + k + abs(offset)
    left, right = (far if side is None else side for side in (left, right))
    return sliding_window_mask(q, k, left=left, right=right, offset=offset)


@only
@pytest.mark.parametrize("offset", [0, 3, -2])
def test_windows(xp: Any, offset: int) -> None:
    arrays = inputs(11, 13)
    for left, right in [(0, 0), (2, 1), (0, 3), (3, None), (None, 2), (9, 9)]:
        expected = oracle.attention(*arrays, windowed(11, 13, left, right, offset))
        output, lse = tiled_with_lse(
            *map(xp.asarray, arrays), enable_gqa=True, offset=offset, left=left, right=right,
            block_size=(5, 3),
        )  # fmt: skip
        assert_matches(output, expected.output)
        assert_matches(lse, expected.lse)


def test_a_window_composes_with_mask_and_causality(libraries: list[Any]) -> None:
    for xp in libraries:
        arrays, mask = inputs(), keep(B, H, Q, K)
        expected = oracle.attention(*arrays, mask & windowed(Q, K, 2, 3), is_causal=True)
        ours = map(xp.asarray, arrays)
        output = tiled(
            *ours, xp.asarray(mask), True, enable_gqa=True, left=2, right=3, block_size=4
        )
        assert_matches(output, expected.output)


@only
def test_windows_of_a_long_text(xp: Any) -> None:
    """Long enough for many blocks, those at the ends and those that look alike."""
    arrays = draw(2, 300, 5), draw(1, 300, 5, seed=1), draw(1, 300, 3, seed=2)
    for left, right in [(0, 0), (20, 5), (0, 70), (300, 300)]:
        expected = sdpa(*arrays, windowed(300, 300, left, right))
        found = window_attention(*map(xp.asarray, arrays), left=left, right=right)
        assert_matches(found, expected)


@only
def test_leading_axes_are_free_and_broadcast(xp: Any) -> None:
    for first, second, third in [((),) * 3, ((3,),) * 3, ((2, 3, 5),) * 3, ((B, 1), (3,), (B, 3))]:
        arrays = draw(*first, Q, D), draw(*second, K, D), draw(*third, K, V)
        actual = tiled(*map(xp.asarray, arrays), is_causal=True, block_size=2)
        assert_matches(actual, sdpa(*arrays, is_causal=True))


@only
def test_scores_of_every_size(xp: Any) -> None:
    """Powers of large ones overflow; so do the squares of the largest."""
    query, key, value = inputs()
    for factor in (1e4, 1e160):
        arrays = factor * query, key, value
        expected = oracle.attention(*arrays, is_causal=True)
        ours = map(xp.asarray, arrays)
        output, lse = tiled_with_lse(*ours, is_causal=True, enable_gqa=True, block_size=3)
        assert_matches(output, expected.output, tolerance=1e-9)
        assert_matches(lse / factor, expected.lse / factor, tolerance=1e-9)


GRADIENTS: dict[str, dict[str, Any]] = {
    **OPTIONS, "plain": {}, "causal and softcap": {"is_causal": True, "softcap": 1.5}
}  # fmt: skip


@pytest.mark.parametrize("option", GRADIENTS)
def test_gradients(torch: ModuleType, option: str) -> None:
    """Through output and log-sum-exp, of torch's operator and of the loop alone."""
    options, grads = moved(torch, GRADIENTS[option]) | {"enable_gqa": True}, []
    tiles: dict[str, Any] = {"block_size": (2, 3)}
    forms: list[tuple[Any, dict[str, Any], Any]] = [
        (with_lse, {}, contextlib.nullcontext()),
        (tiled_with_lse, tiles, contextlib.nullcontext()),
        (tiled_with_lse, tiles, definitions()),
    ]
    for attend, more, context in forms:
        leaves = [torch.tensor(array, requires_grad=True) for array in inputs()]
        if "sinks" in options:
            options["sinks"] = torch.tensor(draw(H), requires_grad=True)
            leaves.append(options["sinks"])
        with context:
            output, lse = attend(*leaves[:3], **options, **more)
        wanted = torch.tensor(draw(*output.shape, seed=7)), torch.tensor(draw(*lse.shape, seed=8))
        alive = lse > -math.inf
        loss = (output * wanted[0]).sum() + (lse[alive] * wanted[1][alive]).sum()
        grads.append(torch.autograd.grad(loss, leaves))
    for actual in grads[1:]:
        torch.testing.assert_close(actual, grads[0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("left", "right"), [(3, 0), (70, 9), (None, 2)])
def test_gradients_of_windows(torch: ModuleType, left: int | None, right: int) -> None:
    arrays = draw(2, 150, 5), draw(2, 150, 5, seed=1), draw(2, 150, 3, seed=2)
    mask = torch.tensor(windowed(150, 150, left, right))
    grads = []
    for options in ({"attn_mask": mask}, {"left": left, "right": right}):
        leaves = [torch.tensor(array, requires_grad=True) for array in arrays]
        output = (tiled if "left" in options else sdpa)(*leaves, **options)
        grads.append(torch.autograd.grad(output.square().sum(), leaves))
    for actual, expected in zip(grads[1], grads[0], strict=True):
        assert_matches(actual, as_numpy(expected), tolerance=1e-10)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [{"is_causal": True}, {"left": 3}])
def test_torch_compiles_it_in_one_piece(torch: ModuleType, options: dict[str, Any]) -> None:
    x = torch.asarray(draw(2, 40, 4))

    def call(x: Any) -> Any:
        return tiled(x, x, x, **options)

    torch.compiler.reset()
    compiled = torch.compile(call, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), call(x))


def test_online_softmax_is_the_softmax_of_all_blocks(libraries: list[Any]) -> None:
    for xp in libraries:
        scores = 3 * draw(2, 5, 11)
        scores[0, 1], scores[1, 3, :4] = -np.inf, -np.inf
        blocks = [xp.asarray(scores[..., part]) for part in (slice(4), slice(4, 4), slice(4, 11))]
        maximum, total = online_softmax(blocks)
        highest = scores.max(-1)
        assert_matches(maximum, highest)
        assert_matches(
            total, np.exp(scores - np.where(highest > -np.inf, highest, 0)[..., None]).sum(-1)
        )
        assert as_numpy(total)[0, 1] == 0


def test_merged_halves_are_the_whole(libraries: list[Any]) -> None:
    for xp in libraries:
        query, key, value = (xp.asarray(array) for array in inputs())
        whole = oracle.attention(*inputs(), is_causal=True)
        for cut in (1, 6):
            halves = []
            for part, offset in ((slice(cut), 0), (slice(cut, K), -cut)):
                halves += tiled_with_lse(
                    query, key[..., part, :], value[..., part, :], is_causal=True, offset=offset,
                    enable_gqa=True,
                )  # fmt: skip
            output, lse = merge_attention(*halves)
            assert_matches(output, whole.output)
            assert_matches(lse, whole.lse)


def test_a_half_without_keys_counts_for_nothing(libraries: list[Any]) -> None:
    for xp in libraries:
        output, lse = xp.asarray(draw(3, V)), xp.asarray(draw(3))
        nothing = xp.asarray(np.full((3, V), np.nan)), xp.asarray(np.full(3, -np.inf))
        merged, merged_lse = merge_attention(output, lse, *nothing)
        assert_matches(merged, as_numpy(output))
        assert_matches(merged_lse, as_numpy(lse))
        merged, merged_lse = merge_attention(*nothing, *nothing)
        assert_matches(merged, np.zeros((3, V)))
        assert_matches(merged_lse, np.full(3, -np.inf))


def test_numpy_never_makes_the_matrix() -> None:
    n = 3000
    arrays = [draw(n, 16, seed=seed).astype(np.float32) for seed in range(3)]
    tiled(*arrays, is_causal=True)
    tracemalloc.start()
    tiled(*arrays, is_causal=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * n * n / 4


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_errs_at_most_twice_as_much(torch: ModuleType, dtype: str) -> None:
    low = [torch.tensor(draw(2, 300, 32, seed=i)).to(getattr(torch, dtype)) for i in range(3)]
    for is_causal in (False, True):
        exact = sdpa(*(array.double() for array in low), is_causal=is_causal)
        future = torch.full((300, 300), -math.inf).triu(1) if is_causal else torch.zeros(300, 300)
        scores = low[0] @ low[1].mT / math.sqrt(32) + future.to(low[0].dtype)
        plain = (scores.softmax(-1) @ low[2]).double() - exact
        ours = tiled(*low, is_causal=is_causal)
        assert ours.dtype == low[0].dtype
        assert (ours.double() - exact).abs().max() <= 2 * plain.abs().max()
