"""Kernels against the definitions that they compute, on thousands of random calls."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from companion.attention import scaled_dot_product_attention
from companion.dispatch import definitions
from companion.tiled import tiled_attention
from tests.kernels.calls import draw_call

torch: Any = pytest.importorskip("torch")
cpu: Any = pytest.importorskip("companion.kernels.cpu")
fused: Any = pytest.importorskip("companion.kernels.fused")

CALLS = 250  # for each kernel and dtype
TOLERANCES = {"float64": 1e-10, "float32": 1e-4, "bfloat16": 0.06, "float16": 8e-3}


def tensors(options: dict[str, Any], dtype: Any) -> dict[str, Any]:
    """Bring arrays among the options to torch, floating ones in a dtype."""
    return {
        name: torch.tensor(x, dtype=dtype if x.dtype == float else None)
        if isinstance(x, np.ndarray)
        else x
        for name, x in options.items()
    }


def draw_tiles(generator: np.random.Generator, options: dict[str, Any]) -> dict[str, Any]:
    """Add what tiled attention alone takes."""
    limits = {name: int(generator.integers(0, 4)) for name in ("left", "right")}
    sizes = tuple(map(int, generator.integers(1, 5, 2)))
    drawn = {**limits, "block_size": sizes[0] if generator.random() < 0.3 else sizes}
    return options | {name: x for name, x in drawn.items() if generator.random() < 0.5}


def results(attend: Callable[..., Any], arrays: list[Any], options: dict[str, Any]) -> list[Any]:
    """What comes out, and the gradients of a random loss; infinities do not count in it."""
    leaves = [array.clone().requires_grad_() for array in arrays]
    output = attend(*leaves, **options)
    outputs = output if isinstance(output, tuple) else (output,)
    loss = 0.0
    for x in outputs:
        upstream = torch.linspace(-1, 1, x.numel()).to(x).reshape(x.shape)
        loss = loss + (x.where(x > -math.inf, 0.0) * upstream).sum()
    grads = torch.autograd.grad(loss, leaves, allow_unused=True)
    filled = [torch.zeros_like(x) if g is None else g for x, g in zip(leaves, grads, strict=True)]
    return [x.detach() for x in (*outputs, *filled)]


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("attend", [scaled_dot_product_attention, tiled_attention])
def test_random_calls(attend: Any, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    is_tiled, taken = attend is tiled_attention, []

    def count(function: Any) -> Any:
        def counted(*args: Any, **kwargs: Any) -> Any:
            taken.append(1)
            return function(*args, **kwargs)

        return counted

    kernel = torch.nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(fused.F, "scaled_dot_product_attention", count(kernel))
    monkeypatch.setattr(cpu, "attention", count(cpu.attention))
    generator = np.random.default_rng([2026, is_tiled, *dtype.encode()])
    for _ in range(CALLS):
        call = draw_call(generator)
        options = draw_tiles(generator, call.options) if is_tiled else call.options
        if is_tiled:
            options = options | {"need_lse": True}
        narrow = getattr(torch, dtype)
        arrays = [torch.tensor(array, dtype=narrow) for array in call.arrays]
        ours = results(attend, arrays, tensors(options, narrow))
        with definitions():
            rounded = {
                name: x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x
                for name, x in tensors(options, narrow).items()
            }
            exact = results(attend, [x.double() for x in arrays], rounded)
        for one, other in zip(ours, exact, strict=True):
            assert one.shape == other.shape, f"{call}"
            finite = other[other > -math.inf].abs()
            size = max(1.0, float(finite.max())) if finite.numel() else 1.0
            tolerance = TOLERANCES[dtype]
            close = torch.allclose(
                one.double().clamp_min(-1e300) / size, other.clamp_min(-1e300) / size,
                rtol=tolerance, atol=tolerance,
            )  # fmt: skip
            assert close, f"{call} {options} {(one.double() - other).abs().max()}"
    assert len(taken) > CALLS / 4  # the kernel ran in many of them


def test_definitions_alone_run_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a kernel ran")

    monkeypatch.setattr(fused.F, "scaled_dot_product_attention", refuse)
    monkeypatch.setattr(cpu, "attention", refuse)
    x = torch.ones(1, 2, 3, 4)
    with definitions():
        assert torch.equal(scaled_dot_product_attention(x, x, x), x)
        assert torch.equal(tiled_attention(x, x, x), x)
    for attend in (scaled_dot_product_attention, tiled_attention):
        with pytest.raises(AssertionError, match="a kernel ran"):
            attend(x, x, x)


# Torch's fused kernel: what it is given, and what it is spared


def both(*arrays: Any, **options: Any) -> tuple[Any, Any]:
    attend: Any = scaled_dot_product_attention
    ours = attend(*arrays, **options)
    with definitions():
        return ours, attend(*arrays, **options)


def randn(*shape: int, seed: int = 0) -> Any:
    return torch.tensor(np.random.default_rng([seed, *shape]).normal(size=shape))


HALF_DEAD = torch.tensor([[True, False, True, True, False, True], [False] * 6])
FUSED: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"is_causal": True},
    "ahead": {"is_causal": True, "offset": 2},
    "last key": {"is_causal": True, "offset": 4},  # the first query sees all keys but the last
    "behind": {"is_causal": True, "offset": -1},
    "offsets": {"is_causal": True, "offset": torch.tensor([1, -3])},
    "mask": {"attn_mask": HALF_DEAD},
    "mask and causal": {"attn_mask": HALF_DEAD, "is_causal": True, "offset": 1},
    "bias": {"attn_mask": torch.zeros(2, 6).double().masked_fill(~HALF_DEAD, -math.inf) + 0.5},
    "bias and causal": {
        "attn_mask": randn(2, 6).masked_fill(~HALF_DEAD, -math.inf), "is_causal": True, "offset": 3
    },
    "scale": {"scale": -0.3},
}  # fmt: skip


@pytest.mark.parametrize("heads", [1, 2, 6])
@pytest.mark.parametrize("name", FUSED)
def test_fused(name: str, heads: int) -> None:
    arrays = randn(2, 6, 2, 5), randn(2, heads, 6, 5, seed=1), randn(2, heads, 6, 3, seed=2)
    torch.testing.assert_close(*both(*arrays, **FUSED[name], enable_gqa=True))


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("name", ["plain", "mask", "causal"])
def test_fused_with_fewer_axes(name: str, axes: int) -> None:
    shape = (6,) * (axes - 2)
    arrays = randn(*shape, 2, 5), randn(*shape, 6, 5, seed=1), randn(*shape, 6, 3, seed=2)
    ours, exact = both(*arrays, **FUSED[name])
    assert ours.ndim == axes
    torch.testing.assert_close(ours, exact)


@pytest.mark.parametrize("option", [{"softcap": 1.5}, {"sinks": randn(6)}])
def test_what_torch_does_not_know_is_not_given_to_it(option: dict[str, Any]) -> None:
    arrays = randn(2, 6, 2, 5), randn(2, 6, 6, 5, seed=1), randn(2, 6, 6, 3, seed=2)
    torch.testing.assert_close(*both(*arrays, **option))


@pytest.mark.parametrize("dtypes", [("bfloat16", "float32"), ("float32", "float64")])
def test_a_wide_mask_is_not_rounded(dtypes: tuple[str, str]) -> None:
    """4 is lost beside 10000 in bfloat16; other dtypes torch refuses to mix."""
    narrow, wide = (getattr(torch, dtype) for dtype in dtypes)
    x = torch.ones(1, 1, 2, 4, dtype=narrow)
    value = torch.tensor([[1.0], [2.0]], dtype=narrow)[None, None]
    torch.testing.assert_close(*both(x, x, value, torch.tensor([1e4, 1e4 + 4], dtype=wide)))


def test_gradients_of_dead_rows_are_zero() -> None:
    query = randn(1, 1, 2, 5).requires_grad_()
    memory = randn(1, 1, 6, 5, seed=1)
    for name in ("mask", "bias"):
        output = scaled_dot_product_attention(query, memory, memory, FUSED[name]["attn_mask"])
        (slope,) = torch.autograd.grad(output.sum(), query)
        assert not output[..., 1, :].any()
        assert not slope[..., 1, :].any()
        assert slope[..., 0, :].all()


@pytest.mark.parametrize("move", [np.asarray, torch.asarray], ids=["numpy", "torch"])
@pytest.mark.parametrize("lacking", [(0,), (1, 2), (2,)])
@pytest.mark.parametrize("attend", [scaled_dot_product_attention, tiled_attention])
def test_offsets_of_a_batch_that_some_arrays_lack(
    attend: Any, lacking: tuple[int, ...], move: Any
) -> None:
    """Offsets belong to the batch, whichever of the arrays has its axis."""
    shapes = (4, 5, 3), (4, 6, 3), (4, 6, 2)
    whole = [np.asarray(randn(2, *shape, seed=seed)) for seed, shape in enumerate(shapes)]
    few = [x[0] if i in lacking else x for i, x in enumerate(whole)]
    whole = [np.stack([x, x]) if i in lacking else x for i, x in enumerate(few)]
    options = {"is_causal": True, "offset": move(np.array([1, -2]))}
    with definitions():
        exact = attend(*map(move, whole), **options)
    for context in (definitions, torch.no_grad):
        with context():
            ours = attend(*map(move, few), **options)
        np.testing.assert_allclose(np.asarray(ours), np.asarray(exact), rtol=1e-10, atol=1e-12)
