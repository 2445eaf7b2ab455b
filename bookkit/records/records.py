"""What a study recorded: measures with their intervals, and claims that they decide."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from html import escape
from typing import Any, Literal

from bookkit.records.rounding import (
    Interval,
    decimals_for,
    exact_decimals,
    fewest_decimals,
    format_interval,
    format_number,
    with_unit,
)

Side = Literal["above", "below"]
KindName = Literal["share", "difference", "number", "exact"]
Bounds = tuple[float | None, float | None]
Verdict = Literal["holds", "undecided", "fails", "no verdict"]
Origin = Literal["paper", "popular", "ours"]
Sort = Literal["hypothesis", "demonstration", "check"]
Planned = Literal[
    "before the runs", "with the record", "added later", "changed later", "extended later"
]

_MOST_DIGITS = 6


class UnknownNameError(KeyError):
    """No study, measure or claim has this name; the message lists those that come near."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = [other for other in names if name in other] if name else []
        near = (near or get_close_matches(name, names, n=5, cutoff=0.5) or names)[:12]
        more = ", ..." if len(near) == 12 < len(names) else ""
        wanted = f"one of {', '.join(map(repr, near))}{more}" if names else "but there is none yet"
        super().__init__(f"{kind}: got {name!r}, wanted {wanted}")

    def __str__(self) -> str:
        return str(self.args[0])


def verdict_of(interval: Interval, side: Side, threshold: float) -> Verdict:
    """Return on which side of a threshold an interval lies, as the verdict of a claim.

    >>> verdict_of((1.0, 2.0), "above", 0.0), verdict_of((-1.0, 2.0), "above", 0.0)
    ('holds', 'undecided')
    """
    low, high = interval
    above, below = low > threshold, high < threshold
    if not above and not below:
        return "undecided"
    return "holds" if above == (side == "above") else "fails"


