"""Decays and lengths against their formulas in plain Python, on every array library."""

import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from companion.gates import fixed_decay, l2_normalize, sigmoid_decay, softplus_decay
from tests.oracle import as_numpy, assert_matches, draw

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def softplus(x: float, rate: float, bias: float) -> float:
    return math.exp(-math.exp(rate) * math.log1p(math.exp(x + bias)))


def sigmoid(x: float, rate: float, bias: float, floor: float = -5.0) -> float:
    return math.exp(floor / (1 + math.exp(-math.exp(rate) * (x + bias))))


def test_learned_decays_equal_their_formulas(libraries: list[Any]) -> None:
    for xp in libraries:
        for shapes in [((2, 7, 3), (3,), (3,)), ((2, 7, 3, 5), (3, 1), (3, 5))]:
            arrays = [draw(*shape, seed=seed) for seed, shape in enumerate(shapes)]
            moved = [xp.asarray(array) for array in arrays]
            assert_matches(softplus_decay(*moved), np.vectorize(softplus)(*arrays))
            assert_matches(sigmoid_decay(*moved, floor=-5.0), np.vectorize(sigmoid)(*arrays))


def test_learned_decays_are_right_far_out() -> None:
    x, zero = np.array([-1e4, -800.0, 800.0, 1e4]), np.asarray([0.0] * 4)
    assert_matches(softplus_decay(x, zero, zero), [1, 1, math.exp(-800), 0], 1e-300)
    assert_matches(sigmoid_decay(x, zero, zero, floor=-5.0), [1, 1, math.exp(-5), math.exp(-5)])


def test_gradients_are_finite_far_out(torch: ModuleType) -> None:
    for decay in (softplus_decay, lambda *arrays: sigmoid_decay(*arrays, floor=-5.0)):
        x = torch.tensor([-1e4, -100.0, 0.0, 100.0, 1e4], requires_grad=True)
        rate, bias = torch.full((5,), 3.0, requires_grad=True), torch.zeros(5, requires_grad=True)
        decay(x, rate, bias).sum().backward()
        assert all(array.grad.isfinite().all() for array in (x, rate, bias))


def test_gradients_are_those_of_differences(torch: ModuleType) -> None:
    arrays = [torch.tensor(draw(*shape), requires_grad=True) for shape in [(2, 5, 3), (3,), (3,)]]
    assert torch.autograd.gradcheck(softplus_decay, arrays)
    assert torch.autograd.gradcheck(lambda *x: sigmoid_decay(*x, floor=-2.0), arrays)
    assert torch.autograd.gradcheck(l2_normalize, arrays[:1])


def test_learned_decays_are_wide(torch: ModuleType) -> None:
    half = torch.zeros(3, dtype=torch.bfloat16)
    assert softplus_decay(half, half, half).dtype == torch.float32
    assert sigmoid_decay(half, half, half, floor=-1.0).dtype == torch.float32


def test_fixed_decays_equal_their_formula(libraries: list[Any]) -> None:
    for xp in libraries:
        for heads in [1, 3, 8]:
            wanted = [math.exp(-0.7 * 2 ** (-8 * head / heads)) for head in range(1, heads + 1)]
            like = xp.asarray([1.0], dtype=xp.float64)
            assert_matches(fixed_decay(heads, scale=0.7, like=like), wanted)
            assert_matches(fixed_decay(heads, scale=0.7), wanted)
            assert_matches(fixed_decay(heads, scale=0.0), [1.0] * heads)
            assert fixed_decay(heads, like=xp.asarray([1.0], dtype=xp.float32)).dtype == xp.float32


def test_vectors_get_length_one(libraries: list[Any]) -> None:
    for xp in libraries:
        x = draw(2, 7, 5)
        actual = l2_normalize(xp.asarray(x), eps=0.0)
        assert_matches((as_numpy(actual) ** 2).sum(-1), np.ones((2, 7)))
        assert_matches(actual, x / np.linalg.norm(x, axis=-1, keepdims=True))
        assert_matches(
            l2_normalize(xp.asarray(x), eps=0.5), x / np.sqrt((x**2).sum(-1, keepdims=True) + 0.5)
        )


def test_lengths_are_added_in_float32(torch: ModuleType) -> None:
    x = torch.ones(1000, dtype=torch.bfloat16)
    normed = l2_normalize(x)
    assert normed.dtype == torch.bfloat16
    assert (normed.float() * 1000**0.5 - 1).abs().max() < 2**-8
