"""The check functions of "Exact and cheaper": wrong gets the hint at its cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bookkit.exercises.cheaper import check_absorb, check_delta, check_heads, check_visible

Answer = Callable[..., Any]


def make_absorb(
    *,
    rises: bool = True,
    sum_shrinks: bool = True,
    blend_shrinks: bool = True,
    own_maximum: bool = False,
    divides: bool = False,
) -> Answer:
    """Take one score after the other, with numbers."""

    def absorb(highest: Any, total: Any, blend: Any, scores: Any, values: Any) -> Any:
        new_highest, new_total, new_blend = highest.copy(), total.copy(), blend.copy()
        for i, row in enumerate(scores):
            risen = max([*row, highest[i]]) if rises else max(row)
            reference = max(row) if own_maximum else risen
            shrink = math.exp(highest[i] - risen)
            powers = [math.exp(score - reference) for score in row]
            new_highest[i] = risen
            new_total[i] = total[i] * (shrink if sum_shrinks else 1) + sum(powers)
            blended = sum(p * value for p, value in zip(powers, values, strict=True))
            new_blend[i] = blend[i] * (shrink if blend_shrinks else 1) + blended
            if divides:
                new_blend[i] /= new_total[i]
        return new_highest, new_total, new_blend

    return absorb


def heads_that_fit(free: int, layers: int, tokens: int, heads: int, width: int, size: int) -> int:
    for g in range(heads, 0, -1):
        if heads % g == 0 and layers * tokens * g * 2 * width * size <= free:
            return g
    return 0


def any_number_fits(free: int, layers: int, tokens: int, h: int, width: int, size: int) -> int:
    return min(h, free // (2 * layers * tokens * width * size))


def make_visible(own: int = 0, future: bool = False, first: int = 0, both: bool = False) -> Answer:
    def visible(n: int, recent: int, kept: int) -> Any:
        def seen(i: int, j: int) -> bool:
            near, old = i - j < recent + own, j < kept + first
            return ((near and old) if both else (near or old)) and (future or j <= i)

        return [[seen(i, j) for j in range(n)] for i in range(n)]

    return visible


def make_delta(compare: float = 1.0, write: float | None = None, sign: int = 1) -> Answer:
    """Write number by number; `compare` and `write` are powers of beta."""

    def delta(state: Any, key: Any, value: Any, beta: float) -> Any:
        found = state.copy()
        for a, b in np.ndindex(state.shape):
            held = sum(key[c] * state[c, b] for c in range(len(key)))
            new = beta * value[b] if write is None else beta**write * value[b]
            found[a, b] += sign * key[a] * (new - beta**compare * held)
        return found

    return delta


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_absorb, make_absorb()),
        (check_heads, heads_that_fit),
        (check_visible, make_visible()),
        (check_delta, make_delta()),
    ],
)
def test_the_right_answer_passes(
    check: Answer, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    check(answer)
    assert capsys.readouterr().out == "Right.\n"


def held_once(free: int, *sizes: int) -> int:
    """Count the keys and forget the values."""
    return heads_that_fit(2 * free, *sizes)


def one_layer(free: int, layers: int, *sizes: int) -> int:
    return heads_that_fit(free, 1, *sizes)


def must_be_smaller(free: int, *sizes: int) -> int:
    return heads_that_fit(free - 1, *sizes)


def any_that_fits(*given: int) -> int:
    return min(1, heads_that_fit(*given))


WRONG: list[tuple[Answer, Answer, str]] = [
    (check_absorb, make_absorb(rises=False), "^maximum: the maximum is that of the new tile"),
    (check_absorb, make_absorb(sum_shrinks=False), "^sum: the old sum shrinks"),
    (check_absorb, make_absorb(blend_shrinks=False), "^output: the old output shrinks"),
    (check_absorb, make_absorb(own_maximum=True), "^sum: the new tile needs the maximum of all"),
    (check_absorb, make_absorb(divides=True), "^output: the output is divided once"),
    (check_absorb, lambda m, t, a, s, v: (m, t, a), "the maximum never rises"),
    (check_absorb, lambda m, t, a, s, v: m, "wanted three"),
    (check_absorb, lambda m, t, a, s, v: (m, t), "wanted three"),
    (check_absorb, lambda m, t, a, s, v: (np.maximum(m, s.max(1)), 0 * t, a), "numbers are not"),
    (check_heads, any_number_fits, "must divide"),
    (check_heads, held_once, "keys and values are both kept"),
    (check_heads, one_layer, "every layer has a cache"),
    (check_heads, must_be_smaller, "exactly as large"),
    (check_heads, any_that_fits, "the least number"),
    (check_heads, lambda *given: None, "got nothing"),
    (check_visible, make_visible(own=1), "own place is one of the recent"),
    (check_visible, make_visible(future=True), "keys that come after"),
    (check_visible, make_visible(first=1), "below `kept`"),
    (check_visible, make_visible(both=True), "not what is both"),
    (check_visible, lambda n, r, k: make_visible()(n, r, 0), "first keys are gone"),
    (check_visible, lambda n, r, k: np.transpose(make_visible()(n, r, k)), "rows are queries"),
    (check_visible, lambda n, r, k: np.zeros((n, r)), r"got shape \(9, 3\), wanted \(9, 9\)"),
    (check_visible, lambda n, r, k: "all", "wanted an array"),
    (check_delta, lambda s, k, v, beta: s + beta * np.outer(k, v), "that adds: first take away"),
    (check_delta, make_delta(sign=-1), "the sign"),
    (check_delta, make_delta(compare=0, write=0), "beta is missing"),
    (check_delta, make_delta(compare=0), "taken away, too"),
    (check_delta, make_delta(write=0), "written, too"),
    (check_delta, lambda s, *rest: make_delta()(s, *rest) - s, "add it to the state"),
    (check_delta, lambda s, k, v, beta: (1 - beta) * s + beta * np.outer(k, v), "is a decay"),
    (check_delta, lambda s, k, v, beta: 3 * s, "the numbers are not"),
    (check_delta, lambda s, k, v, beta: ..., "got nothing"),
]


@pytest.mark.parametrize(("check", "answer", "hint"), WRONG)
def test_a_wrong_answer_gets_its_hint(check: Answer, answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(answer)
