"""A contest: values come before times."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.contest import Contest, Entrant, Field, error, growth, hold
from benchmarks.records import Goal, Reading, Row
from benchmarks.timing import QUICK

pytestmark = pytest.mark.slow

TRUE = np.arange(1.0, 9.0)
PROTOCOL = QUICK


def returning(value: Any) -> Callable[[], Any]:
    return lambda: value


def field(**factors: float) -> Field:
    """Make entrants that return the truth times a factor."""
    made = {name: Entrant(returning(TRUE * by), (TRUE,)) for name, by in factors.items()}
    return Field(made, {"away": "not installed"})


def outcome(made: Field, goals: dict[str, Goal] | None = None) -> tuple[list[Reading], list[Row]]:
    results = list(hold(Contest("n = 8", lambda: made, goals or {}, length=8), PROTOCOL))
    readings = [one for one in results if isinstance(one, Reading)]
    return readings, [one for one in results if isinstance(one, Row)]


def test_the_error_is_a_part_of_the_truth_at_its_worst() -> None:
    assert error((TRUE * 1.01, TRUE * 0.9), (TRUE, TRUE)) == pytest.approx(0.1)
    with pytest.raises(ValueError, match="zip"):
        error((TRUE,), (TRUE, TRUE))
    values = np.ones((4096, 8))
    values[17] += 0.1
    assert error((values,), (np.ones((4096, 8)),)) > 1e-3, "one wrong row among many shows"


def test_every_peer_has_a_row_and_every_entrant_a_reading() -> None:
    goal = Goal(0.9)
    readings, rows = outcome(field(ours=1.001, one=1.001, two=1.0), {"one": goal})
    assert [reading.entrant for reading in readings] == ["ours", "one", "two"]
    assert all(len(reading.values) == PROTOCOL.least for reading in readings)
    assert readings[0].error == pytest.approx(0.001)
    assert [(row.peer, row.goal) for row in rows] == [("one", goal), ("two", None), ("away", None)]
    assert [row.value is not None for row in rows] == [True, True, False]
    assert rows[2].note == "not installed"
    assert all(row.ours == "ours" for row in rows)


def test_ours_may_be_twice_as_wrong_as_the_peer_and_no_more() -> None:
    outcome(field(ours=1.0019, one=1.001))
    for ours, one, allowed, said in (
        (1.0021, 1.001, None, r"n = 8: ours is off by 2.10e-03, at most 2.00e-03"),
        (1.3, 1.5, None, r"at most 2\.00e-02 is allowed"),  # a wrong peer is no measure
        (float("nan"), 1.0, None, "ours is off by nan"),
        (1.004, 1.0, 0.003, "at most 3.00e-03"),
    ):
        made = field(ours=ours, one=one)
        made.allowed = allowed
        with pytest.raises(AssertionError, match=said):
            outcome(made)
    made.allowed = 0.005
    outcome(made)


def test_a_peer_that_computes_something_else_or_fails_is_not_timed() -> None:
    def fail() -> Any:
        raise RuntimeError("not enough memory\nallocator")

    made = field(ours=1.0, one=1.0, other=1.5, none=float("nan"))
    made.entrants["large"] = Entrant(fail, (TRUE,))
    readings, rows = outcome(made)
    assert [reading.entrant for reading in readings] == ["ours", "one"]
    assert {row.peer: row.note for row in rows if row.value is None} == {
        "away": "not installed",
        "large": "fails: not enough memory",
        "other": "computes something else: error 5.0e-01",
        "none": "computes something else: error nan",
    }


def test_growth_is_fitted_from_three_lengths_of_one_setting() -> None:
    readings = [
        Reading(f"{name}, n = {n}", "tiled", n, "s", [1.0], by * n**2, 0.0, 0.0)
        for name, by in (("full", 1.0), ("causal", 0.5))
        for n in (10, 20, 40)
    ]
    (row,) = growth(readings, "tiled", "full", "s", Goal(2.05, side="at most"))
    assert row.value == pytest.approx(2.0)
    assert row.setting == "full: exponent of time, n = 10 to 40"
    assert row.verdict == "yes"
    assert list(growth(readings, "tiled", "full", "MB", None)) == []
    assert list(growth(readings[:2], "tiled", "full", "s", None)) == []
    readings[0] = replace(readings[0], median=0.0)  # too small to be told apart
    assert list(growth(readings, "tiled", "full", "s", None)) == []
