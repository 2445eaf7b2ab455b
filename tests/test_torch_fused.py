"""Torch's fused attention against the definitions: what it is given, and what it is spared."""

import contextlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.attention import scaled_dot_product_attention
from companion.dispatch import definitions
from companion.tiled import tiled_attention, tiled_attention_with_lse, window_attention
from tests.test_attention import options as any_options

torch: Any = pytest.importorskip("torch")
torch_fused: Any = pytest.importorskip("companion.torch_fused")


tiled: Any = tiled_attention_with_lse


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


@pytest.mark.parametrize("name", FUSED)
def test_fused(name: str) -> None:
    for heads in (1, 2, 6):
        arrays = randn(2, 6, 2, 5), randn(2, heads, 6, 5, seed=1), randn(2, heads, 6, 3, seed=2)
        torch.testing.assert_close(*both(*arrays, **FUSED[name], enable_gqa=True))


@pytest.mark.parametrize("name", ["plain", "mask", "causal"])
def test_fused_with_fewer_axes(name: str) -> None:
    for lead in ((), (6,)):
        arrays = randn(*lead, 2, 5), randn(*lead, 6, 5, seed=1), randn(*lead, 6, 3, seed=2)
        torch.testing.assert_close(*both(*arrays, **FUSED[name]))


@pytest.mark.parametrize("dtypes", [("bfloat16", "float32"), ("float32", "float64")])
def test_a_wide_mask_is_not_rounded(dtypes: tuple[str, str]) -> None:
    """4 is lost beside 10000 in bfloat16; other dtypes torch refuses to mix."""
    narrow, wide = (getattr(torch, dtype) for dtype in dtypes)
    x = torch.ones(1, 1, 2, 4, dtype=narrow)
    value = torch.tensor([[1.0], [2.0]], dtype=narrow)[None, None]
    mask = torch.tensor([1e4, 1e4 + 4], dtype=wide)
    ours, exact = both(x, x, value, mask)
    torch.testing.assert_close(ours, exact)
    torch.testing.assert_close(tiled_attention(x, x, value, mask), exact)


def test_gradients_of_many_blocks_are_summed_in_float32() -> None:
    """In bfloat16 a sum stops growing once its parts are a few hundredths of it."""
    n = 4096
    query, key = torch.zeros(2, 1, 1, n, 1, dtype=torch.bfloat16)
    value = query.clone().requires_grad_()
    window_attention(query, key, value, left=n).sum().backward()
    harmonic = math.fsum(1 / i for i in range(1, n + 1))  # query i sees i keys, all alike
    assert float(value.grad[0, 0, 0, 0]) == pytest.approx(harmonic, rel=0.01)


def test_gradients_of_dead_rows_are_zero() -> None:
    query = randn(1, 1, 2, 5).requires_grad_()
    memory = randn(1, 1, 6, 5, seed=1)
    for name in ("mask", "bias"):
        output = scaled_dot_product_attention(query, memory, memory, FUSED[name]["attn_mask"])
        (slope,) = torch.autograd.grad(output.sum(), query)
        assert not output[..., 1, :].any()
        assert not slope[..., 1, :].any()
        assert slope[..., 0, :].all()


@pytest.mark.parametrize("lacking", [(0,), (1, 2), (2,)])
@pytest.mark.parametrize("attend", [scaled_dot_product_attention, tiled_attention])
def test_offsets_of_a_batch_that_some_arrays_lack(attend: Any, lacking: tuple[int, ...]) -> None:
    """Offsets belong to the batch, whichever of the arrays has its axis."""
    shapes = (4, 5, 3), (4, 6, 3), (4, 6, 2)
    whole = [randn(2, *shape, seed=seed) for seed, shape in enumerate(shapes)]
    few = [x[0] if i in lacking else x for i, x in enumerate(whole)]
    whole = [torch.stack([x, x]) if i in lacking else x for i, x in enumerate(few)]
    options = {"is_causal": True, "offset": torch.tensor([1, -2])}
    with definitions():
        exact = attend(*whole, **options)
        torch.testing.assert_close(attend(*few, **options), exact)
    torch.testing.assert_close(attend(*few, **options), exact)
    arrays = attend(*(x.numpy() for x in few), is_causal=True, offset=np.array([1, -2]))
    torch.testing.assert_close(torch.asarray(arrays), exact)


