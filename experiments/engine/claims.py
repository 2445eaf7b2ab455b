"""Claims: sentences, each with the number that decides it, computed of what a study measured.

A claim that is made or changed after its numbers were seen proves less than one that was made
before, so each says which it is; the times are those of the repository's history. Not every claim
is a hypothesis either: some demonstrate what a bug does, and some check that a model has learned
its task at all.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from bookkit.records import Bounds, Finding, Origin, Planned, Sort, verdict_of
from bookkit.records.intervals import UNBOUNDED, error_terms
from experiments.engine.answers import Answered, error
from experiments.engine.kinds import NumberKind, number, share
from experiments.engine.record import Entry, claim, differences

Runs = dict[str, list[float]]
"""One list of runs, in the order of the seeds, for every measure, as "arm/measure"."""
Quantity = str | Callable[[Runs], Sequence[float]]
"""A measure, or what is computed of several."""
KindOf = Callable[[str], NumberKind]
"""Gives the kind of a measure, by its name."""
Answers = Mapping[str, Answered]
"""Answers by item of all seeds, by the measures that are computed of them."""


def computed(quantity: Quantity, runs: Runs) -> Sequence[float]:
    """Return a measure, or what is computed of several, one number a seed."""
    return runs[quantity] if isinstance(quantity, str) else quantity(runs)


def ratio(runs: Runs, first: str, second: str) -> list[float]:
    """Return the quotient of two measures, run by run.

    >>> ratio({"a": [6.0, 1.0], "b": [2.0, 4.0]}, "a", "b")
    [3.0, 0.25]
    """
    return [a / b for a, b in zip(runs[first], runs[second], strict=True)]


def distance(runs: Runs, first: str, second: str) -> list[float]:
    """Return the absolute difference of two measures, run by run."""
    return [abs(a - b) for a, b in zip(runs[first], runs[second], strict=True)]


def trainings(runs: Runs, condition: str) -> list[float]:
    """Return 100 for every training of which a condition is true, and 0 for the others.

    It is of a measure or of the difference of two, with "above" or "below" and a number.

    >>> trainings({"a/right": [99.0, 20.0]}, "a/right above 90")
    [100.0, 0.0]
    """
    what, side, bound = condition.rsplit(maxsplit=2)
    measured, *control = what.split(" - ")
    values = differences(runs[measured], runs[control[0]] if control else None)
    sign = {"above": 1, "below": -1}[side]
    return [100.0 * (sign * value > sign * float(bound)) for value in values]


def asker(kind_of: KindOf) -> Callable[[str], str]:
    """Return a function that names the test items of a measure.

    Its kind may give them a name; otherwise they have the last part of the measure's.

    >>> from experiments.engine.kinds import share
    >>> asker(lambda name: share(9))("dot/exact_match/test")
    'test'
    """
    return lambda name: kind_of(name).asked or name.rpartition("/")[2]


def worded(entry: Entry, finding: Finding | None) -> Entry:
    """Return an entry of a record with its finding, or without one."""
    entry = {key: value for key, value in entry.items() if key != "finding"}
    if finding is None:
        return entry
    said = {name: text for name, text in asdict(finding).items() if text or name == "number"}
    return {**entry, "finding": said}


@dataclass(frozen=True)
class History:
    """Where a claim comes from, when it was made, and what it was before."""

    origin: Origin = "ours"  # a "paper" that says so or suggests it, a "popular" saying, or "ours"
    sort: Sort = "hypothesis"  # or "demonstration" of what a bug does, or "check" of the study
    # "before the runs"; "with the record", if one commit holds both; "added later", after numbers
    # of the study had been seen; "changed later", in question, threshold or measure; "extended
    # later", to more seeds, more training or a new measurement.
    planned: Planned = "before the runs"
    before: str = ""  # what it was before, or what was done to it; "" for nothing
    source: str = ""  # key of the paper in book/references.bib; "" for none
    quoted: str = ""  # where the paper says so, and in which words; "" if nobody has looked

    def __post_init__(self) -> None:
        if not self.before and self.planned != "before the runs":
            raise ValueError(f"before: got nothing, wanted what was before, as {self.planned}")

    def as_entry(self) -> Entry:
        """Return what a record says of it."""
        return {name: value for name, value in vars(self).items() if value or name != "quoted"}


@dataclass(frozen=True)
class Claim:
    """A sentence, and the number that decides it, one a seed: treatment - control."""

    sentence: str  # what is claimed
    treatment: Quantity  # the number that the sentence is about
    control: Quantity | None = None  # what it is compared with, seed by seed; none for a bound
    unit: str = ""  # of the difference
    above: float | None = None  # the difference lies above this if the sentence is true
    below: float | None = None  # the difference lies below this; exactly one of the two is given
    bounds: Bounds | None = None  # of a difference that is not one of measures
    counts: bool = False  # it is of every training whether something is true, as 100 or 0
    # What a page says in large type when the claim holds, fails or stays open. It is no part of
    # what was claimed, so it may be written after the runs; `recompute` puts it into the record.
    finding: Finding | None = None
    history: History = History()  # where it comes from, and when it was made

    def __post_init__(self) -> None:
        if (self.above is None) == (self.below is None):
            raise ValueError(f"above, below: got {self.above}, {self.below}, wanted one number")

    def decide(self, runs: Runs, kind_of: KindOf, answers: Answers | None = None) -> Entry:
        """Return the entry of a record, by all runs and the answers by item that are known."""
        kind = self.kind(runs, kind_of, answers)
        entry = self._entry(runs, kind)
        if near := self._near(runs, kind_of):
            entry["near"] = near
        if self._wants_answers(runs, kind_of, answers or {}):
            seeds_alone = self._entry(runs, replace(kind, item_error=0.0))
            if not _decided(entry) and _decided(seeds_alone):
                return {**entry, "wants_answers": True}
        return entry

    def _entry(self, runs: Runs, kind: NumberKind) -> Entry:
        control = None if self.control is None else computed(self.control, runs)
        both = computed(self.treatment, runs), control
        if self.above is not None:
            return claim(self.sentence, *both, kind, "above", self.above)
        assert self.below is not None
        return claim(self.sentence, *both, kind, "below", self.below)

    def kind(self, runs: Runs, kind_of: KindOf, answers: Answers | None = None) -> NumberKind:
        """Return what kind of number decides: a share as measured, a difference, or another."""
        if self.counts:
            return share(1, "% of trainings", own=True)
        if self.control is None and isinstance(self.treatment, str):
            kind = kind_of(self.treatment)
            kind = number(self.unit) if kind.kind == "exact" else replace(kind, unit=self.unit)
            told = self.treatment in (answers or {})
            shared = self.item_error(runs, kind_of, answers) if told else kind.item_error
            return replace(kind, item_error=shared)
        bounds, names = self._bounds(kind_of), self.measures(runs)
        shared = self.item_error(runs, kind_of, answers)
        own = [
            items
            for name in names
            if (items := kind_of(name).own_items) and any(self._slopes(runs, name, 1.0))
        ]
        known = (shared > 0 or own) and None not in bounds
        return NumberKind(
            kind="difference" if known else "number", unit=self.unit, bounds=bounds,
            own_items=min(own, default=None) if known else None, item_error=shared,
            timed=any(kind_of(name).timed for name in names),
        )  # fmt: skip

    def measures(self, runs: Runs) -> list[str]:
        """Return the names of the measures that the number depends on."""
        ends = self.treatment, self.control
        if not any(map(callable, ends)):
            return [end for end in ends if isinstance(end, str)]
        here = self._runs(runs)
        moved = {name: [run + 1e-6 * (1 + abs(run)) for run in runs[name]] for name in runs}
        return [name for name in runs if self._runs({**runs, name: moved[name]}) != here]

    def _near(self, runs: Runs, kind_of: KindOf) -> dict[str, str]:
        """Return the sides of a comparison that are close to a limit of theirs, and which.

        Where it is claimed that they differ by little, that little is close as well, up to 5. Of
        more than two numbers, all have to be close.
        """
        kinds = {name: kind_of(name) for name in self.measures(runs)}
        little = min(5.0, max(0.0, self.below or -(self.above or 0)))
        near = {
            name: limit
            for name, kind in kinds.items()
            for alike in [kind.unit in {"%", self.unit} - {""}]
            if (limit := kind.limit(runs[name], little * alike))
        }
        return near if len(kinds) == 2 or 2 < len(kinds) == len(near) else {}

    def item_error(self, runs: Runs, kind_of: KindOf, answers: Answers | None = None) -> float:
        """Return the standard error that test items shared by all seeds give the number.

        Shares whose answers by item are known are taken together, item by item. Every other one is
        moved by its own error, up and down, and the number moves by so much; the squares of these
        add up, as if the shares were of different items. Where both sides are asked the same items
        and tend to get the same ones right, the error is smaller than that.
        """
        known = answers or {}
        slopes = self.slopes(runs, kind_of)
        told = {name: slopes[name] for name in slopes if name in known}
        untold = (
            fmean(slopes[name]) * error_terms(kind_of(name), runs[name])[1]
            for name in slopes
            if name not in known
        )
        return math.hypot(error(told, known, asker(kind_of)), *untold)

    def slopes(self, runs: Runs, kind_of: KindOf) -> dict[str, list[float]]:
        """Return by how much the number changes with each share of shared items, one a seed."""
        names = self.measures(runs)
        steps = {name: error_terms(kind_of(name), runs[name])[1] for name in names}
        found = {name: self._slopes(runs, name, step) for name, step in steps.items() if step}
        return {name: values for name, values in found.items() if any(values)}

    def _slopes(self, runs: Runs, name: str, step: float) -> list[float]:
        """Return the change with a measure, up or down, whichever changes the mean by more."""
        here = self._runs(runs)
        ways = [
            [(there - start) / way for there, start in zip(moved, here, strict=True)]
            for way in (step, -step)
            for moved in [self._runs({**runs, name: [value + way for value in runs[name]]})]
        ]
        return max(ways, key=lambda slopes: abs(fmean(slopes)))

    def _wants_answers(self, runs: Runs, kind_of: KindOf, answers: Answers) -> bool:
        """Whether it compares shares of the same items, and answers to these are not known."""
        untold = [name for name in self.slopes(runs, kind_of) if name not in answers]
        return len(set(map(asker(kind_of), untold))) < len(untold)

    def _runs(self, runs: Runs) -> list[float]:
        control = None if self.control is None else computed(self.control, runs)
        return differences(computed(self.treatment, runs), control)

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


def _decided(entry: Mapping[str, Any]) -> bool:
    low, high = entry["interval"]
    return verdict_of((low, high), entry["side"], entry["threshold"]) != "undecided"
