"""The check of the evidence on scores: wrong gets the hint at its cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bookkit.exercises.scores_evidence import check_variance

Answer = Callable[..., Any]


def variance(d: int, query_std: float, key_std: float, correlation: float) -> float:
    """The trace of the product of the covariances, written out."""
    one = np.full((d, d), correlation) + (1 - correlation) * np.eye(d)
    return float(np.trace(query_std**2 * one @ one * key_std**2))


VARIANCE: list[tuple[Answer, str]] = [
    (lambda d, s, t, r: math.sqrt(variance(d, s, t, r)), "that is the standard deviation"),
    (lambda d, s, t, r: s**2 * t**2 * d, "pairs of different entries"),
    (lambda d, s, t, r: s**2 * t**2 * (d + d * (d - 1) * r), "rho appears twice"),
    (lambda d, s, t, r: s**2 * t**2 * (d + d * d * r**2), "not d \\* d"),
    (lambda d, s, t, r: s**2 * t**2 * (d + d * (d - 1) / 2 * r**2), "comes twice"),
    (lambda d, s, t, r: s * t * variance(d, 1, 1, r), "enter squared"),
    (lambda d, s, t, r: s**2 * variance(d, 1, 1, r), "the keys have a variance"),
    (lambda d, s, t, r: t**2 * variance(d, 1, 1, r), "the queries have a variance"),
    (lambda d, s, t, r: variance(d, s, t, r) / d, "divided by d"),
    (lambda d, s, t, r: 1.0, "divided by d"),
    (lambda d, s, t, r: 17.0, "which is not it"),
    (lambda d, s, t, r: None, "end in a return"),
    (lambda d, s, t: 1.0, "your function stops"),
]


def test_the_right_answer_passes(capsys: pytest.CaptureFixture[str]) -> None:
    check_variance(variance)
    assert capsys.readouterr().out == "Right.\n"


@pytest.mark.parametrize(("answer", "hint"), VARIANCE)
def test_a_wrong_answer_gets_the_hint_at_its_cause(
    answer: Answer, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_variance(answer)
    assert capsys.readouterr().out == ""
