"""The history of attention as a line of years: what each step kept, what it changed, and where."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from html import escape
from importlib.resources import files
from itertools import groupby

from bookkit.playables.output import LiveOutput

KINDS = {
    "score": "how the weights are computed, used or read",
    "position": "how the place of a word counts",
    "memory": "what is kept to be looked at",
    "cost": "what it takes to compute and to store",
}
"""What a step can change, and what each word means."""

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip

_WIDE, _LEFT, _RIGHT = 480, 76, 472  # of the picture, in its units
_RADIUS, _APART, _ROOM = 4.2, 9.5, 17.0  # of a dot, from dot to dot, above a line's highest dot


@dataclass(frozen=True)
class TimelineStep:
    """A step in the history of attention.

    Attributes:
        date: year and month in which it was published, as "2014-09".
        key: its entry in the book's bibliography.
        name: what it is called, in a few words.
        by: who published it.
        kinds: what it changed, of `KINDS`.
        kept: what it took over, a sentence.
        changed: what it changed, a sentence.
        where: where its source says so; empty if only the whole source is known.
        url: the address of its source.
    """

    date: str
    key: str
    name: str
    by: str
    kinds: tuple[str, ...]
    kept: str
    changed: str
    where: str
    url: str

    @property
    def year(self) -> int:
        """The year in which it was published."""
        return int(self.date[:4])

    @property
    def month(self) -> str:
        """The month and the year in which it was published, in words."""
        return f"{_MONTHS[int(self.date[5:]) - 1]} {self.year}"


class TimelineList:
    """All steps in words; a notebook cell that ends with it shows them as a list of definitions.

    Attributes:
        steps: the steps, from the first to the last.
    """

    def __init__(self, steps: tuple[TimelineStep, ...]) -> None:
        self.steps = steps

    def __repr__(self) -> str:
        return "\n".join(f"{step.date} {step.name} ({step.by})" for step in self.steps)

    def _repr_html_(self) -> str:
        return f'<dl class="am-timeline-list">{"".join(map(_defined, self.steps))}</dl>'


@cache
def timeline_steps() -> tuple[TimelineStep, ...]:
    """Return the steps of the book's timeline, from the first to the last.

    >>> first = timeline_steps()[0]
    >>> first.month, first.name, first.kinds
    ('August 2013', 'soft window', ('score', 'position'))
    """
    said = files(__package__).joinpath("timeline.json").read_text(encoding="utf8")
    return tuple(
        TimelineStep(**{**step, "kinds": tuple(step["kinds"])}) for step in json.loads(said)
    )


def timeline_list() -> TimelineList:
    """Return the timeline in words, with the source of every step: for reading and for paper.

    >>> print(str(timeline_list()).splitlines()[2])
    2014-09 additive attention (Bahdanau et al.)
    """
    return TimelineList(timeline_steps())


def attention_timeline(*, caption: str = "") -> LiveOutput:
    """Show the history of attention as a line of years, from which the reader picks a thread.

    Buttons show what changed the score, the position, the memory or the cost; the name of a step
    opens what it kept, what it changed, and where its source says so. Without scripts it shows all
    steps by their names, and `timeline_list` has their words.

    Args:
        caption: the words below it.

    >>> print(str(attention_timeline()).partition(":")[0])
    Timeline of attention. 49 steps from 2013 to 2026
    """
    steps = timeline_steps()
    return LiveOutput(
        "timeline",
        drawing=_lanes(steps) + _years(steps),
        data={"kinds": KINDS, "steps": [{**asdict(step), "month": step.month} for step in steps]},
        label="Timeline of attention",
        alt=_summary(steps),
        caption=caption,
        state="All steps are shown.",
    )


def _summary(steps: tuple[TimelineStep, ...]) -> str:
    counts = (f"{sum(kind in step.kinds for step in steps)} changed the {kind}" for kind in KINDS)
    return f"{len(steps)} steps from {steps[0].year} to {steps[-1].year}: {', '.join(counts)}."


def _lanes(steps: tuple[TimelineStep, ...]) -> str:
    """Draw a line of years for each kind, with a dot for every step that changed it."""
    drawn, base = [], 0.0
    for kind in KINDS:
        dots = list(_dots(kind, steps))
        base += _ROOM + max(height for _, _, height in dots)
        circles = "".join(
            f'<circle class="am-timeline-dot" data-am-step="{number}" cx="{x:.1f}"'
            f' cy="{base - height:.1f}" r="{_RADIUS}"><title>{escape(steps[number].name)}</title>'
            "</circle>"
            for number, x, height in dots
        )
        drawn.append(
            f'<g class="am-timeline-lane" data-am-kind="{kind}">'
            f'<text x="0" y="{base + 3:.1f}">{kind}</text>'
            f'<line x1="{_LEFT}" x2="{_RIGHT}" y1="{base + 6:.1f}" y2="{base + 6:.1f}"/>'
            f"{circles}</g>"
        )
    return (
        f'<svg class="am-timeline-lanes" viewBox="0 0 {_WIDE} {base + 30:.0f}" role="img"'
        f' aria-label="{escape(_summary(steps))}">{_scale(steps, base)}{"".join(drawn)}</svg>'
    )


def _dots(kind: str, steps: tuple[TimelineStep, ...]) -> Iterator[tuple[int, float, float]]:
    """Yield the number of each step of a kind, where its dot stands, and how high it is stacked."""
    placed: list[tuple[float, float]] = []
    for number, step in enumerate(steps):
        if kind in step.kinds:
            x, height = _x(step.year + (int(step.date[5:]) - 0.5) / 12, steps), 0.0
            while any(abs(x - other) < _APART and height == above for other, above in placed):
                height += _APART
            placed.append((x, height))
            yield number, x, height


def _x(year: float, steps: tuple[TimelineStep, ...]) -> float:
    first, last = steps[0].year, steps[-1].year + 1
    return _LEFT + (_RIGHT - _LEFT) * (year - first) / (last - first)


def _scale(steps: tuple[TimelineStep, ...], base: float) -> str:
    """Draw the years: a line at the beginning of each, and every second number."""
    first, last = steps[0].year, steps[-1].year
    lines = "".join(
        f'<line class="am-timeline-rule" x1="{_x(year, steps):.1f}" x2="{_x(year, steps):.1f}"'
        f' y1="4" y2="{base + 10:.1f}"/>'
        for year in range(first, last + 2)
    )
    numbers = "".join(
        f'<text class="am-timeline-scale" x="{_x(year + 0.5, steps):.1f}" y="{base + 26:.1f}">'
        f"{year}</text>"
        for year in range(first, last + 1, 2)
    )
    return lines + numbers


def _years(steps: tuple[TimelineStep, ...]) -> str:
    """List the names of the steps, year by year."""
    lines = []
    for year, members in groupby(enumerate(steps), key=lambda numbered: numbered[1].year):
        names = "".join(
            f'<li><span class="am-timeline-step" data-am-step="{number}">{escape(step.name)}</span>'
            "</li>"
            for number, step in members
        )
        lines.append(
            f'<li class="am-timeline-year"><span class="am-timeline-number">{year}</span>'
            f'<ul class="am-timeline-steps">{names}</ul></li>'
        )
    return f'<ol class="am-timeline-years">{"".join(lines)}</ol>'


def _defined(step: TimelineStep) -> str:
    where = f", {escape(step.where)}" if step.where else ""
    kinds = ", ".join(step.kinds)
    return (
        f"<div><dt>{step.month}: {escape(step.name)}</dt>"
        f"<dd><strong>Kept:</strong> {escape(step.kept)}</dd>"
        f"<dd><strong>Changed ({kinds}):</strong> {escape(step.changed)}</dd>"
        f'<dd class="am-timeline-source"><a href="{escape(step.url)}">{escape(step.by)}</a>'
        f"{where}.</dd></div>"
    )
