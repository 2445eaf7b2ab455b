"""Check functions of "What attention buys".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.pages.exercises.answers import as_number, called, compare, fail, named

Numbers = NDArray[np.float64]


def check_local(local: Callable[..., Any]) -> None:
    """Check the weights of Luong's predictive local attention.

    Args:
        local: `local(scores, place, window)`, from k scores, a place (a real number, the first
            word stands at 0) and D, to k weights.

    Raises:
        AssertionError: a weight is wrong; the message hints at the cause.
    """
    rng = np.random.default_rng(7)
    for k, place, window in ((9, 4.3, 2), (7, 0.4, 3), (8, 5.0, 2)):
        scores = rng.normal(size=k)
        right = _local(scores, place, window)
        mistakes = {
            "the softmax runs over the window, not over the whole sentence": _local(
                scores, place, window, everywhere=True
            ),
            "the bell curve is missing": _local(scores, place, window, bell=0),
            "the weights are not normalised again after the bell curve": right / right.sum(),
            "sigma is D / 2, not D": _local(scores, place, window, sigma=window),
            "the window reaches as far as D, D included": _local(scores, place, window, open_=True),
            "the bell curve falls with the squared distance over 2 sigma^2": _local(
                scores, place, window, bell=2
            ),
            "the place is a real number: do not round it": _local(scores, round(place), window),
        }
        got = called(local, scores.copy(), place, window)
        where = f"local(scores, {place}, {window}): "
        compare(got, right, mistakes, where=where, rtol=1e-9, atol=1e-12)
    print("Right.")


def _local(
    scores: Numbers,
    place: float,
    window: int,
    *,
    sigma: float | None = None,
    bell: float = 1,
    everywhere: bool = False,
    open_: bool = False,
) -> Numbers:
    distance = np.arange(len(scores)) - place
    near = abs(distance) < window if open_ else abs(distance) <= window
    powers = np.exp(scores - scores.max()) * (near | everywhere)
    sigma = window / 2 if sigma is None else sigma
    weights: Numbers = powers / powers.sum() * np.exp(-bell * distance**2 / (2 * sigma**2)) * near
    return weights


def check_weights(more: Callable[..., Any]) -> None:
    """Check how many weights a mechanism adds to a translator without attention.

    Args:
        more: `more(kind, d)`, for "dot", "general", "concat", "local" (general in a window around a
            predicted place) and "additive" (whose context also enters the decoder's GRU), where
            all states have width d.

    Raises:
        AssertionError: a number is wrong; the message hints at the cause.
    """
    for d, (kind, right) in product((6, 128), _MORE.items()):
        got = as_number(called(more, kind, d))
        if got != right(d):
            hint = _HINTS.get(kind, {}).get(got - right(d), "") if d == _HINT_WIDTH else ""
            fail(f"more({kind!r}, {d}): got {got:g}{': ' if hint else ''}{hint}")
    print("Right.")


_HINT_WIDTH = 6
_MORE: dict[str, Callable[[int], int]] = {
    "dot": lambda d: 0,
    "general": lambda d: d * d,
    "concat": lambda d: 2 * d * d + d,
    "local": lambda d: 2 * d * d + d,
    "additive": lambda d: 5 * d * d + d,
}
_HINTS: dict[str, dict[float, str]] = {
    "concat": {-6: "the vector v is missing", -36: "the matrix meets both vectors, it is (2d, d)"},
    "local": {
        -42: "the prediction has a matrix and a vector of its own",
        -36: "general has a matrix, too",
        -6: "the prediction ends in a vector",
    },
    "additive": {
        -108: "the context enters three gates of the GRU",
        -72: "the GRU has three gates, not one",
        -6: "the vector v is missing",
    },
}


def check_updates(updates: Callable[..., Any]) -> None:
    """Check how many updates fit into the seconds of another training.

    Args:
        updates: `updates(budget, cost)`, the whole updates of a mechanism whose update costs
            `cost` times that of no attention, in the time that no attention takes for `budget`.

    Raises:
        AssertionError: a number is wrong; the message hints at the cause.
    """
    for budget, cost in ((2000, 2.5), (2000, 1.0), (700, 1.5), (10, 0.3)):
        right = budget // cost
        got = as_number(called(updates, budget, cost))
        if got == right:
            continue
        where = f"updates({budget}, {cost})"
        if got == budget:
            fail(f"{where}: equal updates are not equal seconds")
        if np.isclose(got, budget * cost):
            fail(f"{where}: a dearer update leaves fewer of them, not more")
        if right < got <= right + 1:
            fail(f"{where}: an update that is not finished in time does not count")
        fail(f"{where}: got {got:g}")
    print("Right.")


def check_front(front: Callable[..., Any]) -> None:
    """Check which mechanisms no other one makes superfluous.

    Args:
        front: `front(arms)`, from a mapping of names to (cost, quality) to the set of names for
            which no other arm costs at most as much and is at least as good, better in one of the
            two.

    Raises:
        AssertionError: a name is missing or too many; the message hints at the cause.
    """
    for arms in _ARMS:
        right = {
            name
            for name, (cost, quality) in arms.items()
            if not any(
                c <= cost and q >= quality and (c, q) != (cost, quality) for c, q in arms.values()
            )
        }
        got = called(front, dict(arms))
        if not isinstance(got, Set | list | tuple):
            fail(f"got {named(got)}, wanted a set of names")
        found = set(got)
        if found == right:
            continue
        best = max(arms, key=lambda name: arms[name][1])
        if found == {best}:
            fail("the best is one of them; who can pay less has a choice, too")
        if extra := sorted(found - right):
            fail(f"{extra[0]!r} is too many: another costs no more and is no worse")
        missing = min(right - found)
        twins = [n for n in arms if n != missing and arms[n] == arms[missing]]
        why = "its twin is no better" if twins else "whatever is better also costs more"
        fail(f"{missing!r} is missing: {why}")
    print("Right.")


_ARMS: tuple[dict[str, tuple[float, float]], ...] = (
    {"a": (1.0, 30.0), "b": (1.1, 96.0), "c": (2.4, 99.0), "d": (2.5, 95.0)},
    {"a": (1.0, 50.0), "b": (1.0, 60.0), "c": (2.0, 60.0), "d": (3.0, 61.0)},
    {"a": (1.0, 50.0), "b": (1.0, 50.0), "c": (2.0, 40.0)},
)
