"""Distances between distributions: against scipy, bounds, gradients, wrong calls."""

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon
from torch import Generator

from companion.interpret import flipped, jensen_shannon, total_variation

P = torch.rand(3, 5, 7, generator=Generator().manual_seed(1), dtype=torch.float64)
P = P / P.sum(-1, keepdim=True)
Q = P.flip(-1).roll(1, 1)


def test_against_scipy() -> None:
    p, q = P.numpy(), Q.numpy()
    wanted = torch.tensor(np.abs(p - q).sum(-1) / 2)
    torch.testing.assert_close(total_variation(P, Q), wanted)
    wanted = torch.tensor(jensenshannon(p, q, axis=-1) ** 2)
    torch.testing.assert_close(jensen_shannon(P, Q), wanted)
    assert torch.equal(flipped(P, Q), P.argmax(-1) != Q.argmax(-1))


def test_from_equal_to_disjoint() -> None:
    for measure, most in ((total_variation, 1.0), (jensen_shannon, 0.693147)):
        one, other = torch.tensor([[0.5, 0.5, 0.0]]), torch.tensor([[0.0, 0.0, 1.0]])
        assert measure(one, one).item() == 0
        assert measure(one, other).item() == pytest.approx(most, abs=1e-6)
        assert torch.equal(measure(one, other), measure(other, one))


def test_the_gradient_is_finite_at_zero() -> None:
    p = torch.tensor([0.5, 0.5, 0.0, 0.0], requires_grad=True)
    (gradient,) = torch.autograd.grad(jensen_shannon(p, torch.tensor([0.0, 0.5, 0.5, 0.0])), p)
    assert gradient.isfinite().all()


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match=r"q: got shape \(5, 7\), wanted \(3, 5, 7\)"):
        jensen_shannon(P, P[0])
