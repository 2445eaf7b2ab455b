"""The check functions of "Position": wrong gets the hint at its cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bookkit.exercises.position import (
    check_bias,
    check_same_word,
    check_step,
    check_turn,
)

Answer = Callable[..., Any]


def blended(scores: Any, value: Any) -> Any:
    powers = [[math.exp(score) for score in row] for row in scores]
    return [[sum(row) / sum(row) * number for number in value] for row in powers]


def across(scores: Any) -> Any:
    powers = np.exp(scores)
    return powers / powers.sum(0)


def bias(slopes: Any, new: int, cached: int) -> Any:
    return [
        [[-slope * (cached + i - j) for j in range(cached + new)] for i in range(new)]
        for slope in slopes
    ]


def turned(x: Any, place: int) -> Any:
    """Turn one row, half-split, with numbers."""
    d = len(x)
    found = [0.0] * d
    for i in range(d // 2):
        angle = place * 10_000.0 ** (-2 * i / d)
        a, b = x[i], x[i + d // 2]
        found[i] = a * math.cos(angle) - b * math.sin(angle)
        found[i + d // 2] = b * math.cos(angle) + a * math.sin(angle)
    return np.array(found)


def make_step(
    query_at: int | None = None,
    key_at: int | None = None,
    again: bool = False,
    values_too: str = "",
    itself: bool = True,
) -> Answer:
    def step(query: Any, key: Any, value: Any, keys: Any, values: Any) -> Any:
        n, d = keys.shape
        q = turned(query[0], n if query_at is None else query_at)
        new = turned(key[0], n if key_at is None else key_at)
        rows = [turned(row, i) if again else row for i, row in enumerate(keys)]
        rows, blend = [*rows, new], [*values, value[0]]
        if values_too:
            places = range(n + 1) if values_too == "all" else [n]
            for i in places:
                blend[i] = turned(blend[i], i)
        if not itself:
            rows, blend = rows[:-1], blend[:-1]
        weights = np.array([math.exp(q @ row / math.sqrt(d)) for row in rows])
        return (weights / weights.sum() @ np.array(blend))[None]

    return step


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_same_word, blended),
        (check_bias, bias),
        (check_step, make_step()),
    ],
)
def test_the_right_answer_passes(
    check: Answer, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    check(answer)
    assert capsys.readouterr().out == "Right.\n"


WRONG: list[tuple[Answer, Answer, str]] = [
    (check_same_word, lambda s, v: v, "one row for each"),
    (check_same_word, lambda s, v: s @ np.tile(v, (len(s), 1)), "take the softmax first"),
    (check_same_word, lambda s, v: across(s) @ np.tile(v, (len(s), 1)), "over the keys"),
    (check_same_word, lambda s, v: len(s) * np.tile(v, (len(s), 1)), "not the sum"),
    (check_same_word, lambda s, v: None, "end in a return"),
    (check_same_word, lambda s, v: -np.tile(v, (len(s), 1)), "the numbers are not"),
    (check_bias, lambda s, n, c: -np.array(bias(s, n, c)), "a far key has to lose"),
    (
        check_bias,
        lambda s, n, c: np.array(bias(s, n, c)) + c * s[:, None, None],
        "stands at place `cached`",
    ),
    (check_bias, lambda s, n, c: bias(np.ones_like(s), n, c), "its own slope"),
    (check_bias, lambda s, n, c: bias(s, n, 0), "keys are all words so far"),
    (check_bias, lambda s, n, c: np.zeros((len(s), n, c + n)), "the numbers are not"),
    (check_step, make_step(query_at=0), "^query: the new word stands"),
    (check_step, make_step(key_at=0), "^key: the new word stands"),
    (check_step, make_step(query_at=0, key_at=0), "^query and key: the new word"),
    (check_step, make_step(again=True), "rotated already: rotate the new key"),
    (check_step, make_step(query_at=0, again=True), "rotated already, and the new query"),
    (check_step, make_step(values_too="all"), "^values are not rotated"),
    (check_step, make_step(values_too="new"), "the new value is not rotated"),
    (check_step, make_step(itself=False), "attends to itself"),
    (check_step, lambda q, k, v, ks, vs: v, "the numbers are not"),
    (check_step, lambda q, k, v, ks, vs: v[0], r"got shape \(6,\), wanted \(1, 6\)"),
]


@pytest.mark.parametrize(("check", "answer", "hint"), WRONG)
def test_a_wrong_answer_gets_its_hint(check: Answer, answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(answer)


def test_turning_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    check_turn((-1, 3), [1, -2], -7, -7.0)
    assert capsys.readouterr().out == "Right.\n"


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (((1, -3), (1, -2), -7, -7), "^query: that turns the other way"),
        (((-3, -1), (1, -2), -7, -7), "^query: the query stands at position 1"),
        (((-1, 3), (-1, 2), -7, -7), "^key: that turns the other way"),
        (((-1, 3), (-1, 2.5), -7, -7), "^key: .*not"),
        (((-1, 3), (-2, -1), -7, -7), "^key: the key stands at position 3"),
        (((-1, 3), (1, -2), 7, -7), "^score: that is the product of the two before they turn"),
        (((-1, 3), (1, -2), -5, -7), "^score: first times first"),
        (((-1, 3), (1, -2), -7 / math.sqrt(2), -7), "^score: the product is not divided"),
        (((-1, 3), (1, -2), -7, 7), "^later: both turn by the same angle"),
        ((None, (1, -2), -7, -7), "^query: got"),
    ],
)
def test_turning_by_hand_hints_at_the_cause(given: Any, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_turn(*given)
