"""The check functions of "Masks": what is wrong gets the hint at its cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bookkit.exercises.masks import (
    check_dead_rows,
    check_row,
    check_sees_the_future,
    check_window,
)

Answer = Callable[..., Any]


def dead_rows(mask: Any) -> int:
    return sum(not any(row) for row in mask)


PACKED = [0, 0, 0.035, 0.259, 0.705, 0]
LEAKING = [0, 0, 0.021, 0.152, 0.414, 0.414]


def make_window(before: int = 1, after: int = 0, shifted: bool = True) -> Answer:
    """The mask of a window by loops: `before` is taken off w, `after` keys lie behind."""

    def window(q_len: int, k_len: int, w: int) -> Any:
        mask = np.zeros((q_len, k_len), dtype=bool)
        for i in range(q_len):
            place = i + (k_len - q_len if shifted else 0)
            for j in range(k_len):
                mask[i, j] = place - w + before <= j <= place + after
        return mask

    return window


def look(last: int = 6, *, first: int = 1, before_only: bool = True) -> Answer:
    """Change the letters from `first` to `last`, one at a time, and compare what came before."""

    def sees(model: Any, letters: Any) -> bool:
        given = model(letters)
        for t in range(first, last):
            other = letters.copy()
            other[t] += 1
            moved = (model(other) != given).any(-1)
            if (moved[:t] if before_only else moved).any():
                return True
        return False

    return sees


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_dead_rows, (dead_rows,)),
        (check_row, (PACKED, LEAKING)),
        (check_window, (make_window(),)),
        (check_sees_the_future, (look(),)),
    ],
)
def test_the_right_answer_passes(
    check: Answer, answer: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    check(*answer)
    assert capsys.readouterr().out == "Right.\n"


WINDOW: list[tuple[Answer, str]] = [
    (make_window(before=0), r"that is w \+ 1 keys"),
    (make_window(before=2), "that is w - 1 keys"),
    (make_window(shifted=False), "the last query stands at the last key"),
    (make_window(before=0, shifted=False), r"that is w \+ 1 keys"),
    (lambda q, k, w: make_window(1, w - 1)(q, k, w), "are the future"),
    (lambda q, k, w: make_window(-99)(q, k, w), "without a left end"),
    (lambda q, k, w: ~make_window()(q, k, w), "upside down"),
    (lambda q, k, w: make_window()(q, k, w) & False, "the mask is not"),
    (lambda q, k, w: make_window()(q, k, w).astype(int), "got int64, wanted a boolean"),
    (lambda q, k, w: make_window()(q, k, w).T[:2], r"wanted \(q, k\)"),
    (lambda q, k, w: None, "end in a return"),
    (lambda q: q, "your function stops"),
]

ROWS: list[tuple[Any, Any, str]] = [
    ([0.093, 0.013, 0.034, 0.252, 0.608, 0], LEAKING, "packed: .*another text|packed: the shape"),
    (np.exp([0, -2, -1, 1, 2, 2]) / np.exp([0, -2, -1, 1, 2, 2]).sum() * [0, 0, 1, 1, 1, 0],
     LEAKING, "packed: a blocked key gets 0"),
    ([0, 0, 0.37, 2.72, 7.39, 0], LEAKING, "packed: those are the exponentials"),
    (LEAKING, LEAKING, "packed: house comes after new"),
    (PACKED, PACKED, "leaking: with the ring open"),
    (PACKED, [0.1] * 6, "leaking: the shape is right"),
]  # fmt: skip

LOOKS: list[tuple[Answer, str]] = [
    (lambda *_: False, "open by one position"),
    (lambda *_: True, "a causal model is accused"),
    (look(before_only=False), "a causal model is accused"),
    (look(4), "letter 0 sees letter 4"),
    (lambda model, letters: 1.0, "wanted True or False"),
]

DEAD: list[tuple[Answer, str]] = [
    (lambda mask: dead_rows(mask.T), "no query sees"),
    (lambda mask: sum(not all(row) for row in mask), "some cell is blocked"),
    (lambda mask: len(mask) - dead_rows(mask), "see something"),
    (lambda mask: (~mask).sum(), "cells that are blocked"),
    (lambda mask: 99, "got 99 dead rows"),
]


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        *((check_dead_rows, (answer,), hint) for answer, hint in DEAD),
        *((check_row, given, hint) for *given, hint in ROWS),
        *((check_window, (answer,), hint) for answer, hint in WINDOW),
        *((check_sees_the_future, (answer,), hint) for answer, hint in LOOKS),
    ],
)
def test_a_wrong_answer_gets_the_hint_at_its_cause(
    check: Answer, answer: tuple[Any, ...], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(*answer)
    assert capsys.readouterr().out == ""
