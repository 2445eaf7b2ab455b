"""How often the true value is inside: simulated studies, with seeds and shared test items."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from bookkit.records import Bounds
from bookkit.records.intervals import (
    _clopper_pearson,
    error_terms,
    interval,
    item_error,
    p_value,
    prediction,
)
from experiments.engine.answers import Answered
from experiments.engine.answers import error as answers_error
from experiments.engine.kinds import share
from tests.tiers import often

Shares = NDArray[np.float64]

STUDIES, ITEMS = 2000, 1000
TRUE, SEEDS, SPREADS = (50, 90, 99, 100), (5, 20), (0, 2, 5)


DESIGNS = often(product(SEEDS, SPREADS), lambda one: one == (5, 2))
SHARES = often(TRUE, lambda true: true in (90, 100))
PAIRS = often(combinations_with_replacement(TRUE, 2), lambda pair: pair == (90, 99))
# Paired items take long: the designs that matter are those near the bound.
OF_PAIRS = often(
    [
        (*pair, *design)
        for pair, design in product(combinations_with_replacement(TRUE, 2), product(SEEDS, SPREADS))
        if design == (5, 2) or pair in ((90, 99), (99, 100))
    ],
    lambda one: one == (90, 99, 5, 2),
)

# Two-sided 95 % quantiles of Student's t, from a printed table.
TABLE = {2: 12.706, 3: 4.303, 5: 2.776, 10: 2.262, 30: 2.045}


def test_without_bounds_intervals_follow_the_printed_table() -> None:
    for count in TABLE:
        runs = np.random.default_rng(count).normal(50, 3, count).tolist()
        mean, spread = np.mean(runs), np.std(runs, ddof=1)
        half = TABLE[count] * spread / math.sqrt(count)
        assert interval(runs) == pytest.approx((mean - half, mean + half), rel=2e-4)
        half = TABLE[count] * spread * math.sqrt(1 + 1 / count)
        assert prediction(runs) == pytest.approx((mean - half, mean + half), rel=2e-4)


def test_a_number_without_items_is_cut_off_at_its_bounds() -> None:
    runs = [0.1, 0.2, 0.9]
    low, high = interval(runs)
    assert low < 0
    assert interval(runs, (0, None)) == (0, high)
    assert interval(runs, (0, 1)) == (0, 1)
    assert prediction(runs, (None, 1))[1] == 1


def test_the_ends_of_a_share_are_scipys() -> None:
    for right, items in [(0, 7), (3, 7), (7, 7), (499, 500), (500, 500)]:
        expected = stats.binomtest(right, items).proportion_ci(0.95, method="exact")
        assert _clopper_pearson(right / items, items) == pytest.approx(tuple(expected))


def test_many_equal_runs_leave_the_error_of_the_items() -> None:
    expected = stats.binomtest(700, 1000).proportion_ci(0.95, method="exact")
    found = interval([70.0] * 2000, (0, 100), item_error(70, items=1000))
    assert found == pytest.approx((100 * expected.low, 100 * expected.high), abs=0.01)


def test_trainings_that_end_well_or_badly_are_counted_as_by_clopper_and_pearson() -> None:
    for good in (0, 1, 15, 20):
        runs = [100.0] * good + [0.0] * (20 - good)
        kind = share(1, own=True)
        expected = stats.binomtest(good, 20).proportion_ci(0.95, method="exact")
        span = (100 * expected.low, 100 * expected.high)
        assert kind.spans(runs) == {"interval": pytest.approx(span), "prediction": (0, 100)}
        whole = stats.binomtest(good, 20, 0.5).pvalue
        assert p_value(runs, 50, *error_terms(kind, runs)) == pytest.approx(whole)


@pytest.mark.parametrize(("answers", "more", "fewer"), [(1, 8, 4), (24, 12, 0), (24, 60, 2)])
def test_models_that_mostly_agree_differ_by_what_they_disagree_on(
    answers: int, more: int, fewer: int
) -> None:
    """Each of 20 seeds has 256 items of its own; in all of them so many answers are otherwise."""
    dice, kind = np.random.default_rng(3), replace(share(256, own=True), bounds=(-100, 100))
    asked = 256 * answers
    counts = [dice.binomial(asked, n / asked / 20, (500, 20)) for n in (more, fewer)]
    studies = (100 * (counts[0] - counts[1]) / asked).tolist()
    spans = [interval(runs, *error_terms(kind, runs)) for runs in studies]
    check(spans, 100 * (more - fewer) / asked / 20, (-100, 100))
    assert np.median(np.diff(spans)) < 0.3  # that of a share which is 0 or 100 has 0.36


@pytest.mark.parametrize(("bounds", "items"), [((None, None), 0.0), ((0, 100), 1.5), ((0, 100), 0)])
def test_a_p_value_is_below_5_percent_where_the_interval_leaves_the_threshold_out(
    bounds: Bounds, items: float
) -> None:
    dice, both = np.random.default_rng(1), set()
    for _ in range(200):
        runs = dice.uniform(80, 100, size=5).tolist()
        low, high = interval(runs, bounds, items)
        for threshold in dice.uniform(70, 99.9, size=3):
            out = not low <= threshold <= high
            assert (p_value(runs, threshold, bounds, items) < 0.05) == out
            both.add(out)
    assert both == {True, False}


def test_the_p_value_of_a_share_is_scipys() -> None:
    tail = stats.binom.sf(699, 1000, 0.66)
    found = p_value([70.0] * 3000, 66.0, (0, 100), item_error(70, items=1000))
    assert found == pytest.approx(2 * tail, rel=0.05)


def test_what_is_out_of_bounds_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"runs: got \[99.0, 101.0\], wanted numbers from 0 to 100"
    ):
        interval([99.0, 101.0], (0, 100))
    with pytest.raises(ValueError, match="item_error: got 101 % of 10 items"):
        item_error(101, 10)
    with pytest.raises(ValueError, match="item_error: got 50 % of 0 items"):
        item_error(50, 0)


# Simulated studies


@pytest.fixture(scope="module")
def hardness() -> list[Shares]:
    """Draw how hard every item of every study is, from 0 to 1 in order, for two arms."""
    rng = np.random.default_rng(0)
    return [np.sort(rng.random((STUDIES, ITEMS)), axis=1) for _ in range(2)]


def shares_of_seeds(true: float, shape: tuple[int, int], spread: float, luck: int) -> Shares:
    """Draw the share that each seed of each study would get right of all items there are.

    They have a beta distribution, whose mean is the true share. Its standard deviation is the
    spread, but never more than the distance to the bound: with more, nearly all seeds would sit at
    the bound and a few far below it, which five runs cannot show.
    """
    mean, deviation = true / 100, min(spread, 100 - true) / 100
    if not deviation:
        return np.full(shape, mean)
    total = mean * (1 - mean) / deviation**2 - 1
    return np.random.default_rng(luck).beta(mean * total, (1 - mean) * total, shape)


def simulated(hardness: Shares, true: float, seeds: int, spread: float, luck: int) -> Shares:
    """Return the percentage of right items of every seed of every study, (STUDIES, seeds).

    All seeds of a study get the same items, and those right that are easier than their share: the
    worst case, in which more seeds say nothing new of the items.
    """
    shares = shares_of_seeds(true, (len(hardness), seeds), spread, luck)
    rows = np.arange(len(hardness))[:, None]
    found = np.searchsorted((hardness + rows).ravel(), (shares + rows).ravel())
    percent: Shares = 100 * (found.reshape(shares.shape) / hardness.shape[1] - rows)
    return percent.round(9)


def error(shares: Iterable[float]) -> float:
    return item_error(float(np.mean(list(shares))), ITEMS)


def check(
    spans: list[tuple[float, float]], true: Sequence[float] | float, bounds: tuple[float, float]
) -> None:
    """Hold intervals against the true values, and against what is possible."""
    low, high = np.array(spans).T
    assert bounds[0] <= low.min()
    assert high.max() <= bounds[1]
    assert (high - low).min() > 0
    rounding = 1e-9
    inside = (low <= np.add(true, rounding)) & (np.subtract(true, rounding) <= high)
    assert inside.mean() >= 0.93


@pytest.mark.parametrize(("seeds", "spread"), DESIGNS)
@pytest.mark.parametrize("true", SHARES)
def test_the_true_share_is_inside(
    hardness: list[Shares], true: float, seeds: int, spread: float
) -> None:
    studies = simulated(hardness[0], true, seeds, spread, luck=1).tolist()
    spans = [interval(runs, (0, 100), error(runs)) for runs in studies]
    check(spans, true, (0, 100))


@pytest.mark.parametrize(("seeds", "spread"), DESIGNS)
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_the_true_difference_is_inside(
    hardness: list[Shares], first: float, second: float, seeds: int, spread: float
) -> None:
    arms = (
        simulated(hard, true, seeds, spread, luck)
        for hard, true, luck in zip(hardness, (first, second), (1, 2), strict=True)
    )
    spans = [
        interval(
            [a - b for a, b in zip(*both, strict=True)], (-100, 100), math.hypot(*map(error, both))
        )
        for both in zip(*(arm.tolist() for arm in arms), strict=True)
    ]
    check(spans, first - second, (-100, 100))


def answers_to(
    hardness: Shares, true: float, seeds: int, spread: float, luck: int
) -> list[Answered]:
    """Return which items every seed of every study gets right: those easier than its share."""
    shares = shares_of_seeds(true, (len(hardness), seeds), spread, luck)
    right = [hard < of_seeds[:, None] for hard, of_seeds in zip(hardness, shares, strict=True)]
    return [Answered(one.astype(float), np.ones(one.shape)) for one in right]


@pytest.mark.parametrize(("first", "second", "seeds", "spread"), OF_PAIRS)
def test_the_true_difference_of_pairs_is_inside(
    hardness: list[Shares], first: float, second: float, seeds: int, spread: float
) -> None:
    slopes = {"a": [1.0] * seeds, "b": [-1.0] * seeds}
    arms = (
        answers_to(hardness[0], true, seeds, spread, luck)
        for true, luck in ((first, 1), (second, 2))
    )
    spans = []
    for a, b in zip(*arms, strict=True):
        runs = (100 * (a.points.mean(1) - b.points.mean(1))).round(9).tolist()
        of_items = answers_error(slopes, {"a": a, "b": b}, len)
        spans.append(interval(runs, (-100, 100), of_items))
    check(spans, first - second, (-100, 100))


@pytest.mark.parametrize("seeds", often(SEEDS, lambda count: count == 5))
@pytest.mark.parametrize("true", [50, 90, 100])
def test_a_new_run_falls_inside_the_prediction(
    hardness: list[Shares], true: float, seeds: int
) -> None:
    """At 99 %, where the shares of seeds are far from normal, about nine in ten do."""
    studies = simulated(hardness[0], true, seeds + 1, 2, luck=3).tolist()
    spans = [prediction(runs, (0, 100), error(runs)) for *runs, _ in studies]
    check(spans, [new for *_, new in studies], (0, 100))
