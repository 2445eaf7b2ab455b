"""What kind of number a study measures, which decides what interval it has.

A share is of a number of test items and lies between 0 and 100. A plain number, such as a loss or a
time, may have bounds. What is exact, such as a count of weights, has no interval.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
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
        entry: dict[str, object] = {"kind": self.kind, "unit": self.unit}
        if self.items is not None:
            entry["items"] = self.items
        if self.own_items is not None:
            entry["own_items"] = self.own_items
        if self.kind != "share" and self.bounds != UNBOUNDED:
            entry["bounds"] = list(self.bounds)
        if self.item_error:
            entry["item_error"] = self.item_error
        return entry


Kinds = dict[str, NumberKind | Callable[[str], NumberKind]]
"""Kinds of measures, by patterns of their names; some depend on the name itself."""


def share(items: int, unit: str = "%", *, own: bool = False) -> NumberKind:
    """Return the kind of a share of test items, in percent.

    It may be a score from 0 to 100 for each item as well, such as ROUGE. BLEU, a score of all
    sentences together, is treated like one: as if it were the share of sentences that are right.
    Only items that were drawn independently count: sentences, not their words. They are the same
    for all seeds, unless each seed has items of its own.
    """
    shared, of_seed = (None, items) if own else (items, None)
    return NumberKind(kind="share", unit=unit, bounds=(0, 100), items=shared, own_items=of_seed)


def number(unit: str, low: float | None = None, high: float | None = None) -> NumberKind:
    """Return the kind of any other number, with its bounds where they are known."""
    return NumberKind(kind="number", unit=unit, bounds=(low, high))


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
    return NumberKind(
        kind=entry["kind"],
        unit=entry["unit"],
        bounds=(low, high),
        items=entry.get("items"),
        own_items=entry.get("own_items"),
        item_error=entry.get("item_error", 0.0),
    )
