"""The kernel of the CPU: many tiles, low precision, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from companion.attention import attention_with_lse, scaled_dot_product_attention
from companion.tiled import tiled_attention

torch: Any = pytest.importorskip("torch")
cpu: Any = pytest.importorskip("companion.kernels.cpu")

sdpa: Any = scaled_dot_product_attention
tiled: Any = tiled_attention


def draw(*shape: int, seed: int = 0, dtype: Any = None) -> Any:
    drawn = np.random.default_rng([seed, *shape]).normal(size=shape)
    return torch.tensor(drawn, dtype=dtype or torch.float32)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize(("q", "k"), [(700, 700), (300, 1100), (1100, 300), (513, 511)])
def test_many_tiles_in_float32(q: int, k: int, is_causal: bool) -> None:
    """Output and gradients err no more than twice as much as those of torch's own kernel."""
    leaves = [draw(2, q, 24), draw(2, k, 24, seed=1), draw(2, k, 8, seed=2)]
    wide = [x.double().requires_grad_() for x in leaves]
    exact = sdpa(*wide, is_causal=is_causal)
    upstream = draw(*exact.shape, seed=3)
    wanted = [exact, *torch.autograd.grad(exact, wide, upstream.double())]
    errors = []
    for attend in (torch.nn.functional.scaled_dot_product_attention, tiled):
        narrow = [x.clone().requires_grad_() for x in leaves]
        output = attend(*narrow, is_causal=is_causal)
        found = [output, *torch.autograd.grad(output, narrow, upstream)]
        pairs = zip(found, wanted, strict=True)
        errors.append([float((a.double() - b).abs().max()) for a, b in pairs])
    for theirs, ours in zip(*errors, strict=True):
        assert ours <= 2 * theirs + 1e-6


def test_large_scores_in_float32_take_the_online_softmax() -> None:
    query, key, value = draw(2, 300, 16), draw(2, 400, 16, seed=1), draw(2, 400, 16, seed=2)
    exact = sdpa(200 * query.double(), key.double(), value.double())
    ours = tiled(200 * query, key, value)
    assert torch.isfinite(ours).all()
    assert float((ours.double() - exact).abs().max()) < 1e-3


def test_the_kernel_is_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    attention = cpu.attention

    def spy(*arrays: Any, **options: Any) -> Any:
        calls.append(options["band"])
        return attention(*arrays, **options)

    monkeypatch.setattr(cpu, "attention", spy)
    x = draw(2, 9, 4)
    tiled(x, x, x, is_causal=True)
    assert len(calls) == 1
    assert calls[0].right == 0


