"""Answers by item: how they are held, and the error that they show."""

import math

import numpy as np
import pytest

from bookkit.records.intervals import item_error
from experiments.engine.answers import Answered, answered, as_entry, error, from_entry

DICE = np.random.default_rng(0)
EASE = DICE.random(1000)
SLOPES = {"a": [1.0] * 5, "b": [-1.0] * 5}


def right(share: float, ease: object = EASE, seeds: int = 5) -> Answered:
    """Draw answers: easy items are right more often."""
    luck = DICE.normal(0, 0.1, (seeds, 1000))
    points = (np.asarray(ease) + luck < share).astype(float)
    return Answered(points, np.ones_like(points))


def links(seeds: int = 5, items: int = 400) -> Answered:
    """Draw wrong links: how many there are depends on the length."""
    of = np.tile(DICE.integers(4, 60, items), (seeds, 1)).astype(float)
    return Answered(DICE.binomial(of.astype(int), 0.1).astype(float), of)


@pytest.mark.parametrize("items", [1, 4, 7, 8, 400])
def test_answers_come_back_from_a_record(items: int) -> None:
    points = (DICE.random((3, items)) < 0.7).astype(float)
    right_or_wrong = Answered(points, np.ones_like(points))
    assert {len(row) for row in as_entry(right_or_wrong)["answers"]} == {math.ceil(items / 4)}
    for given in (right_or_wrong, links(items=items)):
        back = from_entry({**as_entry(given), "items": items})
        assert back is not None
        assert (back.points == given.points).all()
        assert (back.of == given.of).all()


def test_only_whole_numbers_are_held() -> None:
    for answer in ((0.5, 1.0), (1.0, 256.0), (-1.0, 1.0)):
        with pytest.raises(ValueError, match="wanted whole numbers from 0 to 255"):
            as_entry(answered([[answer]]))


def test_the_error_of_a_share_is_that_of_its_items_averaged_over_seeds() -> None:
    given = right(0.9)
    found = error({"a": [1.0] * 5}, {"a": given}, len)
    wanted = 100 * given.points.mean(0).std() / math.sqrt(1000)
    assert found == pytest.approx(wanted, rel=0.01)
    assert found < item_error(100 * given.points.mean(), 1000)


def test_pairs_differ_by_less_than_strangers() -> None:
    answers = {"a": right(0.9), "b": right(0.8)}
    difference = answers["a"].points.mean(0) - answers["b"].points.mean(0)
    paired = error(SLOPES, answers, len)
    assert paired == pytest.approx(100 * difference.std() / math.sqrt(1000), rel=0.03)
    apart = error(SLOPES, answers, alike=str)
    assert apart == pytest.approx(math.hypot(*(_alone(one) for one in answers.values())))
    assert paired < apart


def _alone(answers: Answered) -> float:
    return error({"a": [1.0] * 5}, {"a": answers}, len)


def test_the_error_of_a_ratio_of_sums_is_that_of_a_bootstrap() -> None:
    given = links()
    draws = DICE.integers(0, 400, (4000, 400))
    points, of = given.points.mean(0), given.of.mean(0)
    ratios = 100 * points[draws].sum(1) / of[draws].sum(1)
    assert ratios.std() < _alone(given) < 1.2 * ratios.std()
