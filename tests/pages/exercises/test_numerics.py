"""Checks of "Softmax in floating point, and in blocks": wrong gets the hint at its cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from companion.pages.exercises.numerics import (
    check_additive,
    check_softmax,
)

Answer = Callable[..., Any]


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


def make_additive(penalty: float = -math.inf, joined: Answer = np.logical_and) -> Answer:
    def additive(causal: Any, padding: Any) -> Any:
        allowed = np.broadcast_to(joined(causal, padding), causal.shape)
        return np.where(allowed, 0, penalty).astype(np.float16)

    return additive


def multiplied(causal: Any, padding: Any) -> Any:
    return (1 - (causal & padding).astype(np.float16)) * np.float16(-1e9)


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_softmax, make_softmax()),
        (check_additive, make_additive()),
        (check_additive, make_additive(float(np.finfo(np.float16).min))),
    ],
)
def test_the_right_answer_passes(
    check: Answer, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    check(answer)
    assert capsys.readouterr().out == "Right.\n"


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

ADDITIVE: list[tuple[Answer, str]] = [
    (multiplied, "0 times infinity"),
    (lambda causal, padding: ~make_additive(0)(causal, padding).astype(bool), "array of bool"),
    (
        lambda causal, padding: np.where(causal & padding, -np.inf, 0).astype(np.float16),
        "got the penalty",
    ),
    (make_additive(joined=np.logical_or), "needs both"),
    (make_additive(joined=lambda causal, padding: causal), "padding mask is missing"),
    (make_additive(joined=lambda causal, padding: padding), "causal mask is missing"),
    (make_additive(-100.0), "got -100: too little"),
    (lambda causal, padding: make_additive()(causal, padding) + np.float16(1), "exactly 0"),
    (lambda causal, padding: make_additive()(causal, padding)[0], r"wanted \(q, k\)"),
    (lambda causal, padding: None, "end in a return"),
    (lambda causal: causal, "your function stops"),
]


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        *((check_softmax, *case) for case in SOFTMAX),
        *((check_additive, *case) for case in ADDITIVE),
    ],
)
def test_a_wrong_answer_gets_the_hint_at_its_cause(
    check: Answer, answer: Answer, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(answer)
    assert capsys.readouterr().out == ""
