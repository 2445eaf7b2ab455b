"""Intervals of 95 % over seeds and test items, which stay within the bounds of what is measured.

A share of right answers comes out otherwise for two reasons: another seed trains another model, and
other test items would have been easier or harder. Where each seed has test items of its own, the
spread between the runs contains both. But most studies draw the items once, for all seeds, and more
seeds then do not average their luck away. We therefore add both variances,

    spread between n seeds, s²/n,  and  error of m items, p(1 - p)/m,

the second from the answers to every single item, where the record holds them. Where it does not,
the second is as large as it can be: all runs are taken to be right on the same items. The error of
a comparison then is that of two models that are asked different items. Models that are asked the
same tend to fail on the same, so that it is smaller in truth, and the interval is too wide.

A number without bounds gets Student's t-interval with that variance. A number between two bounds
gets the interval of Clopper and Pearson, exact for a share of independent answers, with two changes
that Korn and Graubard (1998) made for samples drawn in clusters, which here are the seeds: the
number of answers is the one that gives that variance, and it is made smaller by the squared ratio
of the quantiles of the normal and of Student's t distribution, because a spread between few seeds
is known badly. Of n trainings that succeed or fail, the interval is the exact one of n answers.
`tests/bookkit/records/test_intervals.py` measures on simulated studies how often the true value is
inside.
"""

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Protocol

from scipy import optimize, special

from bookkit.records.records import Bounds
from bookkit.records.rounding import Interval

UNBOUNDED: Bounds = (None, None)

_TAIL = 0.025
_LEAST_TAIL, _MOST_TAIL = 1e-15, 0.4999


class Counted(Protocol):
    """What says of how many test items a number is, such as a measure of a record."""

    @property
    def bounds(self) -> Bounds:
        """The least and the largest possible number; None for one that is not known."""

    @property
    def items(self) -> int | None:
        """How many test items a share is of, the same ones for all seeds."""

    @property
    def own_items(self) -> int | None:
        """How many items of its own each seed has."""

    @property
    def item_error(self) -> float:
        """Standard error that is due to shared test items, where it is known; else 0."""


def error_terms(counted: Counted, runs: Sequence[float]) -> tuple[Bounds, float, float]:
    """Return bounds, item error and least spread, as `interval` and `p_value` take them.

    The least spread is the error of a share that was 0 of so many items. More is not known: where
    an item has several answers, or where both sides of a difference get the same ones right, the
    spread may be as small as that. A difference, which lies on both sides of 0, depends on the
    items alone that the two sides answer differently, and may spread even less. A run that is one
    answer, right or wrong, has no spread of its own: its least is infinite.

    Args:
        counted: what is known of the number's test items.
        runs: one number a seed.
    """
    shared = counted.item_error
    if not shared and counted.items is not None:
        shared = item_error(fmean(runs), counted.items)
    low, high = counted.bounds
    if counted.own_items is None or low is None or high is None:
        return counted.bounds, shared, 0.0
    if counted.own_items == 1:
        return counted.bounds, shared, math.inf
    most = max(abs(low), abs(high)) / 100  # by how many points an item can move the sum
    least = most * item_error(0, counted.own_items)
    if low < 0 < high:
        least = min(least, _discordant(runs, counted.own_items, most))
    return counted.bounds, shared, least


def _discordant(runs: Sequence[float], items: int, most: float) -> float:
    """Return the spread of a difference that is due to the items that both sides answer otherwise.

    Of these a run shows no more than its sum over the items, so there are at least so many. To all
    items of all runs two are added, one for each side (Bonett and Price 2012), each as far out as
    any whole run, and by one answer where no run differs.
    """
    moved = [abs(run) * items / 100 for run in runs]
    farthest = min(most, max(moved)) or most
    squares = (sum(moved) + 2 * farthest) * farthest
    return 100 * math.sqrt(squares / (len(runs) * items + 2) / items)


def interval(
    runs: Sequence[float],
    bounds: Bounds = UNBOUNDED,
    item_error: float = 0.0,
    least_spread: float = 0.0,
) -> Interval:
    """Return the 95 % interval of the mean over seeds and test items.

    Args:
        runs: n numbers, at least 2, one a seed.
        bounds: the least and the largest possible number; None for one that is not known.
        item_error: the standard error that is due to test items that all seeds share, from
            `item_error`; 0 for a number that has none, or whose items are not known.
        least_spread: standard deviation that runs have at least, because each has its own items;
            infinite where each run is a single answer.

    >>> [round(end, 1) for end in interval([1.0, 2.0, 3.0])]
    [-0.5, 4.5]
    >>> five = [100.0] * 5
    >>> [round(end, 1) for end in interval(five, (0, 100), item_error(100, items=1000))]
    [99.3, 100.0]
    """
    return _interval(runs, 1 / max(1, len(runs)), (bounds, item_error, least_spread))


