"""Distances between distributions: against loops, bounds, gradients, wrong calls."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Generator

from companion.interpret import flipped, jensen_shannon, total_variation

P = torch.rand(3, 5, 7, generator=Generator().manual_seed(1), dtype=torch.float64)
P = P / P.sum(-1, keepdim=True)
Q = P.flip(-1).roll(1, 1)


def by_loops(p: list[float], q: list[float]) -> tuple[float, float]:
    distance = sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
    divergence = 0.0
    for a, b in zip(p, q, strict=True):
        for x in (a, b):
            divergence += x * math.log(x / ((a + b) / 2)) / 2 if x > 0 else 0.0
    return distance, divergence


def test_against_loops() -> None:
    apart, entropy = total_variation(P, Q), jensen_shannon(P, Q)
    assert apart.shape == entropy.shape == (3, 5)
    for place in torch.cartesian_prod(torch.arange(3), torch.arange(5)).tolist():
        i, j = place
        wanted = by_loops(P[i, j].tolist(), Q[i, j].tolist())
        assert (apart[i, j].item(), entropy[i, j].item()) == pytest.approx(wanted, abs=1e-12)


def test_from_equal_to_disjoint() -> None:
    cases: list[Any] = [(total_variation, 1.0), (jensen_shannon, 0.693147)]
    for measure, most in cases:
        one, other = torch.tensor([[0.5, 0.5, 0.0]]), torch.tensor([[0.0, 0.0, 1.0]])
        assert measure(one, one).item() == 0
        assert measure(one, other).item() == pytest.approx(most, abs=1e-6)
        assert torch.equal(measure(one, other), measure(other, one))


def test_the_gradient_is_finite_at_zero() -> None:
    p = torch.tensor([0.5, 0.5, 0.0, 0.0], requires_grad=True)
    (gradient,) = torch.autograd.grad(jensen_shannon(p, torch.tensor([0.0, 0.5, 0.5, 0.0])), p)
    assert gradient.isfinite().all()


def test_flips_are_other_decisions() -> None:
    assert flipped(P, P).sum() == 0
    assert torch.equal(flipped(P, Q), P.argmax(-1) != Q.argmax(-1))


def test_wrong_calls_are_refused() -> None:
    cases: list[Any] = [
        ([0.5, 0.5], P, TypeError, "(p|outputs): got list, wanted a tensor"),
        (P, torch.ones(3, 5, 7, dtype=torch.int64), TypeError, "q: got dtype torch.int64"),
        (P, P[0], ValueError, r"q: got shape \(5, 7\), wanted \(3, 5, 7\)"),
        (P[..., :0], P[..., :0], ValueError, "c = 0 in shape .*, wanted at least 1"),
    ]
    for p, q, error, message in cases:
        with pytest.raises(error, match=message):
            jensen_shannon(p, q)
