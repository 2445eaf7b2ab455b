"""The exercises of "Which one is best?"."""

from collections.abc import Mapping, Sequence, Set
from statistics import fmean
from typing import Any

from bookkit.exercises.answers import refuse
from bookkit.exercises.exercise import Function, Value

check_share = Value(
    "The share of short sentences at which both models get as many right, from 0 to 1.",
    right=0.75, mistakes={
        "that is the share of long sentences": 0.25,
        "a share from 0 to 1, no percent": 75,
        "both have the same number of short sentences: weigh what each gets right by the shares":
            (0.5, 2 / 3),
    }, otherwise="got {got:g}: at this share one of the two is ahead", rtol=0, atol=1e-6,
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

Runs = Sequence[float]


def _gaps(new: Runs, old: Runs) -> list[float]:
    return [one - other for one, other in zip(new, old, strict=True)]


check_gap = Function(
    "`gap(new, old)`, from the results of two models on the same seeds to how far the new one is "
    "ahead on average.",
    right=lambda new, old: fmean(_gaps(new, old)),
    cases=[([60, 90, 69], [70, 68, 75]), ([50.0, 52.0], [40.0, 44.0])], mistakes={
        "the new model is shown by its best run, and the old one by all":
            lambda new, old: max(new) - fmean(old),
        "the best run of each says how lucky they were: take the means":
            lambda new, old: max(new) - max(old),
        "that is the seed on which the new one is furthest ahead":
            lambda new, old: max(_gaps(new, old)),
        "new minus old, not old minus new": lambda new, old: fmean(_gaps(old, new)),
        "a mean, not a sum": lambda new, old: sum(_gaps(new, old)),
    }, otherwise="got {got:g} for {} and {}", rtol=1e-9, atol=1e-9,
)  # fmt: skip
