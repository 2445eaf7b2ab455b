"""The check functions of "Blocks and tiles": what is wrong gets the hint at its cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bookkit.exercises.tiles import (
    check_depends_on_blocks,
    check_halves,
    check_merge,
    check_rescales,
)

Answer = Callable[..., Any]

FIRST, SECOND, BOTH = [0, 1.74, -1.00], [1, 2.37, 1.74], [1, 3.01, 1.37]
HALVES = (FIRST, SECOND, BOTH, 0.46)


def tops(scores: Any, size: int) -> list[float]:
    return [max(scores[first : first + size]) for first in range(0, len(scores), size)]


def rescales(scores: Any, size: int) -> int:
    highest, count = -math.inf, -1
    for top in tops(scores, size):
        count += top > highest
        highest = max(highest, top)
    return count


def merge(output: Any, lse: Any, other_output: Any, other_lse: Any) -> Any:
    """Row by row, with the logarithm of a sum from NumPy."""
    total = np.logaddexp(lse, other_lse)
    merged = np.zeros_like(output)
    for i, whole in enumerate(total):
        if whole > -math.inf:
            merged[i] = math.exp(lse[i] - whole) * output[i]
            merged[i] += math.exp(other_lse[i] - whole) * other_output[i]
    return merged, total


def unsafe_merge(one: Any, lse: Any, two: Any, other: Any) -> Any:
    a, b = np.exp(lse), np.exp(other)
    return (a[:, None] * one + b[:, None] * two) / (a + b)[:, None], np.log(a + b)


def with_lse(change: Answer) -> Answer:
    return lambda one, lse, two, other: (merge(one, lse, two, other)[0], change(lse, other))


def with_output(change: Answer) -> Answer:
    return lambda one, lse, two, other: (
        change(one, lse, two, other),
        merge(one, lse, two, other)[1],
    )


def looks(
    *, last: float = 3.0, early: float = 1.0, sizes: tuple[int, ...] = (1, 2, 3), near: bool = True
) -> Answer:
    """Compare the answers in blocks with the one at once; `last` is the largest score."""
    scores, values = np.array([0.0, 0.5, 1.0, last]), np.array([early, early, 0.0, 2.0])

    def depends_on_blocks(attention: Any) -> bool:
        whole = attention(scores, values, 4)
        found = [attention(scores, values, size) for size in sizes]
        return any(abs(one - whole) > 1e-9 if near else one != whole for one in found)

    return depends_on_blocks


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_rescales, (rescales,)),
        (check_halves, HALVES),
        (check_merge, (merge,)),
        (check_depends_on_blocks, (looks(),)),
    ],
)
def test_the_right_answer_passes(
    check: Answer, answer: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    check(*answer)
    assert capsys.readouterr().out == "Right.\n"


RESCALES: list[tuple[Answer, str]] = [
    (lambda scores, size: rescales(scores, size) + 1, "the first block finds nothing"),
    (lambda scores, size: len(tops(scores, size)) - 1, "all blocks after the first"),
    (
        lambda scores, size: sum(
            one >= max(tops(scores, size)[:at]) for at, one in enumerate(tops(scores, size)) if at
        ),
        "the same maximum changes nothing",
    ),
    (lambda scores, size: int((np.diff(tops(scores, size)) > 0).sum()), "all blocks so far"),
    (lambda scores, size: rescales(scores, 1), "not the blocks"),
    (lambda scores, size: 17, "got 17"),
    (lambda scores, size: None, "end in a return"),
]

WRONG_HALVES: list[tuple[tuple[Any, ...], str]] = [
    (([0, 1.74, -0.57], SECOND, BOTH, 0.46), "first: the third is a blend"),
    ((FIRST, [0, 6.44, 4.72], BOTH, 0.46), "second: subtract the maximum"),
    ((FIRST, SECOND, [1, 4.10, 0.74], 0.46), "both: the half with the smaller maximum"),
    ((FIRST, SECOND, [1, 3.5, 1.37], 0.46), "both: the shape is right"),
    ((FIRST, SECOND, BOTH, 0.08), "not alike"),
    ((FIRST, SECOND, BOTH, 1.37), "divide it by the sum"),
    ((FIRST, SECOND, BOTH, 0.9), "answer: got 0.9"),
    (([0, 1.74], SECOND, BOTH, 0.46), "first: got shape"),
]

MERGE: list[tuple[Answer, str]] = [
    (with_output(lambda one, lse, two, other: (one + two) / 2), "not alike"),
    (with_output(lambda one, lse, two, other: one + two), "a mean already"),
    (
        with_output(
            lambda one, lse, two, other: (
                (lse[:, None] * one + other[:, None] * two) / (lse + other)[:, None]
            )
        ),
        "its exponential is the weight",
    ),
    (with_output(lambda one, lse, two, other: merge(one, other, two, lse)[0]), "exchanged"),
    (with_output(lambda one, lse, two, other: 7 * one), "output: the shape is right"),
    (with_lse(lambda lse, other: lse + other), "not their logarithms"),
    (with_lse(np.maximum), "the larger one"),
    (with_lse(lambda lse, other: np.exp(lse) + np.exp(other)), "its logarithm is wanted"),
    (with_lse(lambda lse, other: np.log1p(np.exp(-abs(lse - other)))), "added back"),
    (with_lse(lambda lse, other: lse - other), "lse: the shape is right"),
    (unsafe_merge, "NaN with log-sum-exps near 900"),
    (lambda one, lse, two, other: one, "wanted two arrays"),
    (lambda one, lse, two, other: (one[0], lse), r"output: got shape \(3,\)"),
    (lambda one, lse, two, other: None, "end in a return"),
    (lambda one: one, "your function stops"),
]

ORDER: list[tuple[Answer, str]] = [
    (looks(near=False), "allow for rounding errors"),
    (looks(last=-1.0, sizes=(4,)), "let the largest score come last"),
    (looks(early=0.0), "the first values must not be 0|blend and not the sum"),
    (looks(sizes=(1,)), "try larger ones as well"),
    (looks(sizes=(3,)), "only once is not found"),
    (lambda attention: 3, "wanted True or False"),
    (lambda: True, "your function stops"),
]


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        *((check_rescales, (answer,), hint) for answer, hint in RESCALES),
        *((check_halves, answer, hint) for answer, hint in WRONG_HALVES),
        *((check_merge, (answer,), hint) for answer, hint in MERGE),
        *((check_depends_on_blocks, (answer,), hint) for answer, hint in ORDER),
    ],
)
def test_a_wrong_answer_gets_the_hint_at_its_cause(
    check: Answer, answer: tuple[Any, ...], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(*answer)
    assert capsys.readouterr().out == ""
