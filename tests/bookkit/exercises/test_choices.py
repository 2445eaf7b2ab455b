"""The check functions of "Choices": right passes, wrong gets the hint at its cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from bookkit.exercises.choices import (
    check_general_keys,
    check_largest_weight,
    check_positions,
    check_window,
)
from companion import additive_score, bilinear_score, dot_score, masked_softmax
from companion.layers import LuongAttention

Answer = Callable[..., Any]


def largest(vector: list[float], k: int) -> float:
    """Search: the best word meets +1 at every entry of the vector's sign, the others -1."""
    top = math.exp(sum(abs(entry) for entry in vector))
    return top / (top + (k - 1) / top)


def keys(memory: Any, weight: Any) -> Any:
    return np.einsum("ke,de->kd", memory, weight)


def positions(logits: Tensor, mask: Tensor) -> Tensor:
    return mask.sum(-1) * torch.sigmoid(logits)


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_largest_weight, largest),
        (check_general_keys, keys),
        (check_positions, positions),
    ],
)
def test_the_right_answer_passes(
    check: Callable[[Answer], None], answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    check(answer)
    assert capsys.readouterr().out == "Right.\n"


def test_no_concat_score_gives_more_than_the_bound() -> None:
    dice, vector = np.random.default_rng(0), np.array([0.5, -0.25])
    bound = largest(vector.tolist(), 3)
    best = 0.0
    for _ in range(300):
        query, key = 9 * dice.normal(size=(1, 2)), 9 * dice.normal(size=(3, 2))
        scores = additive_score(query, key, np.eye(2), np.eye(2), vector)
        best = max(best, float(masked_softmax(scores).max()))
    assert 0.95 * bound < best <= bound


def test_the_keys_give_the_general_score() -> None:
    dice = np.random.default_rng(1)
    query, memory, weight = (dice.normal(size=shape) for shape in ((2, 3), (4, 5), (3, 5)))
    np.testing.assert_allclose(
        dot_score(query, keys(memory, weight)), bilinear_score(query, memory, weight)
    )


def test_the_positions_are_those_of_the_layer() -> None:
    layer = LuongAttention(5, 5, window=2, predictive=True)
    assert layer.place_weight is not None
    assert layer.place_vector is not None
    query, lengths = torch.randn(2, 3, 5), torch.tensor([[4], [6]])
    logits = torch.tanh(query @ layer.place_weight) @ layer.place_vector
    mask = (torch.arange(6) < lengths)[:, None]
    torch.testing.assert_close(positions(logits, mask), layer.aligned_position(query, lengths))


SCORES, BELL = np.array([[0.0, 1.0, 2.0]]), np.exp([0, -0.5, -2])
INSIDE = masked_softmax(SCORES)[0]
WEIGHTS = INSIDE * BELL


@pytest.mark.parametrize("digits", [2, 3, 9])
def test_a_window_by_hand_passes_when_rounded(
    digits: int, capsys: pytest.CaptureFixture[str]
) -> None:
    check_window(WEIGHTS.round(digits).tolist(), round(float(WEIGHTS.sum()), digits))
    assert capsys.readouterr().out == "Right.\n"


@pytest.mark.parametrize(
    ("weights", "total", "hint"),
    [
        (INSIDE, 1, "weights: those are the weights without"),
        (BELL, 1, "Gaussian alone"),
        (WEIGHTS / WEIGHTS.sum(), 1, "do not divide again"),
        (INSIDE * np.exp([0, -2, -8]), 1, "sigma is D / 2"),
        (INSIDE * np.exp([0, -0.5, -1]), 1, "the distance is squared"),
        (masked_softmax(SCORES * BELL)[0], 1, "the softmax comes first"),
        (WEIGHTS[:2], 1, r"wanted \(3,\)"),
        (WEIGHTS, 1, "total: that is the sum before"),
        (WEIGHTS, 0.5, "total: "),
    ],
)
def test_a_wrong_window_gets_a_hint(weights: Any, total: Any, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_window(weights, total)


def bound(gap: float, others: int) -> float:
    return 1 / (1 + others * math.exp(-gap))


LARGEST: list[tuple[Answer, str]] = [
    (lambda v, k: bound(sum(map(abs, v)), k - 1), "goes down to -1"),
    (lambda v, k: bound(2 * sum(v), k - 1), "helps as much"),
    (lambda v, k: bound(2 * sum(map(abs, v)), k), "k - 1 share"),
    (lambda v, k: sum(map(abs, v)), "the largest score"),
    (lambda v, k: bound(2 * max(map(abs, v)), k - 1), "all entries"),
    (lambda v, k: 1.0, "the numbers are not"),
    (lambda v, k: None, "wanted a number"),
]

KEYS: list[tuple[Answer, str]] = [
    (lambda m, w: w @ m.T, "on their side"),
    (lambda m, w: m, "the matrix is missing"),
    (lambda m, w: w, "the memory is missing"),
    (lambda m, w: m @ w.T + 1, "no bias"),
    (lambda m, w: m @ w, "the widths differ"),
    (lambda m, w: None, "end in a return"),
]

POSITIONS: list[tuple[Answer, str]] = [
    (lambda z, m: m.shape[-1] * torch.sigmoid(z), "the very bug"),
    (lambda z, m: torch.sigmoid(z), "a share of the sentence"),
    (lambda z, m: (~m).sum(-1) * torch.sigmoid(z), "upside down"),
    (lambda z, m: m.sum(-1) * z, "the sigmoid is missing"),
    (lambda z, m: (m.sum(-1) - 1) * torch.sigmoid(z), "p may reach n"),
    (lambda z, m: positions(z, m)[:, None], r"the shape is \(b, q\)"),
    (lambda z, m: m @ z, "your function stops"),
]


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        *((check_largest_weight, *case) for case in LARGEST),
        *((check_general_keys, *case) for case in KEYS),
        *((check_positions, *case) for case in POSITIONS),
    ],
)
def test_a_wrong_answer_gets_the_hint_at_its_cause(
    check: Callable[[Answer], None], answer: Answer, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(answer)
    assert capsys.readouterr().out == ""