def prediction(
    runs: Sequence[float],
    bounds: Bounds = UNBOUNDED,
    item_error: float = 0.0,
    least_spread: float = 0.0,
) -> Interval:
    """Return the 95 % interval for one new run: that of the mean, and the new run's own spread.

    The arguments are those of `interval`.

    >>> [round(end, 1) for end in prediction([1.0, 2.0, 3.0])]
    [-3.0, 7.0]
    """
    return _interval(runs, 1 + 1 / max(1, len(runs)), (bounds, item_error, least_spread))


def p_value(
    runs: Sequence[float],
    threshold: float,
    bounds: Bounds = UNBOUNDED,
    item_error: float = 0.0,
    least_spread: float = 0.0,
) -> float:
    """Return how often chance alone takes the mean as far from a threshold, or farther.

    It is 1 less the confidence of the widest interval that leaves the threshold out, so it lies
    below 5 % where the interval of 95 % does. The other arguments are those of `interval`.

    >>> round(p_value([1.0, 2.0, 3.0], threshold=0.0), 3)
    0.074
    """

    def beyond(log_tail: float) -> float:
        known = bounds, item_error, least_spread
        low, high = _interval(runs, 1 / max(1, len(runs)), known, math.exp(log_tail))
        return low - threshold if fmean(runs) > threshold else threshold - high

    least, most = math.log(_LEAST_TAIL), math.log(_MOST_TAIL)
    if fmean(runs) == threshold or beyond(most) <= 0:
        return 1.0
    if beyond(least) > 0:
        return 0.0
    return 2 * math.exp(float(optimize.brentq(beyond, least, most)))


def item_error(percent: float, items: int) -> float:
    """Return the standard error of a share that is due to its test items, in points.

    It is √(p(1 - p)/m), with one right and one wrong answer added to the m items, since no error
    among m answers does not show that there never is one.

    Args:
        percent: the share.
        items: how many were drawn independently of one another. Where an item has several answers,
            such as the words of a sentence, or a score between 0 and 1, this is an upper bound.

    >>> round(item_error(50, items=1000), 2), round(item_error(100, items=1000), 2)
    (1.58, 0.1)
    """
    if not (0 <= percent <= 100 and items > 0):
        raise ValueError(f"item_error: got {percent} % of {items} items, wanted 0 to 100 % of some")
    share = (percent / 100 * items + 1) / (items + 2)
    return 100 * math.sqrt(share * (1 - share) / items)


def _interval(
    runs: Sequence[float], times: float, known: tuple[Bounds, float, float], tail: float = _TAIL
) -> Interval:
    bounds, item_error, least_spread = known
    if len(runs) < 2 or not all(map(math.isfinite, runs)):
        raise ValueError(f"runs: got {list(runs)}, wanted at least 2 finite numbers")
    low, high = -math.inf if bounds[0] is None else bounds[0], bounds[1]
    high = math.inf if high is None else high
    if not low <= min(runs) <= max(runs) <= high:
        raise ValueError(f"runs: got {list(runs)}, wanted numbers from {low} to {high}")
    mean, width = fmean(runs), high - low
    if math.isinf(least_spread):
        start, end = _clopper_pearson((mean - low) / width, len(runs), tail)
        return low + width * start, low + width * end
    spread = max(stdev(runs), least_spread)
    error = math.hypot(spread * math.sqrt(times), item_error)
    quantile = -float(special.stdtrit(len(runs) - 1, tail))  # of Student's t distribution
    of_items = max(item_error, least_spread)
    if of_items == 0 or math.isinf(width):
        return max(low, mean - quantile * error), min(high, mean + quantile * error)
    shrunk = (special.ndtri(tail) / quantile) ** 2
    answers = shrunk * _answers((mean - low) / width, error / width, of_items / width)
    start, end = _clopper_pearson((mean - low) / width, answers, tail)
    return low + width * start, low + width * end


def _answers(share: float, error: float, of_items: float) -> float:
    """Return of how many independent answers a share would have this standard error.

    At a bound share (1 - share) is 0, though the items tell no better where it is than to within
    their error, which then stands for it.
    """
    return max(share * (1 - share), of_items) / error**2


def _clopper_pearson(share: float, answers: float, tail: float = _TAIL) -> Interval:
    """Return the interval of a share; quantiles of the beta distribution are its ends."""
    right, wrong = share * answers, (1 - share) * answers
    low = special.betaincinv(right, wrong + 1, tail) if right > 0 else 0.0
    high = special.betainccinv(right + 1, wrong, tail) if wrong > 0 else 1.0
    return float(low), float(high)
