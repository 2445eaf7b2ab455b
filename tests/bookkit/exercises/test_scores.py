"""The check functions of "Scores, and why the square root": wrong gets the hint at its cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bookkit.exercises.scores import (
    check_attention,
    check_circle,
    check_doubled,
    check_start_and_rate,
)

Answer = Callable[..., Any]


def start_and_rate(scale: float, optimizer: str) -> tuple[float, float]:
    start = scale**0.5
    return start, start if optimizer == "adam" else scale


def circle(n: int = 12, length: float = 7.0) -> Any:
    angle = 2 * math.pi * np.arange(n) / n
    return length * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def make_attention(
    factor: Callable[[int, int], float] = lambda h, d: d**-0.5,
    order: str = "scale cap mask",
    after: float = 1.0,
) -> Answer:
    """Attention with loops over heads and queries, one of its parts possibly wrong."""

    def attention(query: Any, key: Any, value: Any, mask: Any, softcap: float) -> Any:
        h, q, d = query.shape
        output = np.zeros((h, q, value.shape[-1]))
        for head in range(h):
            for i in range(q):
                row = key[head] @ query[head, i]
                for step in order.split():
                    if step == "scale":
                        row = row * factor(h, d)
                    elif step == "cap":
                        row = softcap * np.tanh(row / softcap)
                    elif step == "tanh":
                        row = np.tanh(row / softcap)
                    else:
                        row = np.where(mask[i] == (step == "mask"), row, -math.inf)
                weights = np.exp(row - row.max())
                output[head, i] = after * weights @ value[head] / weights.sum()
        return output

    return attention


@pytest.mark.parametrize(
    ("check", "answers"),
    [
        (check_doubled, ([3.0, 5.0, 4.0], 1.41)),
        (check_doubled, (np.array([3, 5, 4]), 2**0.5)),
        (check_start_and_rate, (start_and_rate,)),
        (check_circle, (circle(), circle())),
        (check_circle, (circle(length=100.0).tolist(), circle(length=1.0).tolist())),
        (check_attention, (make_attention(),)),
    ],
)
def test_the_right_answer_passes(
    check: Answer, answers: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    check(*answers)
    assert capsys.readouterr().out == "Right.\n"


DOUBLED: list[tuple[Any, Any, str]] = [
    ([6, 10, 8], 1.41, "scores: these are not divided"),
    ([4.24, 7.07, 5.66], 1.41, "its root is 2"),
    ([1.5, 2.5, 2.0], 1.41, "its root is 2"),
    ([2.12, 3.54, 2.83], 1.41, "written once"),
    ([3, 5], 1.41, r"wanted \(3,\)"),
    ([3, 5, 5], 1.41, "scores: "),
    ([3, 5, 4], 2, "factor: that is the factor of the dot products"),
    ([3, 5, 4], 0.7071, "divide the new scores by the old ones"),
    ([3, 5, 4], 1, "grows less than that"),
    ([3, 5, 4], 9, "factor: got 9"),
    (None, 1.41, "got nothing"),
]

START_AND_RATE: list[tuple[Answer, str]] = [
    (lambda c, o: (c, c), "multiplied by its square"),
    (lambda c, o: (c**-0.5, c), "smaller, not larger"),
    (lambda c, o: (1.0, c), "the first scores"),
    (lambda c, o: (3.0, c), "start: got 3"),
    (lambda c, o: (c**0.5, c**0.5), "rate of sgd: the gradient changes, too"),
    (lambda c, o: (c**0.5, c), "rate of adam: a step of Adam"),
    (lambda c, o: (c**0.5, c**-0.5), "as much smaller"),
    (lambda c, o: (c**0.5, 1 / c), "as much smaller"),
    (lambda c, o: (c**0.5, 1.0), "as much smaller"),
    (lambda c, o: (c**0.5, 7.0), "rate of sgd: got 7"),
    (lambda c, o: c, "wanted two factors"),
    (lambda c, o: None, "end in a return"),
    (lambda c, o: ("a", 1.0), "wanted a number"),
]

CIRCLE: list[tuple[Any, Any, str]] = [
    (np.eye(12), np.eye(12), r"got shape \(12, 12\), wanted \(12, 2\)"),
    (circle().T, circle().T, "one vector a row"),
    (circle(), circle(length=1.0) * np.linspace(1, 9, 12)[:, None], "give all keys one length"),
    (circle(), np.roll(circle(), 1, axis=0), "point where its key points"),
    (circle(length=1.0), circle(length=1.0), "longer vectors"),
    (circle() * math.nan, circle(), "finite"),
    ("a", circle(), "wanted numbers"),
]

ATTENTION: list[tuple[Answer, str]] = [
    (make_attention(lambda h, d: 1.0), "nothing is scaled"),
    (make_attention(lambda h, d: 1 / d), "square root is missing"),
    (make_attention(lambda h, d: d**0.5), "instead of divided"),
    (make_attention(lambda h, d: (h * d) ** -0.5), "that of one head"),
    (make_attention(lambda h, d: (h * d * d) ** -0.5), "scaled twice: query"),
    (make_attention(order="cap scale mask"), "after the scale"),
    (make_attention(order="scale mask"), "softcap is missing"),
    (make_attention(order="scale tanh mask"), "does not multiply"),
    (make_attention(order="scale mask cap"), "gets weight$"),
    (make_attention(lambda h, d: (h * d) ** -0.5, "scale mask cap"), "and the scale is not"),
    (make_attention(lambda h, d: (h * d * d) ** -0.5, "scale mask cap"), "and it is scaled twice"),
    (make_attention(order="scale cap"), "mask is missing"),
    (make_attention(order="scale cap other"), "upside down"),
    (make_attention(order="cap mask", after=5**-0.5), "after the softmax"),
    (make_attention(after=2.0), "the numbers are not"),
    (lambda *given: given[0], r"wanted \(h, q, v\)"),
    (lambda *given: None, "end in a return"),
    (lambda *given: "a", "wanted an array"),
    (lambda *given: given[7], "your function stops"),
]


@pytest.mark.parametrize(
    ("check", "answers", "hint"),
    [
        *((check_doubled, case[:-1], case[-1]) for case in DOUBLED),
        *((check_start_and_rate, case[:-1], case[-1]) for case in START_AND_RATE),
        *((check_circle, case[:-1], case[-1]) for case in CIRCLE),
        *((check_attention, case[:-1], case[-1]) for case in ATTENTION),
    ],
)
def test_a_wrong_answer_gets_the_hint_at_its_cause(
    check: Answer, answers: tuple[Any, ...], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(*answers)
    assert capsys.readouterr().out == ""