@pytest.mark.parametrize("loss", [torch.sum, lambda output: output.square().sum()])
def test_double_backward_is_refused(loss: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Also where the loss is linear, and the gradient that comes in has no history."""
    x = draw(1, 5, 4).requires_grad_()
    first = loss(tiled(x, x, x))
    (gradient,) = torch.autograd.grad(first, x, create_graph=True)
    torch.testing.assert_close(gradient, torch.autograd.grad(loss(sdpa(x, x, x)), x)[0])
    with pytest.raises(RuntimeError, match=r"^create_graph: .*, wanted the first ones alone"):
        (first + gradient.square().sum()).backward()


def test_functions_of_gradients_pass_through_once() -> None:
    x = draw(1, 5, 4)
    gradients = [
        torch.func.grad(lambda x, attend=attend: attend(x, x, x).sum())(x)
        for attend in (tiled, lambda *arrays: attention_with_lse(*arrays)[0])
    ]
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("softcap", [None, 3.0])
def test_a_scale_of_zero_averages(softcap: float | None) -> None:
    leaves = [draw(1, 5, 4, dtype=torch.float64).requires_grad_() for _ in range(3)]
    options = {"scale": 0.0, "softcap": softcap}
    output = tiled(*leaves, **options)
    torch.testing.assert_close(output, leaves[2].mean(-2, keepdim=True).expand_as(output))
    assert torch.autograd.gradcheck(lambda *arrays: tiled(*arrays, **options), leaves)


@pytest.mark.parametrize("options", [{}, {"left": 1}, {"is_causal": True}])
def test_no_key_leaves_gradients_of_zero(options: dict[str, Any]) -> None:
    query = draw(2, 5, 4).requires_grad_()
    key = draw(2, 0, 4).requires_grad_()
    output = tiled(query, key, key, **options)
    output.sum().backward()
    assert not output.any()
    assert query.grad is not None
    assert not query.grad.any()


def test_a_mask_that_learns_gets_its_gradient() -> None:
    x, mask = draw(2, 5, 4, dtype=torch.float64), draw(5, 5, dtype=torch.float64)
    grads = []
    for attend in (sdpa, tiled):
        leaf = mask.clone().requires_grad_()
        grads.append(torch.autograd.grad(attend(x, x, x, leaf).square().sum(), leaf)[0])
    torch.testing.assert_close(grads[1], grads[0])


def test_autocast_and_meta() -> None:
    x = draw(2, 9, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.isfinite(tiled(x, x, x)).all()
    meta = x.to("meta")
    assert tiled(meta, meta, meta).shape == (2, 9, 4)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_what_the_processor_cannot_multiply_is_widened(
    monkeypatch: pytest.MonkeyPatch, dtype: Any
) -> None:
    """Then the only rounding is that of what goes in and what comes out, gradients included."""
    monkeypatch.setattr(cpu, "multiplies_bfloat16", lambda: False)
    narrow = [draw(2, 30, 8, seed=seed).to(dtype).requires_grad_() for seed in range(3)]
    wide = [x.detach().float().requires_grad_() for x in narrow]
    upstream = draw(2, 30, 8, seed=3).to(dtype)
    ours, exact = tiled(*narrow, is_causal=True), tiled(*wide, is_causal=True)
    assert ours.dtype == dtype
    assert torch.equal(ours, exact.to(dtype))
    ours.backward(upstream)
    exact.backward(upstream.float())
    for x, y in zip(narrow, wide, strict=True):
        assert x.grad.dtype == dtype
        assert torch.equal(x.grad, y.grad.to(dtype))


def matrix_in_one_dtype(query: Any, key: Any, value: Any, softcap: float | None) -> Any:
    """Attend causally with the whole matrix, every step rounded to the dtype of what goes in."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return scores.masked_fill(future, -torch.inf).softmax(-1) @ value


@pytest.mark.parametrize("softcap", [None, 3.0])
def test_bfloat16_as_it_is_errs_like_the_whole_matrix_in_bfloat16(
    monkeypatch: pytest.MonkeyPatch, softcap: float | None
) -> None:
    """Multiplied without widening, output and gradients beside float64, on every processor."""
    monkeypatch.setattr(cpu, "multiplies_bfloat16", lambda: True)
    ours = partial(tiled, is_causal=True, softcap=softcap)
    plain = partial(matrix_in_one_dtype, softcap=softcap)
    narrow = [draw(2, 600, 16, seed=seed).bfloat16().requires_grad_() for seed in range(3)]
    wide = [x.detach().double().requires_grad_() for x in narrow]
    upstream = draw(2, 600, 16, seed=3).bfloat16()
    exact = plain(*wide)
    wanted = [exact, *torch.autograd.grad(exact, wide, upstream.double())]
    errors = []
    for attend in (plain, ours):
        output = attend(*narrow)
        assert output.dtype == torch.bfloat16
        found = [output, *torch.autograd.grad(output, narrow, upstream)]
        pairs = zip(found, wanted, strict=True)
        errors.append([float((a.double() - b).detach().square().mean().sqrt()) for a, b in pairs])
    for theirs, own in zip(*errors, strict=True):
        assert own <= 1.5 * theirs
