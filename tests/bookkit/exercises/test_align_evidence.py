"""Right answers pass; empty and typical wrong ones fail, with a hint at the cause."""

from __future__ import annotations

from typing import Any

import pytest

from bookkit.exercises import align_evidence
from companion.alignment import IBMModel1
from companion.data.pairs import Pair
from companion.metrics import alignment_error_rate

HOUSES = [Pair(("house",), ("casa",)), Pair(("red", "house"), ("casa", "roja"))]


def right_error() -> float:
    pair = Pair(
        ("he", "does", "not", "see", "him"),
        ("él", "no", "lo", "ve"),
        sure=frozenset({(0, 0), (1, 2), (2, 4), (3, 3)}),
        possible=frozenset({(1, 1), (3, 1)}),
    )
    return alignment_error_rate([{(0, 0), (1, 1), (2, 3), (3, 3)}], [pair])


def right_model1() -> float:
    return IBMModel1().fit(HOUSES, iterations=1).probability("house", "casa")


@pytest.mark.parametrize("answer", [right_error(), 37.5, "37.5"])
def test_alignment_error_takes_what_the_metric_gives(answer: Any) -> None:
    align_evidence.check_alignment_error(answer)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (None, "nothing yet"),
        (..., "nothing yet"),
        ([37.5], "wanted a number"),
        (0.375, "fraction"),
        (62.5, "1 minus the rate"),
        (25, "missed"),
        (50, "possible link"),
        (37, "count again"),
        (0, "count again"),
    ],
)
def test_alignment_error_hints_at_the_cause(answer: Any, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        align_evidence.check_alignment_error(answer)


@pytest.mark.parametrize("answer", [right_model1(), 5 / 7, 0.714, "0.714"])
def test_model1_takes_what_one_round_gives(answer: Any) -> None:
    align_evidence.check_model1(answer)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (None, "nothing yet"),
        (0.75, "null word"),
        (5 / 6, "divide"),
        (7 / 6, "divided"),
        (0.5, "both sentences"),
        (0.333, "both sentences"),
        (2 / 7, "roja"),
        (IBMModel1().fit(HOUSES, iterations=2).probability("house", "casa"), "count again"),
    ],
)
def test_model1_hints_at_the_cause(answer: Any, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        align_evidence.check_model1(answer)
