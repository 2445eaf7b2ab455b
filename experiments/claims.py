"""Claims: sentences, each with the number that decides it, computed of what a study measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean

from companion.pages.studies import Bounds, Finding
from companion.pages.studies.intervals import UNBOUNDED, errors
from experiments.kinds import NumberKind, number
from experiments.record import Entry, claim, differences, ratios

Runs = dict[str, list[float]]
"""One list of runs, in the order of the seeds, for every measure, as "arm/measure"."""
Quantity = str | Callable[[Runs], Sequence[float]]
"""A measure, or what is computed of several."""
KindOf = Callable[[str], NumberKind]
"""Gives the kind of a measure, by its name."""


def computed(quantity: Quantity, runs: Runs) -> Sequence[float]:
    """Return a measure, or what is computed of several, one number a seed."""
    return runs[quantity] if isinstance(quantity, str) else quantity(runs)


def ratio(first: str, second: str) -> Quantity:
    """Return the quotient of two measures, run by run."""
    return lambda runs: ratios(runs[first], runs[second])


def distance(first: str, second: str) -> Quantity:
    """Return the absolute difference of two measures, run by run."""
    return lambda runs: [abs(a - b) for a, b in zip(runs[first], runs[second], strict=True)]


def worded(entry: Entry, finding: Finding | None) -> Entry:
    """Return an entry of a record with its finding, or without one."""
    entry = {key: value for key, value in entry.items() if key != "finding"}
    return entry if finding is None else {**entry, "finding": asdict(finding)}


@dataclass(frozen=True)
class Claim:
    """A sentence, and the number that decides it, one a seed: treatment - control.

    Attributes:
        sentence: what is claimed.
        treatment: the number that the sentence is about.
        control: what it is compared with, seed by seed; None for a bound alone.
        unit: of the difference.
        above: the difference lies above this if the sentence is true.
        below: the difference lies below this; exactly one of the two is given.
        bounds: the least and the largest possible difference, where it is not one of measures but
            of what is computed of them.
        finding: what a page says in large type when the claim holds, when it does not, and when
            the runs do not decide. It is no part of what was claimed, so it may be written after
            the runs; `python -m experiments.reword` puts it into the record.
    """

    sentence: str
    treatment: Quantity
    control: Quantity | None = None
    unit: str = ""
    above: float | None = None
    below: float | None = None
    bounds: Bounds | None = None
    finding: Finding | None = None

    def __post_init__(self) -> None:
        if (self.above is None) == (self.below is None):
            raise ValueError(f"above, below: got {self.above}, {self.below}, wanted one number")

    def decide(self, runs: Runs, kind_of: KindOf) -> Entry:
        """Return the entry of a record.

        Args:
            runs: of all measures.
            kind_of: gives the kind of each.
        """
        control = None if self.control is None else computed(self.control, runs)
        both = computed(self.treatment, runs), control
        kind = self.kind(runs, kind_of)
        if self.above is not None:
            return claim(self.sentence, *both, kind, "above", self.above)
        assert self.below is not None
        return claim(self.sentence, *both, kind, "below", self.below)

    def kind(self, runs: Runs, kind_of: KindOf) -> NumberKind:
        """Return what kind of number decides: a share as measured, a difference, or another."""
        if self.control is None and isinstance(self.treatment, str):
            kind = kind_of(self.treatment)
            return number(self.unit) if kind.kind == "exact" else replace(kind, unit=self.unit)
        bounds = self._bounds(kind_of)
        error = self.item_error(runs, kind_of)
        own = [
            items
            for name in runs
            if (items := kind_of(name).own_items) and any(self._moved(runs, name, 1.0))
        ]
        known = (error > 0 or own) and None not in bounds
        return NumberKind(
            kind="difference" if known else "number",
            unit=self.unit,
            bounds=bounds,
            own_items=min(own, default=None) if known else None,
            item_error=error,
        )

    def item_error(self, runs: Runs, kind_of: KindOf) -> float:
        """Return the standard error that test items shared by all seeds give the number.

        Every share is moved by its own error, up and down, and the number moves by so much; the
        squares of these add up, as if the shares were of different items. Where both sides are
        asked the same items and tend to get the same ones right, the error is smaller than that.
        """
        shared = ((name, errors(kind_of(name), values)[1]) for name, values in runs.items())
        return math.hypot(*(max(self._moved(runs, name, error)) for name, error in shared if error))

    def _moved(self, runs: Runs, name: str, step: float) -> list[float]:
        """Return by how much the number changes if a measure moves by a step, up and down."""
        here = self._mean(runs)
        return [
            abs(self._mean({**runs, name: [value + way * step for value in runs[name]]}) - here)
            for way in (1, -1)
        ]

    def _mean(self, runs: Runs) -> float:
        control = None if self.control is None else computed(self.control, runs)
        return fmean(differences(computed(self.treatment, runs), control))

    def _bounds(self, kind_of: KindOf) -> Bounds:
        if self.bounds is not None:
            return self.bounds
        if not (isinstance(self.treatment, str) and isinstance(self.control, str)):
            return UNBOUNDED
        (low, high), (least, most) = kind_of(self.treatment).bounds, kind_of(self.control).bounds
        return (
            None if low is None or most is None else low - most,
            None if high is None or least is None else high - least,
        )
