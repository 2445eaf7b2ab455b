"""The check functions of "Position": wrong gets the hint at its cause."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from companion.pages.exercises.position import check_bias, check_layout, check_shift, check_step

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


def bias(slopes: Any, new: int, cached: int) -> Any:
    return [
        [[-slope * (cached + i - j) for j in range(cached + new)] for i in range(new)]
        for slope in slopes
    ]


def convert(weight: Any, num_heads: int) -> Any:
    d = len(weight) // num_heads
    rows = [
        head * d + 2 * i + half
        for head in range(num_heads)
        for half in (0, 1)
        for i in range(d // 2)
    ]
    return weight[rows]


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
        (check_shift, make_shift()),
        (check_bias, bias),
        (check_layout, convert),
        (check_step, make_step()),
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
    (check_bias, lambda s, n, c: -np.array(bias(s, n, c)), "a far key has to lose"),
    (
        check_bias,
        lambda s, n, c: np.array(bias(s, n, c)) + c * s[:, None, None],
        "stands at place `cached`",
    ),
    (check_bias, lambda s, n, c: bias(np.ones_like(s), n, c), "its own slope"),
    (check_bias, lambda s, n, c: bias(s, n, 0), "keys are all words so far"),
    (check_bias, lambda s, n, c: np.zeros((len(s), n, c + n)), "the numbers are not"),
    (check_layout, lambda w, h: w, "nothing has moved"),
    (check_layout, lambda w, h: convert(w, 1), "within every head"),
    (
        check_layout,
        lambda w, h: w[np.argsort(convert(np.arange(len(w)), h))],
        "the way back",
    ),
    (check_layout, lambda w, h: -w, "the numbers are not"),
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
