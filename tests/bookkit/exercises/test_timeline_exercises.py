"""The check functions of "From 2013 to today": right passes, wrong gets the hint at its cause."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bookkit.exercises import timeline

Numbers = NDArray[np.float64]


def delta_step(state: Numbers, key: Numbers, value: Numbers, beta: float) -> Numbers:
    moved = state.copy()
    for row in range(len(key)):
        moved[row] += beta * key[row] * (value - sum(key[i] * state[i] for i in range(len(key))))
    return moved


def kept(length: int, window: int, sinks: int) -> list[int]:
    return sorted({*range(min(sinks, length)), *range(max(length - window, 0), length)})


def test_right_answers_pass(capsys: pytest.CaptureFixture[str]) -> None:
    states = [0.0, 0.0, 0.0]
    for value in (4, 2, 1):
        states[0] += value
        states[1] = states[1] / 2 + value
        states[2] += (value - states[2]) / 2
    timeline.check_states(*states)
    timeline.check_growth(2)
    timeline.check_growth((3 * 16 * 128**2 + 2048 * 200_000) / (3 * 16 * 128**2 + 2048 * 100_000))
    timeline.check_delta_step(delta_step)
    timeline.check_kept(kept)
    timeline.check_kept(lambda length, window, sinks: np.array(kept(length, window, sinks)))
    assert capsys.readouterr().out == "Right.\n" * 6


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (1.25, "the layers do not store alike"),
        (1, "the cache of the fourth layer does not"),
        (8, "same size before and after"),
        (0.501, "the smaller number over the larger"),
        (3, "count both"),
        ("much", "wanted a number"),
    ],
)
def test_growth_hints_at_the_cause(answer: Any, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        timeline.check_growth(answer)


@pytest.mark.parametrize(
    ("answers", "hint"),
    [
        ((7 / 3, 3, 1.5), "adds: that is the mean"),
        ((1, 3, 1.5), "adds: that is the last value"),
        ((8, 3, 1.5), "adds: go through the three steps"),
        ((7, 1.5, 1.5), "the last value is whole"),
        ((7, 5, 1.5), "halved twice"),
        ((7, 7, 1.5), "nothing was halved"),
        ((7, 3, 2), "the first write is a correction"),
        ((7, 3, 1), "does not vanish"),
        ((7, 3, 3.5), "not half of the value"),
        ((7, 3, "1.5"), "wanted a number"),
    ],
)
def test_states_hints_at_the_cause(answers: tuple[Any, Any, Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        timeline.check_states(*answers)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda s, k, v, b: s + b * np.outer(k, v), "write only the difference"),
        (lambda s, k, v, b: s - b * np.outer(k, v - k @ s), "the sign"),
        (lambda s, k, v, b: s + np.outer(k, v - k @ s), "beta is missing"),
        (lambda s, k, v, b: (1 - b) * s + b * np.outer(k, v), "under every key|is missing"),
        (lambda s, k, v, b: b * np.outer(k, v - k @ s), "add it to the state"),
        (lambda s, k, v, b: delta_step(s, k, v, b).T, r"wanted \(d, v\)"),
        (lambda s, k, v, b: s + np.outer(v - k @ s, k), "np.outer"),
        (lambda s, k, v, b: s, "the numbers are not"),
    ],
)
def test_delta_step_hints_at_the_cause(answer: Any, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        timeline.check_delta_step(answer)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda n, w, s: list(range(n))[-w:], "the colleague's cache"),
        (lambda n, w, s: list(range(s)), "only the first words"),
        (lambda n, w, s: [*range(min(s, n)), *range(max(n - w, 0), n)], "twice"),
        (lambda n, w, s: [*range(s), *range(n - w + s, n)], "take its room"),
        (lambda n, w, s: kept(n, w, s)[::-1], "ascending order"),
        (lambda n, w, s: kept(n, w + 1, s), "wanted the first 3 and the last 5"),
        (lambda n, w, s: set(kept(n, w, s)), "a list of positions"),
        (lambda n, w, s: None, "end in a return"),
    ],
)
def test_kept_hints_at_the_cause(answer: Any, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        timeline.check_kept(answer)
