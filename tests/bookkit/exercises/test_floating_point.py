"""The checks of "Softmax in floating point": right answers pass, wrong ones get their hint."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from bookkit.exercises.answers import Answer
from bookkit.exercises.floating_point import (
    check_ends,
    check_large,
    check_softmax,
    check_sums_narrowly,
)


def make_softmax(
    *,
    subtract: str = "allowed",
    upside_down: bool = False,
    penalty: float = -math.inf,
    guard: bool = True,
) -> Answer:
    """A masked softmax with loops over rows, one of its parts possibly wrong."""

    def softmax(scores: Any, mask: Any) -> Any:
        weights = np.zeros_like(scores)
        for i, (row, allowed) in enumerate(zip(scores, mask != upside_down, strict=True)):
            row = np.where(allowed, row, penalty)
            if guard and not (row > -math.inf).any():
                continue
            highest = {"allowed": row.max(), "all": scores[i].max(), "nothing": 0.0}[subtract]
            powers = np.exp(row - highest)
            weights[i] = powers / powers.sum()
        return weights

    return softmax


def plain(scores: Any) -> Any:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def ends(scores: Any) -> str:
    powers = np.exp(scores)
    weights = powers / powers.sum()
    if np.isnan(weights).any():
        return "NaN"
    return "weights" if weights.any() else "zeros"


def sums_narrowly(attention: Answer, keys: int = 4096, value: float = 1.0) -> bool:
    key = torch.zeros(keys, 8, dtype=torch.bfloat16)
    values = torch.full((keys, 1), value, dtype=torch.bfloat16)
    return bool(attention(key[:1], key, values).item() != value)


def only_overflow(scores: Any) -> str:
    return "NaN" if scores.max() > 11.1 else "weights"


def test_right_answers_pass(capsys: pytest.CaptureFixture[str]) -> None:
    check_ends(ends)
    check_large([0.04, 0.11, 0.84], 1003.17)
    check_softmax(make_softmax())
    check_sums_narrowly(sums_narrowly)
    assert capsys.readouterr().out == 4 * "Right.\n"


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (only_overflow, "six of them are too large a sum"),
        (lambda scores: ends(scores.astype(np.float64)), 'wanted "zeros"'),
        (lambda scores: ends(scores - scores.max()), 'got "weights", wanted "zeros"'),
        (lambda scores: "NaN" if scores.max() > 9 else "weights", "six of them"),
        (lambda scores: None, "end in a return"),
        (lambda scores: 3, 'wanted "weights"'),
    ],
)
def test_a_wrong_ending_gets_a_hint(answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_ends(answer)


@pytest.mark.parametrize(
    ("weights", "lse", "hint"),
    [
        ([0.05, 0.14, 1.0], 1003.17, "divide each by their sum"),
        ([0.84, 0.11, 0.04], 1003.17, "turned around"),
        ([0.333, 0.333, 0.334], 1003.17, "are not the weights"),
        ([0.04, 0.11, 0.84], 0.17, "add the largest score again"),
        ([0.04, 0.11, 0.84], 1003, "the two others add something"),
        ([0.04, 0.11, 0.84], 1004.185, "take its logarithm"),
    ],
)
def test_a_wrong_number_by_hand_gets_a_hint(weights: Any, lse: float, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_large(weights, lse)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda attention: sums_narrowly(attention, keys=200), "more than 256 keys"),
        (lambda attention: True, "is accused"),
        (lambda attention: 1, "wanted True or False"),
        (lambda attention: None, "end in a return"),
    ],
)
def test_a_wrong_test_of_sums_gets_a_hint(answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_sums_narrowly(answer)


SOFTMAX: list[tuple[Answer, str]] = [
    (make_softmax(upside_down=True), "upside down"),
    (lambda scores, mask: plain(scores), "mask is missing"),
    (lambda scores, mask: plain(scores) * mask, "before the softmax"),
    (lambda scores, mask: plain(scores * mask), "needs -inf"),
    (lambda scores, mask: make_softmax()(scores.T, mask.T).T, "axis of the keys"),
    (make_softmax(guard=False), "row with nothing allowed is NaN"),
    (make_softmax(penalty=-1e9), "averages all keys"),
    (make_softmax(subtract="nothing"), "not all weights are finite with scores near 1000"),
    (make_softmax(subtract="all"), "subtract the largest of the allowed"),
    (lambda scores, mask: 2 * make_softmax()(scores, mask), "the weights are not$"),
    (lambda scores, mask: scores[0], r"wanted \(q, k\), \(4, 6\)"),
    (lambda scores, mask: None, "end in a return"),
    (lambda scores, mask: "a", "wanted an array"),
    (lambda scores: scores, "your function stops"),
]


@pytest.mark.parametrize(("answer", "hint"), SOFTMAX)
def test_a_wrong_softmax_gets_the_hint_at_its_cause(answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_softmax(answer)
