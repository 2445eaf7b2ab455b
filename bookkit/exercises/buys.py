"""Check functions of "What attention buys".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

from collections.abc import Set
from functools import partial

import numpy as np

from bookkit.exercises.answers import Answer, Expected, Numbers, called, check, fail, refuse

KINDS = ("dot", "general", "concat", "local", "additive")


def check_local(local: Answer) -> None:
    """Check the weights of Luong's predictive local attention.

    Args:
        local: `local(scores, place, window)`, from k scores, a position (a real number, the first
            word stands at 0) and D, to k weights.
    """

    def expected(scores: Numbers, position: float, window: int) -> Expected:
        weights = partial(_local, scores, position, window)
        right = weights()
        over_all = weights(everywhere=True)
        return right, {
            "the softmax runs over the window, not over the whole sentence": over_all,
            "the bell curve is missing": weights(bell=0),
            "the weights are not normalised again after the bell curve": right / right.sum(),
            "sigma is D / 2, not D": weights(sigma=window),
            "the window reaches as far as D, D included": weights(closed=False),
            "the bell curve falls with the squared distance over 2 sigma^2": weights(bell=2),
            "the place is a real number: do not round it": _local(scores, round(position), window),
        }

    rng = np.random.default_rng(7)
    cases = [(rng.normal(size=k), *rest) for k, *rest in ((9, 4.3, 2), (7, 0.4, 3), (8, 5.0, 2))]
    check(local, cases, expected, where="local(scores, {1}, {2}): ", rtol=1e-9, atol=1e-12)


def _local(
    scores: Numbers,
    position: float,
    window: int,
    *,
    sigma: float | None = None,
    bell: float = 1,
    everywhere: bool = False,
    closed: bool = True,
) -> Numbers:
    distance = np.arange(len(scores)) - position
    near = abs(distance) <= window if closed else abs(distance) < window
    powers = np.exp(scores - scores.max()) * (near | everywhere)
    sigma = window / 2 if sigma is None else sigma
    weights: Numbers = powers / powers.sum() * np.exp(-bell * distance**2 / (2 * sigma**2)) * near
    return weights


def check_weights(more: Answer) -> None:
    """Check how many weights a mechanism adds to a translator without attention.

    Args:
        more: `more(kind, d)`, for "dot", "general", "concat", "local" (general in a window around a
            predicted position) and "additive" (whose context also enters the decoder's GRU), where
            all states have width d.
    """

    def expected(kind: str, d: int) -> Expected:
        square = d * d
        if kind == "concat":
            return 2 * square + d, {
                "the vector v is missing": 2 * square,
                "the matrix meets both vectors, it is (2d, d)": square + d,
            }
        if kind == "local":
            return 2 * square + d, {
                "the prediction has a matrix and a vector of its own": square,
                "general has a matrix, too": square + d,
                "the prediction ends in a vector": 2 * square,
            }
        if kind == "additive":
            return 5 * square + d, {
                "the context enters three gates of the GRU": 2 * square + d,
                "the GRU has three gates, not one": 3 * square + d,
                "the vector v is missing": 5 * square,
            }
        return square if kind == "general" else 0, {}

    cases = [(kind, d) for d in (6, 128) for kind in KINDS]
    where, otherwise = "more({0!r}, {1}): got {got:g}: ", "which is not it"
    check(more, cases, expected, where=where, otherwise=otherwise)


def check_updates(updates: Answer) -> None:
    """Check how many updates can be done in the seconds of another training.

    Args:
        updates: `updates(budget, cost)`, the whole updates of a mechanism whose update costs
            `cost` times that of no attention, in the time that no attention takes for `budget`.
    """

    def expected(budget: int, cost: float) -> Expected:
        whole = int(budget // cost)
        return whole, {
            "equal updates are not equal seconds": budget,
            "a dearer update leaves fewer of them, not more": budget * cost,
            "an update that is not finished in time does not count": (budget / cost, whole + 1),
        }

    cases = [(2000, 2.5), (2000, 1.0), (700, 1.5), (10, 0.3)]
    check(updates, cases, expected, where="updates({}, {}): ", otherwise="got {got:g}")


def check_front(front: Answer) -> None:
    """Check which mechanisms no other one makes superfluous.

    Args:
        front: `front(arms)`, from a mapping of names to (cost, quality) to the set of names for
            which no other arm costs at most as much and is at least as good, better in one of the
            two.
    """
    for arms in _ARMS:
        right = {
            name
            for name, (cost, quality) in arms.items()
            if not any(
                c <= cost and q >= quality and (c, q) != (cost, quality) for c, q in arms.values()
            )
        }
        got = called(front, arms)
        if not isinstance(got, Set | list | tuple):
            refuse(got, "a set of names")
        kept = set(got)
        if kept == right:
            continue
        best = max(arms, key=lambda name: arms[name][1])
        if kept == {best}:
            fail("the best is one of them; who can pay less has a choice, too")
        if extra := sorted(kept - right):
            fail(f"{extra[0]!r} is too many: another costs no more and is no worse")
        missing = min(right - kept)
        twins = [n for n in arms if n != missing and arms[n] == arms[missing]]
        why = "its twin is no better" if twins else "whatever is better also costs more"
        fail(f"{missing!r} is missing: {why}")
    print("Right.")


_ARMS: tuple[dict[str, tuple[float, float]], ...] = (
    {"a": (1.0, 30.0), "b": (1.1, 96.0), "c": (2.4, 99.0), "d": (2.5, 95.0)},
    {"a": (1.0, 50.0), "b": (1.0, 60.0), "c": (2.0, 60.0), "d": (3.0, 61.0)},
    {"a": (1.0, 50.0), "b": (1.0, 50.0), "c": (2.0, 40.0)},
)