@dataclass(frozen=True, kw_only=True, repr=False)
class Measure:
    """A number, measured once a seed.

    `value in measure` asks whether one new run falls where 95 % of new runs do.

    Attributes:
        unit: what is counted; "" for none.
        runs: one value a seed, in the order of the seeds.
        mean: of the runs.
        interval: 95 % interval of the mean, over seeds and test items, within the bounds, from
            `bookkit.records.intervals`. What is exact has none: both ends are the mean.
        prediction: 95 % interval for one new run, within the bounds.
        decimals: digits after the point where the number is written; None lets the interval say.
        kind: a "share" of test items, a "difference" of shares, any other "number", or what is
            "exact" by construction.
        items: how many test items a share is of, the same ones for all seeds.
        own_items: how many each seed has, where each has its own.
        bounds: the least and the largest possible number; None for one that is not known.
        item_error: standard error that is due to shared test items, where answers by item or
            shares that it is computed of tell it.
        floor: what a loss cannot be far below, such as an entropy; None if nobody has said.
        timed: it is a time, or made of times, and the runs are rounds on one machine.
        answers: to the shared test items, one string a seed;
            `experiments.engine.answers` reads them.
        of: of how much each answer is, where not every item is right or wrong.

    >>> m = Measure(unit="BLEU", runs=(38.0, 38.4), mean=38.2, interval=(35.66, 40.74),
    ...             prediction=(33.8, 42.6))
    >>> f"{m:number} {m:interval}", 37.0 in m, 30.0 in m
    ('38.2 [35.7, 40.7]', True, False)
    """

    unit: str
    runs: tuple[float, ...]
    mean: float
    interval: Interval
    prediction: Interval
    decimals: int | None = None
    kind: KindName = "number"
    items: int | None = None
    own_items: int | None = None
    bounds: Bounds = (None, None)
    item_error: float = 0.0
    floor: float | None = None
    timed: bool = False
    answers: tuple[str, ...] = ()
    of: tuple[str, ...] = ()

    def __contains__(self, value: float) -> bool:
        low, high = self.prediction
        return low <= float(value) <= high

    def explain(self, value: float) -> str:
        """Say where one new run lies, as the message of an assert.

        >>> m = Measure(unit="", runs=(38.0, 38.4), mean=38.2, interval=(35.66, 40.74),
        ...             prediction=(33.8, 42.6))
        >>> print(m.explain(30))
        30.0 lies below [33.8, 42.6], where 95 % of new runs fall (mean 38.2, 2 runs)
        """
        low, high = self.prediction
        side = "below" if value < low else "above" if value > high else "outside"
        where = "inside" if value in self else side
        digits = self.digits
        return (
            f"{with_unit(format_number(float(value), digits), self.unit)} lies {where} "
            f"{format_interval(self.prediction, digits)}, where 95 % of new runs fall "
            f"(mean {format_number(self.mean, digits)}, {len(self.runs)} runs)"
        )

    @property
    def digits(self) -> int:
        """Digits after the point where the number is written."""
        return decimals_for(self.interval, self.mean) if self.decimals is None else self.decimals

    @property
    def interval_in_words(self) -> str:
        """What stands where the interval would, if it has no width; else nothing."""
        if self.kind == "exact":
            return "exact"
        return f"all {len(self.runs)} runs equal" if self.interval[0] == self.interval[1] else ""

    def __format__(self, part: str) -> str:
        """Write it whole ("") or in part: "value" with its unit, bare "number", "interval"."""
        number = format_number(self.mean, self.digits)
        value, words = with_unit(number, self.unit), self.interval_in_words
        interval = words or format_interval(self.interval, self.digits)
        whole = f"{value} ({words})" if words else f"{value} {interval}"
        parts = {"": whole, "value": value, "number": number, "interval": interval}
        if part not in parts:
            raise ValueError(f"format: got {part!r}, wanted one of {', '.join(map(repr, parts))}")
        return parts[part]

    def __str__(self) -> str:
        return format(self)

    def __repr__(self) -> str:
        return format(self)

    def _repr_html_(self) -> str:
        value, interval = escape(f"{self:value}"), escape(f"{self:interval}")
        return f'<span class="am-num">{value} <small>{interval}</small></span>'


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a page says of a claim in large type, for each verdict that it can get.

    In every text "{}" stands for the rounded number, and "{size}" for the number without its sign.

    Attributes:
        holds: what was found if the claim holds.
        fails: what was found if the claim does not hold: a true sentence of its own.
        undecided: what can be said if the runs do not decide.
        number: the number as a reader pictures it, such as "{} in 100 words"; "" writes its unit.
        sides: the measures that are compared, by what a reader calls them; none by default. One of
            another study has its name before it, "bottleneck:dot/exact_match/test".
        axis: what the sides are numbers of, such as "right answers, %"; "" writes their unit.
        predicted: what follows "We had predicted", such as "a gap of more than 5"; "" quotes the
            claim.
    """

    holds: str
    fails: str
    undecided: str
    number: str = ""
    sides: Mapping[str, str] = field(default_factory=dict)
    axis: str = ""
    predicted: str = ""

    def __post_init__(self) -> None:
        for name in ("holds", "fails", "undecided"):
            if not getattr(self, name).strip():
                raise ValueError(f"{name}: got {getattr(self, name)!r}, wanted a sentence")
        if self.number and not ("{}" in self.number or "{size}" in self.number):
            raise ValueError(f'number: got {self.number!r}, wanted "{{}}" or "{{size}}" in it')

    def headline(self, verdict: Verdict) -> str:
        """Return the sentence for a verdict.

        >>> said = Finding(holds="It helps.", fails="It hurts.", undecided="We cannot tell.")
        >>> said.headline("undecided")
        'We cannot tell.'
        """
        sentence: str = getattr(self, verdict)
        return sentence


@dataclass(frozen=True, kw_only=True, repr=False)
class Claim(Measure):
    """A sentence, and the measured number that decides it.

    Attributes:
        claim: the sentence.
        side: the side of the threshold on which the number lies if the sentence is true.
        threshold: what the number is held against; 0 for a difference.
        finding: what a page says of it in large type; None if nobody has put it into words.
        wants_answers: the runs do not decide, but might if the record held answers by item: without
            them, both sides of a comparison count as asked different test items.
        near: the sides of a comparison that are close to a limit, as "floor of 0 nats".
        origin: whether a paper says so, whether it is a popular saying, or ours.
        source: key of the paper that says so, or that a claim of ours is made after; "" for none.
        quoted: where the paper says so, and in which words; "" if nobody has looked.
        sort: a hypothesis, a demonstration of what a bug does, or a check of the study itself.
        planned: whether it was made before the runs, and whether it was changed after them.
        before: what it was before, or what was done to the study after a look; "" for nothing.

    >>> c = Claim(claim="A beats B.", side="above", unit="points", runs=(1.0, 2.0, 3.0), mean=2.0,
    ...           interval=(-0.48, 4.48), prediction=(-3.0, 7.0))
    >>> c.verdict, c.claimed
    ('undecided', 'above 0')
    """

    claim: str
    side: Side
    threshold: float = 0.0
    finding: Finding | None = None
    wants_answers: bool = False
    near: Mapping[str, str] = field(default_factory=dict)
    origin: Origin = "ours"
    source: str = ""
    quoted: str = ""
    sort: Sort = "hypothesis"
    planned: Planned = "before the runs"
    before: str = ""

    @property
    def verdict(self) -> Verdict:
        """Say "holds" if the whole interval lies on the claimed side, "fails" if on the other.

        Times get none: the next machine may say otherwise.
        """
        decided = verdict_of(self.interval, self.side, self.threshold)
        return "no verdict" if self.timed else decided

    @property
    def counts_trainings(self) -> bool:
        """Whether each run is a training that did what is asked, as 100, or did not, as 0."""
        return self.own_items == 1

    @property
    def claimed(self) -> str:
        """Where the number lies if the sentence is true, in words."""
        return f"{self.side} {format_number(self.threshold, exact_decimals(self.threshold))}"

    @property
    def digits(self) -> int:
        """Digits after the point; enough to see on which side of the threshold the ends lie."""
        digits = super().digits
        apart = [abs(end - self.threshold) for end in self.interval if end != self.threshold]
        while apart and round(min(apart), digits) == 0 and digits < _MOST_DIGITS:
            digits += 1
        return digits

    @property
    def plain_digits(self) -> int:
        """Digits after the point in a lesson: as few as change nothing for the reader."""
        bounds = (0.0, 100.0) if self.unit.startswith("%") else ()
        marks = (self.threshold, *bounds)
        return fewest_decimals(self.mean, self.interval, marks, most=self.digits)


@dataclass(frozen=True, kw_only=True, repr=False)
class Study:
    """One recorded study; `study[key]` is its measure of that name.

    Attributes:
        study: its name, that of the folder.
        title: what was studied.
        command: what runs it again.
        seeds: the seeds of the runs, in their order.
        date: day of the record, as YYYY-MM-DD.
        processor: the model of the processor.
        threads: number of threads.
        versions: Python and packages.
        config: what was fixed beforehand.
        data: "credit" and "licence" of data that others made, and "sha256" of their file in records
            since it is noted; None if there are none.
        fingerprint: "losses" of the study's smoke configuration and their "tolerance", or None.
        measures: by name.
        claims: by name.
        over: what a seed stands for, "seeds" of random numbers or "texts".
        code: "commit", "files" with the SHA-256 of each at that commit, and "of": "code" if the
            commit is that of the code that made the runs, "record" if no more is known than the
            commit with which the record was stored.
    """

    study: str
    title: str
    command: str
    code: Mapping[str, Any]
    seeds: tuple[int, ...]
    date: str
    processor: str
    threads: int
    versions: Mapping[str, str]
    config: Mapping[str, Any]
    data: Mapping[str, str] | None
    fingerprint: Mapping[str, Any] | None
    measures: Mapping[str, Measure] = field(default_factory=dict)
    claims: Mapping[str, Claim] = field(default_factory=dict)
    over: str = "seeds"

    def __getitem__(self, key: str) -> Measure:
        if key not in self.measures:
            raise UnknownNameError(f"measure of {self.study!r}", key, self.measures)
        return self.measures[key]

    def claim(self, key: str) -> Claim:
        """Return the claim of that name.

        Raises:
            UnknownNameError: there is none.
        """
        if key not in self.claims:
            raise UnknownNameError(f"claim of {self.study!r}", key, self.claims)
        return self.claims[key]

    def __repr__(self) -> str:
        return (
            f"{self.study}: {self.title} "
            f"({len(self.seeds)} {self.over}, {len(self.measures)} measures, "
            f"{len(self.claims)} claims)"
        )
