"""The check functions of "Many heads": a wrong answer gets the hint at its cause."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import pytest
import torch

from bookkit.exercises.heads import (
    check_cut,
    check_gap,
    check_mixes_words,
    check_one_head,
)

Answer = Callable[..., Any]


def gap(weights: list[float]) -> float:
    blends = sorted(
        sum(w * bit for w, bit in zip(weights, bits, strict=True))
        for bits in product((0, 1), repeat=len(weights))
    )
    return min(b - a for a, b in pairwise(blends))


RIGHT = [[3, 4], [7, 8], [11, 12]]
VIEWED = [[7, 8], [9, 10], [11, 12]]
ORDER = [5, 2, 0, 4, 1, 3]


def mixes_words(layer: Answer) -> bool:
    x = torch.randn(1, 6, 8, dtype=torch.float64)
    return not torch.allclose(layer(x[:, ORDER]), layer(x)[:, ORDER])


def sees_far_words(layer: Answer) -> bool:
    """A test that some wrong layers pass."""
    seeded = torch.Generator().manual_seed(0)
    x = torch.randn(1, 6, 8, generator=seeded, dtype=torch.float64)
    other = x.clone()
    other[:, 5] += 1
    return torch.allclose(layer(other)[:, 0], layer(x)[:, 0])


BINARY = [8 / 15, 4 / 15, 2 / 15, 1 / 15]


def decode(blend: list[float]) -> list[int]:
    found = []
    for weight in BINARY:
        best = max(range(3), key=blend.__getitem__)
        blend[best] -= weight
        found.append(best)
    return found


@pytest.mark.parametrize(
    ("check", "answers"),
    [
        (check_gap, (gap,)),
        (check_cut, (RIGHT, VIEWED)),
        (check_one_head, (BINARY, decode)),
        (check_one_head, (torch.tensor(BINARY), lambda blend: torch.tensor(decode(blend)))),
        (check_mixes_words, (mixes_words,)),
        (check_mixes_words, (lambda layer: torch.tensor(mixes_words(layer)),)),
    ],
)
def test_the_right_answer_passes(
    check: Answer, answers: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    check(*answers)
    assert capsys.readouterr().out == "Right.\n"


GAP: list[tuple[Answer, str]] = [
    (lambda w: 1.0, "that is the largest distance"),
    (min, "that is the smallest weight"),
    (lambda w: 17.0, "which is not it"),
    (lambda w: None, "end in a return"),
    (lambda: 0, "your function stops"),
]

CUT: list[tuple[Any, Any, str]] = [
    ([[1, 2], [5, 6], [9, 10]], VIEWED, "transposed: that is the first head"),
    (VIEWED, VIEWED, "transposed: that is what the other cut gives"),
    (RIGHT, RIGHT, "viewed: that is what the other cut gives"),
    ([[3, 7, 11], [4, 8, 12]], VIEWED, "three rows of two"),
    (RIGHT, [[1, 2], [3, 4], [5, 6]], "viewed: that is the first head"),
    (None, VIEWED, "transposed: got nothing yet"),
    ("rows", VIEWED, "wanted three rows"),
    (RIGHT, [[1, 2], [3]], "viewed: got a list, wanted three rows"),
]

ONE_HEAD: list[tuple[Any, Answer, str]] = [
    ([0.25] * 4, decode, "equal weights cannot say"),
    ([0.5, 0.3, 0.15, 0.05], decode, "sum to as much as others"),
    ([0.4, 0.3, 0.2, 0.1], decode, "sum to as much as others"),
    (BINARY, lambda blend: [0, 0, 0], "a list, wanted 4 classes"),
    (BINARY, lambda blend: decode(blend)[::-1], "the order of the questions counts"),
    (BINARY, lambda blend: [0, 0, 0, 0], r"decode: got \(0, 0, 0, 0\) for the classes"),
    (BINARY, lambda blend: None, "end in a return"),
    (BINARY, lambda: None, "your function stops"),
    (BINARY[:3], decode, "got 3, wanted 4"),
    ([2, 1, -1, -1], decode, "positive numbers that sum to 1"),
    ([8, 4, 2, 1], decode, "positive numbers that sum to 1"),
    ("half", decode, "wanted 4 numbers"),
    (None, decode, "wanted 4 numbers"),
]

MIXES: list[tuple[Answer, str]] = [
    (lambda layer: False, "does not see it"),
    (lambda layer: True, "do no wrong"),
    (sees_far_words, "does not see it"),
    (lambda layer: 1, "wanted True or False"),
    (lambda layer: None, "end in a return"),
    (lambda: True, "your function stops"),
]


@pytest.mark.parametrize(
    ("check", "answers", "hint"),
    [
        *((check_gap, case[:-1], case[-1]) for case in GAP),
        *((check_cut, case[:-1], case[-1]) for case in CUT),
        *((check_one_head, case[:-1], case[-1]) for case in ONE_HEAD),
        *((check_mixes_words, case[:-1], case[-1]) for case in MIXES),
    ],
)
def test_a_wrong_answer_gets_the_hint_at_its_cause(
    check: Answer, answers: tuple[Any, ...], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(*answers)
    assert capsys.readouterr().out == ""
