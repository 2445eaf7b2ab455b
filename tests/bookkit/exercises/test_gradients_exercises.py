"""Right answers pass; wrong ones get a hint; and the wrong backward passes are as wrong as said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from bookkit.exercises import gradients
from bookkit.exercises.gradients import MISTAKES, PARTS, backward
from companion import scaled_dot_product_attention

MEMORY = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
WEIGHTS = np.exp([-12.0, 0.0, -11.0]) / np.exp([-12.0, 0.0, -11.0]).sum()
AT_WEIGHTS = MEMORY @ (WEIGHTS @ MEMORY - [2, 0])
SATURATED = WEIGHTS * (AT_WEIGHTS - WEIGHTS @ AT_WEIGHTS)
SUSPECTS = {"right": (backward, frozenset[str]())} | MISTAKES


def wrong_parts(suspect: Callable[..., Any], tolerance: float = 1e-9) -> set[str]:
    *point, above = np.random.default_rng(5).normal(size=(4, 6, 3))
    leaves = [torch.tensor(x, requires_grad=True) for x in point]
    query, key, value = leaves
    output = scaled_dot_product_attention(query, key, value)
    wanted = torch.autograd.grad(output, leaves, torch.tensor(above))
    found = zip(PARTS, suspect(*point, above), wanted, strict=True)
    return {name for name, got, right in found if not np.allclose(got, right, atol=tolerance)}


@pytest.mark.parametrize("name", SUSPECTS)
def test_a_backward_pass_is_wrong_where_it_is_said_to_be(name: str) -> None:
    suspect, wrong = SUSPECTS[name]
    assert wrong_parts(suspect) == wrong


def test_the_right_gradient_lowers_the_loss_and_its_opposite_does_not() -> None:
    def uphill(*given: Any) -> Any:
        return tuple(-part for part in backward(*given))

    assert all(gradients.lowers_loss(backward, seed) for seed in range(20))
    assert not any(gradients.lowers_loss(uphill, seed) for seed in range(20))


def test_right_answers_are_taken(capsys: pytest.CaptureFixture[str]) -> None:
    gradients.check_saturated(SATURATED)
    gradients.check_by_hand([0, 0.5, -0.5], [-0.5, 0])
    gradients.check_general(
        lambda q, k, w, s: (s @ k @ w.T, s.T @ q @ w, q.T @ s @ k),
    )
    gradients.check_wrong_parts(wrong_parts)
    assert capsys.readouterr().out == 4 * "Right.\n"


@pytest.mark.parametrize(
    ("at_scores", "hint"),
    [
        ([1.0, 0.0, -2.0], "numbers are not"),
        (None, "got nothing"),
        (-SATURATED, "the sign"),
        (WEIGHTS * AT_WEIGHTS, "not taken off"),
        (AT_WEIGHTS, "go one step further back"),
    ],
)
def test_saturation_hints_at_the_cause(at_scores: Any, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        gradients.check_saturated(at_scores)


@pytest.mark.parametrize(
    ("at_scores", "at_query", "hint"),
    [
        ([0.5, 0.75, -0.25], None, "the mean is missing"),
        ([0, 2, -2], None, "multiply by the weights"),
        ([0, -0.5, 0.5], None, "the sign"),
        ([0, 0.5, -0.5], [0.75, 0.5], "not with the weights"),
        ([0, 0.5, -0.5], [0, 2], "not with those at the weights"),
        ([0, 0.5, -0.5], None, "at_query: got nothing"),
    ],
)
def test_the_small_backward_hints_at_the_cause(at_scores: Any, at_query: Any, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        gradients.check_by_hand(at_scores, at_query)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda q, k, w, s: (s @ k, s.T @ q @ w, q.T @ s @ k), "query: .* go on to the query"),
        (lambda q, k, w, s: (s @ k @ w.T, s.T @ q, q.T @ s @ k), "key: the matrix is missing"),
        (lambda q, k, w, s: (s @ k @ w.T, -s.T @ q @ w, q.T @ s @ k), "key: the sign"),
        (lambda q, k, w, s: (s @ k @ w.T, s.T @ q @ w, k.T @ s.T @ q), "transpose it"),
        (
            lambda q, k, w, s: (s @ k @ w.T, s.T @ q @ w, np.outer(q.sum(0), k.sum(0))),
            "every pair",
        ),
        (lambda q, k, w, s: s @ k @ w.T, "wanted three gradients"),
        (lambda q, k, w, s: (q @ s, s, s), "Do the shapes meet"),
        (lambda q, k, w, s: None, "got nothing"),
    ],
)
def test_the_general_score_hints_at_the_cause(answer: Callable[..., Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        gradients.check_general(answer)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda suspect: None, "got nothing"),
        (lambda suspect: "key", "wanted a set"),
        (lambda suspect: {"key"}, "right is turned down at key"),
        (lambda suspect: set(), "a mistake passes: the mean is left out"),
        (lambda suspect: wrong_parts(suspect, tolerance=0.5), "a mistake passes"),
        (
            lambda suspect: set() if suspect is backward else {"query", "key"},
            "does no harm at query",
        ),
    ],
)
def test_the_diagnosis_hints_at_the_cause(answer: Callable[..., Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        gradients.check_wrong_parts(answer)
