import dataclasses
import math

import pytest

from bookkit.records import Claim, Measure, Side, UnknownNameError

NBSP = "\N{NO-BREAK SPACE}"


def measure(**changes: object) -> Measure:
    fields = {
        "unit": "%", "runs": (97.0, 98.0, 99.0), "mean": 98.0, "interval": (95.516, 100.484),
        "prediction": (93.0, 103.0),
    }  # fmt: skip
    return Measure(**{**fields, **changes})  # type: ignore[arg-type]


def claim(interval: tuple[float, float], side: Side, threshold: float = 0.0) -> Claim:
    return Claim(
        claim="It helps.", side=side, threshold=threshold, unit="points", runs=(1.0, 2.0),
        mean=sum(interval) / 2, interval=interval, prediction=interval,
    )  # fmt: skip


def test_verdict() -> None:
    for interval, above, below in [
        ((0.5, 2.0), "holds", "fails"),
        ((-2.0, -0.5), "fails", "holds"),
        ((-0.5, 2.0), "undecided", "undecided"),
        ((0.0, 2.0), "undecided", "undecided"),
        ((-2.0, 0.0), "undecided", "undecided"),
        ((0.0, 0.0), "undecided", "undecided"),
    ]:
        assert claim(interval, "above").verdict == above
        assert claim(interval, "below").verdict == below
        shifted = (interval[0] + 50, interval[1] + 50)
        assert claim(shifted, "above", 50).verdict == above
        assert claim(shifted, "below", 50).verdict == below
        assert dataclasses.replace(claim(interval, "above"), timed=True).verdict == "no verdict"


def test_a_lesson_writes_as_few_decimals_as_change_nothing() -> None:
    for unit, interval, threshold, digits in [
        ("points", (30.2, 36.9), 0.0, 0),
        ("%", (99.2, 99.8), 95.0, 1),  # 99 to 100 of a hundred would say that none is left
        ("points", (99.2, 99.8), 95.0, 0),
        ("%", (95.2, 97.9), 95.0, 1),  # 95 would lie on the threshold
        ("nats", (0.41, 0.47), 0.0, 2),
        ("", (1.31, 1.35), 1.0, 1),
        ("points", (-0.3, 2.3), 0.0, 1),
        ("points", (2.0, 2.0), 0.0, 0),
    ]:
        one = dataclasses.replace(claim(interval, "above", threshold), unit=unit)
        assert one.plain_digits == digits
        assert one.plain_digits <= one.digits


def test_a_measure_is_written_with_what_its_interval_supports() -> None:
    assert str(measure()) == repr(measure()) == f"98.0{NBSP}% [95.5, 100.5]"
    assert f"{measure():value}" == f"98.0{NBSP}%"
    assert f"{measure():number} {measure():interval}" == "98.0 [95.5, 100.5]"
    assert str(measure(decimals=0)) == f"98{NBSP}% [96, 100]"
    assert str(measure(unit="")) == "98.0 [95.5, 100.5]"
    with pytest.raises(ValueError, match=r"format: got '\.2f', wanted one of"):
        f"{measure():.2f}"


def test_an_interval_without_width_says_what_it_is() -> None:
    equal = measure(mean=98.0, interval=(98.0, 98.0))
    assert str(equal) == f"98{NBSP}% (all 3 runs equal)"
    assert f"{equal:interval}" == "all 3 runs equal"
    exact = measure(mean=98.0, interval=(98.0, 98.0), kind="exact")
    assert (str(exact), f"{exact:interval}") == (f"98{NBSP}% (exact)", "exact")


def test_a_new_run_is_held_against_the_prediction_interval() -> None:
    assert all(value in measure() for value in (93, 95.0, 103.0))
    assert not any(value in measure() for value in (92.99, 103.01, math.nan))


def test_an_unknown_name_is_answered_by_those_that_come_near() -> None:
    rows: list[tuple[str, list[str], str]] = [
        ("bleu", ["dot/bleu", "none/bleu", "dot/loss"], "one of 'dot/bleu', 'none/bleu'"),
        ("dot/blue", ["dot/bleu", "x"], "one of 'dot/bleu'"),
        ("zzz", ["b", "a"], "one of 'a', 'b'"),
        ("zzz", [], "but there is none yet"),
    ]
    for name, known, message in rows:
        error = UnknownNameError("measure", name, known)
        assert isinstance(error, KeyError)
        assert str(error) == f"measure: got {name!r}, wanted {message}"
