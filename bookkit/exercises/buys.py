"""The exercises of "What attention buys"."""

from collections.abc import Callable, Mapping, Set
from functools import partial
from typing import Any

import numpy as np

from bookkit.exercises.answers import Numbers, refuse
from bookkit.exercises.exercise import Function

DICE = np.random.default_rng(7)


def _local(
    scores: Numbers, position: float, window: int, *, sigma: float = 0.5, bell: float = 1,
    everywhere: bool = False, closed: bool = True,
) -> Any:  # fmt: skip
    """Weigh words near a position; `sigma` is in units of the window, D."""
    distance = np.arange(len(scores)) - position
    near = abs(distance) <= window if closed else abs(distance) < window
    powers = np.exp(scores - scores.max()) * (near | everywhere)
    curve = np.exp(-bell * distance**2 / (2 * (sigma * window) ** 2))
    return powers / powers.sum() * curve * near


check_local = Function(
    "`local(scores, place, window)`, the weights of Luong's predictive local attention, from k "
    "scores, a position (a real number, the first word stands at 0) and D, to k weights.",
    right=_local,
    cases=[(DICE.normal(size=k), *rest) for k, *rest in ((9, 4.3, 2), (7, 0.4, 3), (8, 5.0, 2))],
    mistakes={
        "the softmax runs over the window, not over the whole sentence":
            partial(_local, everywhere=True),
        "the bell curve is missing": partial(_local, bell=0),
        "the weights are not normalised again after the bell curve":
            lambda *given: _local(*given) / _local(*given).sum(),
        "sigma is D / 2, not D": partial(_local, sigma=1),
        "the window reaches as far as D, D included": partial(_local, closed=False),
        "the bell curve falls with the squared distance over 2 sigma^2": partial(_local, bell=2),
        "the place is a real number: do not round it": lambda s, p, w: _local(s, round(p), w),
    }, where="local(scores, {1}, {2}): ", rtol=1e-9, atol=1e-12,
)  # fmt: skip

ADDED = {"dot": (0, 0), "general": (1, 0), "concat": (2, 1), "local": (2, 1), "additive": (5, 1)}
"""How many matrices (d, d) and vectors (d,) a mechanism adds."""


def _more(**other: tuple[int, int]) -> Callable[[str, int], int]:
    def more(kind: str, d: int) -> int:
        matrices, vectors = (ADDED | other)[kind]
        return matrices * d * d + vectors * d

    return more


check_weights = Function(
    '`more(kind, d)`, how many weights a mechanism adds to a translator without attention: "dot", '
    '"general", "concat", "local" (general in a window around a predicted position) or "additive" '
    "(whose context also enters the decoder's GRU), where all states have width d.",
    right=_more(), cases=[(kind, d) for d in (6, 128) for kind in ADDED], mistakes={
        "the vector v is missing": (_more(concat=(2, 0)), _more(additive=(5, 0))),
        "the matrix meets both vectors, it is (2d, d)": _more(concat=(1, 1)),
        "the prediction has a matrix and a vector of its own": _more(local=(1, 0)),
        "general has a matrix, too": _more(local=(1, 1)),
        "the prediction ends in a vector": _more(local=(2, 0)),
        "the context enters three gates of the GRU": _more(additive=(2, 1)),
        "the GRU has three gates, not one": _more(additive=(3, 1)),
    }, where="more({0!r}, {1}): got {got:g}: ", otherwise="which is not it",
)  # fmt: skip

check_updates = Function(
    "`updates(budget, cost)`, the whole updates of a mechanism whose update costs `cost` times "
    "that of no attention, in the time that no attention takes for `budget`.",
    right=lambda budget, cost: int(budget // cost),
    cases=[(2000, 2.5), (700, 1.5), (2000, 1.0), (10, 0.3)], mistakes={
        "equal updates are not equal seconds": lambda budget, cost: budget,
        "a dearer update leaves fewer of them, not more": lambda budget, cost: budget * cost,
        "an update that is not finished in time does not count":
            (lambda budget, cost: budget / cost, lambda budget, cost: budget // cost + 1),
    }, where="updates({}, {}): ", otherwise="got {got:g}",
)  # fmt: skip

Arms = Mapping[str, tuple[float, float]]


def _front(arms: Arms) -> set[str]:
    def spared(name: str) -> bool:
        cost, quality = arms[name]
        others = (arm for arm in arms.values() if arm != arms[name])
        return not any(c <= cost and q >= quality for c, q in others)

    return set(filter(spared, arms))


def _names(got: Any, arms: Arms) -> set[Any]:
    if not isinstance(got, Set | list | tuple):
        refuse(got, "a set of names")
    return set(got)


def _off_the_front(kept: set[str], arms: Arms) -> str:
    right = _front(arms)
    if extra := sorted(kept - right):
        return f"{extra[0]!r} is too many: another costs no more and is no worse"
    missing = min(right - kept)
    twins = [name for name in arms if name != missing and arms[name] == arms[missing]]
    why = "its twin is no better" if twins else "whatever is better also costs more"
    return f"{missing!r} is missing: {why}"


check_front = Function(
    "`front(arms)`, from a mapping of names to (cost, quality) to the set of names for which no "
    "other arm costs at most as much and is at least as good, better in one of the two.",
    right=_front, cases=[
        ({"a": (1.0, 30.0), "b": (1.1, 96.0), "c": (2.4, 99.0), "d": (2.5, 95.0)},),
        ({"a": (1.0, 50.0), "b": (1.0, 60.0), "c": (2.0, 60.0), "d": (3.0, 61.0)},),
        ({"a": (1.0, 50.0), "b": (1.0, 50.0), "c": (2.0, 40.0)},),
    ], mistakes={
        "the best is one of them; who can pay less has a choice, too":
            lambda arms: {max(arms, key=lambda name: arms[name][1])},
    }, examples={
        "'d' is too many: another costs no more and is no worse": set,
        "'a' is too many: another costs no more and is no worse": lambda arms: _front(arms) | {"a"},
        "'a' is missing: whatever is better also costs more": lambda arms: _front(arms) - {"a"},
        "'a' is missing: its twin is no better":
            lambda arms: _front(arms) - ({"a"} if arms["a"] == arms["b"] else set()),
    }, read=_names, otherwise=_off_the_front,
)  # fmt: skip
