"""What kind of number a study measures, which decides what interval it has.

A share is of a number of test items and lies between 0 and 100. A plain number, such as a loss or a
time, may have bounds. What is exact, such as a count of weights, has no interval.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from statistics import fmean
from typing import Any

from bookkit.records import Bounds, Interval, KindName
from bookkit.records.intervals import UNBOUNDED, error_terms, interval, prediction


@dataclass(frozen=True, kw_only=True)
class NumberKind:
    """What a number is."""

    kind: KindName  # "share", "difference", "number" or "exact"
    unit: str  # what is counted; "" for none
    bounds: Bounds = UNBOUNDED  # the least and the largest number, or None where unknown
    items: int | None = None  # how many test items a share is of, the same ones for all seeds
    own_items: int | None = None  # how many items of its own each seed has
    item_error: float = 0.0  # standard error that is due to test items that all seeds share
    floor: float | None = None  # what a loss cannot be far below, such as an entropy
    timed: bool = False  # it is a time, or made of times: rounds on one machine decide nothing
    asked: str = ""  # what the items are called; by default as the last part of the measure's name

    def spans(self, runs: Sequence[float]) -> dict[str, Interval]:
        """Return the intervals of the mean and of one new run; none if the number is exact.

        Raises:
            ValueError: the number is exact, but not the same in all runs.
        """
        if self.kind == "exact":
            if len(set(runs)) > 1:
                raise ValueError(f"runs: got {list(runs)}, wanted the same in all: exact")
            return {}
        given = runs, *error_terms(self, runs)
        return {"interval": interval(*given), "prediction": self._whole(prediction(*given))}

    def _whole(self, span: Interval) -> Interval:
        """Widen the interval of a new run's share to whole items: no run can end between them."""
        items = self.items or self.own_items
        if self.kind != "share" or items is None:
            return span
        low, high = (round(end * items / 100, 6) for end in span)
        return 100 * math.floor(low) / items, 100 * math.ceil(high) / items

    def as_entry(self) -> dict[str, object]:
        """Return what a record says of the kind: what there is of it."""
        said = {
            name: value
            for name, value in vars(self).items()
            if name != "asked" and value != getattr(NumberKind, name, None)  # the default
        }
        bounds = said.pop("bounds", None)
        return said if self.kind == "share" or bounds is None else {**said, "bounds": list(bounds)}

    def limit(self, runs: Sequence[float], room: float = 0.0) -> str:
        """Say which floor or ceiling the mean is close to; "" if it is to neither.

        It is close if it lies no farther away than `room`, or than half of its interval is long;
        between two bounds, than its interval is long and than a twentieth of all the way.

        >>> share(1000).limit([99.5, 99.9])
        'ceiling of 100 %'
        """
        mean = fmean(runs)
        low, high = self.spans(runs).get("interval", (mean, mean))
        least, most = self.bounds
        close = (high - low) / 2
        if least is not None and most is not None:
            close = min(high - low, (most - least) / 20)
        floor = least if self.floor is None else self.floor
        for name, end in (("floor", floor), ("ceiling", most)):
            if end is not None and abs(mean - end) <= max(close, room):
                return f"{name} of {end:g} {self.unit}".rstrip()
        return ""


Kinds = dict[str, NumberKind | Callable[[str], NumberKind]]
"""Kinds of measures, by patterns of their names; some depend on the name itself."""


def share(items: int, unit: str = "%", *, own: bool = False, asked: str = "") -> NumberKind:
    """Return the kind of a share of test items, in percent.

    It may be a score from 0 to 100 for each item as well, such as ROUGE. BLEU, a score of all
    sentences together, is treated like one: as if it were the share of sentences that are right.
    Only items that were drawn independently count: sentences, not their words. They are the same
    for all seeds, unless each seed has items of its own. Measures whose names end alike are of the
    same items; say what these are called, where the names do not.
    """
    shared, of_seed = (None, items) if own else (items, None)
    return NumberKind(
        kind="share", unit=unit, bounds=(0, 100), items=shared, own_items=of_seed, asked=asked
    )


def number(
    unit: str, low: float | None = None, high: float | None = None, **more: Any
) -> NumberKind:
    """Return the kind of any other number, with its bounds where they are known.

    A loss may have a `floor` that is no bound, such as the entropy of its source. What is `timed`
    gets no verdict, nor does any claim that is made of it.
    """
    return NumberKind(kind="number", unit=unit, bounds=(low, high), **more)


def exact(unit: str) -> NumberKind:
    """Return the kind of what is so by construction, such as a count: it has no interval."""
    return NumberKind(kind="exact", unit=unit)


def kind_of(name: str, kinds: Kinds) -> NumberKind:
    """Return the kind of a measure: that of the first pattern that matches its name.

    Raises:
        ValueError: no pattern does.

    >>> kind_of("dot/loss", {"*/loss": number("nats", 0), "*": share(1000)}).unit
    'nats'
    """
    found = next((kind for key, kind in kinds.items() if fnmatchcase(name, key)), None)
    if found is None:
        raise ValueError(f"kinds: got no pattern for {name!r}, wanted one of {', '.join(kinds)}")
    return found if isinstance(found, NumberKind) else found(name)


def from_entry(entry: Mapping[str, Any]) -> NumberKind:
    """Return the kind that an entry of a record says.

    >>> from_entry(share(1000).as_entry()) == share(1000)
    True
    """
    low, high = (0, 100) if entry["kind"] == "share" else entry.get("bounds", UNBOUNDED)
    given = {one.name: entry[one.name] for one in fields(NumberKind) if one.name in entry}
    return NumberKind(**{**given, "bounds": (low, high)})
