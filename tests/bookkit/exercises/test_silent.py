"""The layer with silent mistakes: right without one, wrong with each, and found as it is said."""

import math
from typing import Any

import numpy as np
import torch

from bookkit.exercises import silent
from bookkit.exercises.silent import CHECKS, MISTAKES, found_by, layer_with, weigh
from companion.layers import MultiHeadAttention

DICE = np.random.default_rng(7)
X, OTHER = DICE.normal(size=(6, 4)), DICE.normal(size=4)
W = {name: DICE.normal(size=(4, 4)) for name in ("query", "key", "value", "output")}


def multi_head() -> Any:
    """Compute the right output by the package's own layer, of two heads."""
    layer = MultiHeadAttention(4, 2).double()
    for name, matrix in W.items():
        projection = getattr(layer, f"{name}_proj")
        projection.weight.data = torch.tensor(matrix.T)
    with torch.no_grad():
        output, weights = layer(torch.tensor(X)[None], is_causal=True, need_weights=True)
    return output[0].numpy(), weights[0].numpy()


def found(mistake: str) -> dict[str, bool]:
    return found_by(mistake, X, W, 2, other=OTHER, wanted=multi_head()[0])


def test_without_a_mistake_it_is_the_layer_of_the_package_for_arrays_and_tensors() -> None:
    for ours, right in zip(layer_with("", X, W, 2), multi_head(), strict=True):
        np.testing.assert_allclose(ours, right, atol=1e-12)
    assert not any(found("").values())
    tensors = {name: torch.tensor(matrix) for name, matrix in W.items()}
    for mistake in MISTAKES:
        by_tensors = layer_with(mistake, torch.tensor(X), tensors, 2)
        for ours, right in zip(by_tensors, layer_with(mistake, X, W, 2), strict=True):
            np.testing.assert_allclose(ours, right, atol=1e-12)


def test_which_check_finds_which_mistake() -> None:
    checks = {
        "no scale": "loops",
        "query and key swapped": "cache loops",
        "softmax over queries": "rows future cache loops",
        "heads by a view": "order cache loops",
        "joined by a view": "future order cache loops",
        "no mask": "future loops",
        "mask upside down": "rows future loops",
        "one word too many": "future loops",
        "one word too few": "rows loops",
        "1e-9 for -1e9": "future loops",
        "masked too late": "rows future loops",
        "first-key corner": "cache",
    }
    assert set(checks) == set(MISTAKES)
    for mistake, names in checks.items():
        assert [check for check in CHECKS if found(mistake)[check]] == names.split()
    # Shapes that do not meet are found by the cache alone.
    sizes = silent.differences(
        "query and key swapped", X, W, 2, other=OTHER, wanted=multi_head()[0]
    )
    assert [check for check, size in sizes.items() if math.isinf(size)] == ["cache"]


def test_a_gradient_that_is_cut_off_is_found() -> None:
    assert silent.gradient_is_right("no mask", X, W, 2)
    assert not torch.autograd.gradcheck(
        lambda t: weigh(t, t.detach()), torch.tensor(X).requires_grad_(), raise_exception=False
    )