# Attention in tiles: the operator runs, and the loop where it cannot


def operator_calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the calls of torch's operator from now on."""
    calls, whole = [], torch_fused._attend_with_lse

    def counted(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        return whole(*args, **kwargs)

    monkeypatch.setattr(torch_fused, "_attend_with_lse", counted)
    return calls


@pytest.mark.parametrize(
    ("options", "length", "calls"),
    [
        ({}, 300, 1),
        ({"is_causal": True}, 300, 1),
        ({"sinks": randn(2)}, 300, 1),
        ({"left": 3, "right": 0}, 300, 5),  # one a block of 64 queries
        ({"left": 3, "right": 3}, 128, 2),
        ({"left": 3, "right": 0, "attn_mask": randn(300, 300) > -1}, 300, 5),
        ({"is_causal": True, "offset": 5}, 300, 2),  # one a block of 256
        ({"softcap": 2.0}, 300, 0),
        ({"is_causal": True, "offset": torch.tensor([1])}, 300, 0),
    ],
)
def test_what_the_operator_takes(
    options: dict[str, Any], length: int, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = operator_calls(monkeypatch)
    arrays = [randn(1, 2, length, width, seed=seed) for seed, width in enumerate((5, 5, 3))]
    ours = tiled_attention(*arrays, **options)
    assert len(counted) == calls
    with definitions():
        torch.testing.assert_close(ours, tiled_attention(*arrays, **options))
    assert len(counted) == calls


@pytest.mark.parametrize("where", range(4))
def test_rows_need_not_lie_in_a_piece(where: int) -> None:
    """The operator would read other memory, without a word."""
    arrays = [randn(2, 3, 5, 5, seed=seed).requires_grad_() for seed in range(4)]
    mask = arrays[3].detach()
    apart = [x.mT if i == where else x for i, x in enumerate((*arrays[:3], mask))]
    same = [(x[..., :1], x[..., :1, :]) for x in apart]
    for tensors in (
        apart,
        *([x.expand(2, 3, 5, 5) for x in each] for each in zip(*same, strict=True)),
    ):
        found = []
        for context in (contextlib.nullcontext(), definitions()):
            with context:
                output = tiled_attention(*tensors)
            upstream = randn(2, 3, 5, 5, seed=5).mT
            found.append([output, *torch.autograd.grad(output, arrays[:3], upstream)])
        for ours, exact in zip(*found, strict=True):
            torch.testing.assert_close(ours, exact)


def test_sinks_that_take_nothing_and_rows_without_keys() -> None:
    arrays = [randn(2, 2, 5, seed=seed).requires_grad_() for seed in range(3)]
    sinks = torch.tensor([-math.inf, 0.5], dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True, False], [False, False]])
    found = []
    for context in (contextlib.nullcontext(), definitions()):
        with context:
            output, lse = tiled(*arrays, mask, sinks=sinks)
        assert not output[:, 1].any()
        loss = output.square().sum() + lse[:, 0].sum() + lse[1, 1]
        found.append([lse, *torch.autograd.grad(loss, (*arrays, sinks))])
    for ours, exact in zip(*found, strict=True):
        torch.testing.assert_close(ours, exact)


@pytest.mark.parametrize("loss", [torch.sum, lambda x: x.square().sum()])
def test_double_backward_is_refused(loss: Any) -> None:
    x = randn(1, 2, 5, 4).requires_grad_()
    (slope,) = torch.autograd.grad(loss(tiled_attention(x, x, x)), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"derivative for .* is not implemented"):
        slope.square().sum().backward()


def test_a_mask_that_learns_gets_its_gradient() -> None:
    x, mask = randn(2, 5, 4), randn(5, 5).requires_grad_()
    (slope,) = torch.autograd.grad(tiled_attention(x, x, x, mask).square().sum(), mask)
    assert slope.all()


@pytest.mark.parametrize("options", [{"is_causal": True}, {"left": 2}, {}])
def test_scales_that_are_not_positive(options: dict[str, Any]) -> None:
    """Torch scales after it has masked: -inf times 0 is no number."""
    x = randn(2, 7, 4)
    for scale in (0.0, -0.7):
        ours = tiled_attention(x, x, x, scale=scale, **options)
        with definitions():
            torch.testing.assert_close(ours, tiled_attention(x, x, x, scale=scale, **options))


