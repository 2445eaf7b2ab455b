"""The check functions of the evidence for "Position": wrong gets the hint at its cause."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bookkit.exercises.position_evidence import check_layout, check_shift

Answer = Callable[..., Any]


def make_shift(
    sign: int = 1, frequency: Callable[[int, int], float] = lambda i, e: 10_000.0 ** (-2 * i / e)
) -> Answer:
    """Multiply by complex numbers: cosine and sine are real and imaginary part."""

    def shift(encoding: Any, distance: int) -> Any:
        moved = np.zeros_like(encoding)
        for (n, i), _ in np.ndenumerate(encoding[:, ::2]):
            sine, cosine = encoding[n, 2 * i], encoding[n, 2 * i + 1]
            turn = cmath.rect(1, sign * distance * frequency(i, encoding.shape[1]))
            number = complex(cosine, sine) * turn
            moved[n, 2 * i], moved[n, 2 * i + 1] = number.imag, number.real
        return moved

    return shift


def halves(encoding: Any, distance: int) -> Any:
    """Take the two halves for sines and cosines."""
    e = encoding.shape[1]
    angle = distance * 10_000.0 ** (-2 * np.arange(e // 2) / e)
    sine, cosine = encoding[:, : e // 2], encoding[:, e // 2 :]
    return np.hstack(
        [
            sine * np.cos(angle) + cosine * np.sin(angle),
            cosine * np.cos(angle) - sine * np.sin(angle),
        ]
    )


def convert(weight: Any, num_heads: int) -> Any:
    d = len(weight) // num_heads
    rows = [
        head * d + 2 * i + half
        for head in range(num_heads)
        for half in (0, 1)
        for i in range(d // 2)
    ]
    return weight[rows]


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_shift, make_shift()),
        (check_layout, convert),
    ],
)
def test_the_right_answer_passes(
    check: Answer, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    check(answer)
    assert capsys.readouterr().out == "Right.\n"


WRONG: list[tuple[Answer, Answer, str]] = [
    (check_shift, make_shift(sign=-1), "moves back where it should move on"),
    (check_shift, lambda e, t: np.roll(e, -t, axis=0), "the rows are moved"),
    (check_shift, halves, "not in two halves"),
    (check_shift, make_shift(frequency=lambda i, e: 1.0), "every pair turns by its own angle"),
    (check_shift, make_shift(frequency=lambda i, e: 1e4 ** (-i / e)), "frequencies fall like"),
    (check_shift, lambda e, t: e, "the numbers are not"),
    (check_shift, lambda e, t: e[1:], r"got shape \(6, 6\), wanted \(7, 6\)"),
    (check_shift, lambda e, t: None, "end in a return"),
    (check_shift, lambda e: e, "your function stops"),
    (check_shift, lambda e, t: "moved", "wanted an array"),
    (check_layout, lambda w, h: w, "nothing has moved"),
    (check_layout, lambda w, h: convert(w, 1), "within every head"),
    (
        check_layout,
        lambda w, h: w[np.argsort(convert(np.arange(len(w)), h))],
        "the way back",
    ),
    (check_layout, lambda w, h: -w, "the numbers are not"),
]


@pytest.mark.parametrize(("check", "answer", "hint"), WRONG)
def test_a_wrong_answer_gets_its_hint(check: Answer, answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(answer)
