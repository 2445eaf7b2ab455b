"""Claims: what is computed of measures, its kind, and what the test items add to its error."""

import math
from functools import partial

import numpy as np
import pytest

from bookkit.records.intervals import error_terms, item_error
from experiments.engine.answers import Answered
from experiments.engine.claims import Claim, Runs, distance, ratio
from experiments.engine.kinds import NumberKind, exact, number, share

RUNS: Runs = {"a/right": [95.0, 97.0], "b/right": [94.0, 95.0], "c/loss": [1.0, 3.0]}


def kind_of(name: str) -> NumberKind:
    return share(1000) if name.endswith("right") else number("nats", 0)


def test_a_claim_is_of_a_difference_or_of_a_bound() -> None:
    entry = Claim("A beats B.", "a/right", "b/right", "points", above=0.5).decide(RUNS, kind_of)
    assert entry["runs"] == [1.0, 2.0]
    assert (entry["side"], entry["threshold"], entry["unit"]) == ("above", 0.5, "points")
    entry = Claim("A is low.", "a/right", below=9).decide(RUNS, kind_of)
    assert entry["runs"] == [95.0, 97.0]
    assert (entry["side"], entry["threshold"], entry["unit"]) == ("below", 9, "")
    for bounds in ({}, {"above": 1.0, "below": 2.0}):
        with pytest.raises(ValueError, match=r"above, below: got .* wanted one number"):
            Claim("", "a", **bounds)  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="b/left"):
        Claim("", "a/right", "b/left", above=0).decide(RUNS, kind_of)


def test_a_claim_has_the_kind_of_what_it_is_about() -> None:
    alone = Claim("A is low.", "a/right", unit="% of A", below=9)
    assert alone.kind(RUNS, kind_of) == share(1000, "% of A")
    plain = Claim("", "c/loss", "c/loss", "nats", below=0).kind(RUNS, kind_of)
    assert (plain.kind, plain.bounds, plain.item_error) == ("number", (None, None), 0.0)
    count = Claim("", "n", unit="weights", below=9)
    assert count.kind({"n": [5.0, 5.0]}, lambda name: exact("")) == number("weights")


def test_a_difference_of_shares_has_the_errors_of_both() -> None:
    kind = Claim("A beats B.", "a/right", "b/right", "points", above=0).kind(RUNS, kind_of)
    assert (kind.kind, kind.bounds) == ("difference", (-100, 100))
    assert kind.item_error == pytest.approx(
        math.hypot(item_error(96, 1000), item_error(94.5, 1000))
    )


def test_answers_by_item_make_the_error_that_of_the_pairs() -> None:
    points = np.random.default_rng(0).random((2, 1000)) < 0.96
    same = Answered(points.astype(float), np.ones((2, 1000)))
    claim = Claim("A beats B.", "a/right", "b/right", "points", above=0)
    paired = claim.kind(RUNS, kind_of, {"a/right": same, "b/right": same})
    assert 0 < paired.item_error < claim.kind(RUNS, kind_of).item_error / 5
    one = Claim("A is low.", "a/right", below=9)
    assert one.kind(RUNS, kind_of, {"a/right": same}).item_error > 0
    assert one.kind(RUNS, kind_of, {"a/right": same}).items == 1000


def test_a_claim_says_if_only_answers_by_item_are_wanting() -> None:
    runs: Runs = {"a/right": [96.0, 96.1, 96.05] * 3, "b/right": [95.4, 95.5, 95.45] * 3}
    claim = Claim("A beats B.", "a/right", "b/right", "points", above=0)
    assert claim.decide(runs, kind_of)["wants_answers"]
    same = Answered(np.ones((9, 1000)), np.ones((9, 1000)))
    told = claim.decide(runs, kind_of, {"a/right": same, "b/right": same})
    assert "wants_answers" not in told
    alone = Claim("A is high.", "a/right", unit="%", above=95.5)
    assert "wants_answers" not in alone.decide(runs, kind_of)
    undecided = {**runs, "b/right": [95.0, 97.0, 96.0] * 3}
    assert "wants_answers" not in claim.decide(undecided, kind_of)


def test_items_may_be_called_otherwise_than_the_measure_ends() -> None:
    runs: Runs = {"a/right/1": [96.0, 96.1, 96.05] * 3, "a/right/2": [95.4, 95.5, 95.45] * 3}
    claim = Claim("It learns.", "a/right/1", "a/right/2", "points", above=0)
    for called, wants in (("", False), ("same", True)):
        assert ("wants_answers" in claim.decide(runs, lambda _: share(1000, asked=called))) == wants  # noqa: B023


def test_a_side_that_is_close_to_a_limit_is_named() -> None:
    loss = number("nats", 0, floor=1.0)
    runs: Runs = {"a/right": [99.9, 100.0] * 5, "b/right": [60.0, 61.0] * 5}
    runs |= {"a/loss": [1.01, 1.0101], "b/loss": [1.5, 1.5001]}
    rows: list[tuple[Claim, object]] = [
        (Claim("", "a/right", "b/right", "points", above=0), {"a/right": "ceiling of 100 %"}),
        (Claim("", "a/loss", "b/loss", "nats", below=0), None),
        (Claim("", "a/loss", "b/loss", "nats", below=0.02), {"a/loss": "floor of 1 nats"}),
        (Claim("", "a/right", unit="%", above=90), None),
        (Claim("", "b/right", "a/right", "points", below=50), {"a/right": "ceiling of 100 %"}),
    ]
    for claim, near in rows:
        entry = claim.decide(runs, lambda name: share(1000) if "right" in name else loss)
        assert entry.get("near") == near


def test_what_is_made_of_times_is_timed() -> None:
    claim = Claim("It is fast.", partial(ratio, first="a/ms", second="b/ms"), below=1)
    runs: Runs = {"a/ms": [1.0, 2.0], "b/ms": [3.0, 3.0], "c/ms": [3.0, 3.0]}
    assert claim.measures(runs) == ["a/ms", "b/ms"]
    for timed in ("b/ms", "c/ms"):
        entry = claim.decide(runs, lambda name: number("ms", timed=name == timed))  # noqa: B023
        assert ("timed" in entry) == (timed == "b/ms")


def test_errors_reach_what_is_computed() -> None:
    half = Claim("", lambda runs: [a / 2 for a in runs["a/right"]], above=0, bounds=(0, 50))
    kind = half.kind(RUNS, kind_of)
    assert (kind.kind, kind.bounds) == ("difference", (0, 50))
    assert kind.item_error == pytest.approx(item_error(96, 1000) / 2)
    apart = Claim("", partial(distance, first="a/right", second="a/right"), below=1, bounds=(0, 9))
    assert apart.kind(RUNS, kind_of).item_error == 0
    runs = {**RUNS, "b/right": RUNS["a/right"]}
    equal = Claim("", partial(distance, first="a/right", second="b/right"), below=1, bounds=(0, 9))
    assert equal.kind(runs, kind_of).item_error > 0


def test_items_of_their_own_are_in_the_spread_already() -> None:
    def own(name: str) -> NumberKind:
        return share(500, own=True)

    kind = Claim("A beats B.", "a/right", "b/right", "points", above=0).kind(RUNS, own)
    assert (kind.kind, kind.bounds) == ("difference", (-100, 100))
    assert (kind.item_error, kind.own_items) == (0.0, 500)
    assert error_terms(kind, [1.0, 2.0]) == ((-100, 100), 0.0, item_error(0, 500))
    entry = Claim("A beats A.", "a/right", "a/right", "points", above=0).decide(RUNS, own)
    assert entry["kind"] == "number"