def test_nothing_is_not_given_to_the_operator() -> None:
    """It would divide by it, and end the process."""
    for shape in ((0, 2, 5, 4), (1, 0, 5, 4), (1, 2, 0, 4)):
        x = torch.ones(shape)
        assert tiled_attention(x, x, x).shape == shape
        assert tiled_attention(x, x, x, left=1).shape == shape


def test_autocast_and_meta() -> None:
    x = torch.ones(1, 2, 5, 4, device="meta")
    assert tiled_attention(x, x, x, left=1).shape == x.shape
    with torch.autocast("cpu", dtype=torch.bfloat16):
        x = randn(1, 2, 5, 4).float()
        assert tiled_attention(x, x, x.bfloat16()).dtype == torch.float32


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{}, {"is_causal": True, "sinks": randn(1)}, {"left": 64, "right": 0}]
)
def test_memory_grows_with_the_length(options: dict[str, Any]) -> None:
    """Four times the queries and keys take four times the memory, gradients included."""
    peaks = []
    for length in (1024, 4096):
        arrays = [torch.ones(1, 1, length, 8, requires_grad=True) for _ in range(3)]
        with torch.profiler.profile(profile_memory=True) as profile:
            tiled_attention(*arrays, **options).sum().backward()
        held = top = 0
        for event in profile.events():
            held += event.self_cpu_memory_usage if event.name != "[memory]" else 0
            top = max(top, held)
        peaks.append(top)
    assert peaks[1] < 6 * peaks[0]


def gradients(attend: Any, arrays: list[Any], options: dict[str, Any]) -> list[Any]:
    """Return what comes out, and the gradients of a loss that weighs all of it."""
    leaves = [array.clone().requires_grad_() for array in arrays]
    result = attend(*leaves, **options)
    outputs = [x.where(x > -math.inf, 0.0) for x in (result if attend is tiled else (result,))]
    loss = sum((x * torch.linspace(-1, 1, x.numel()).to(x).reshape(x.shape)).sum() for x in outputs)
    slopes = torch.autograd.grad(loss, leaves, allow_unused=True)
    filled = (torch.zeros_like(x) if g is None else g for x, g in zip(leaves, slopes, strict=True))
    return [*(x.detach() for x in outputs), *filled]


DTYPES = [(torch.float64, 1e-10), (torch.float16, 8e-3), (torch.bfloat16, 0.06)]


def in_dtype(option: Any, dtype: Any) -> Any:
    floats = isinstance(option, torch.Tensor) and option.is_floating_point()
    return option.to(dtype) if floats else option


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_call_and_its_gradients_are_those_of_the_definitions(data: st.DataObject) -> None:
    b, g, r, d, v = (data.draw(st.integers(1, 3), name) for name in "bgrdv")
    q, k = (data.draw(st.integers(0, 6), name) for name in "qk")
    arrays = randn(b, g * r, q, d), randn(b, g, k, d, seed=1), randn(b, g, k, v, seed=2)
    one = data.draw(st.sampled_from([None, 0, 1, 2]), "without a batch")
    exact_arrays = [x[0] if i == one else x for i, x in enumerate(arrays)]
    told = data.draw(any_options(b, g * r, q, k)) | {"enable_gqa": True}
    told = {n: torch.tensor(x) if isinstance(x, np.ndarray) else x for n, x in told.items()}
    sides = st.dictionaries(st.sampled_from(["left", "right"]), st.integers(0, 3))
    for attend, more in ((scaled_dot_product_attention, {}), (tiled, data.draw(sides))):
        for dtype, tolerance in DTYPES:
            low = [x.to(dtype) for x in exact_arrays]
            given_options = {name: in_dtype(x, dtype) for name, x in told.items()} | more
            ours = gradients(attend, low, given_options)
            wide = {name: in_dtype(x, torch.float64) for name, x in given_options.items()}
            with definitions():
                exact = gradients(attend, [x.double() for x in low], wide)
            for found, wanted in zip(ours, exact, strict=True):
                size = max(1.0, float(wanted.abs().max())) if wanted.numel() else 1.0
                torch.testing.assert_close(
                    found.double() / size, wanted / size, rtol=tolerance, atol=tolerance
                )
