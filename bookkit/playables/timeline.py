"""The history of attention as a line of steps: what each kept, what it changed, and where."""

import json
from dataclasses import asdict, dataclass
from functools import cache
from html import escape
from importlib.resources import files

from bookkit.playables.playable import Playable, playable

KINDS = {
    "score": "how the weights are computed or used",
    "position": "how the place of a word counts",
    "memory": "what is kept to be looked at",
    "cost": "what it takes to compute and to store",
}
"""What a step can change, and what each word means."""
MAIN = frozenset({
    "graves2013", "sutskever2014", "bahdanau2015", "luong2015", "vaswani2017", "radford2018",
    "devlin2019", "shazeer2019", "katharopoulos2020", "schlag2021", "su2021", "dao2022", "xiao2024",
    "deepseek2024", "kimi2025", "deepseek2026",
})  # fmt: skip
"""The sources of the steps that a reader should remember."""

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


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
        where: where its source says so; "abstract" if we read no more of it.
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
    """All steps in words; a notebook cell that ends with it shows them as a list of definitions."""

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


def attention_timeline(*, caption: str = "") -> Playable:
    """Show the history of attention as a line of steps, of which the reader picks a thread.

    It begins with the steps of `MAIN`. Buttons show instead what changed the score, the position,
    the memory or the cost, or every step; the names of steps open what each kept, what it changed,
    and where its source says so. `timeline_list` has all this as text.

    >>> attention_timeline()
    Timeline of attention: a drawing to play with.
    """
    steps = timeline_steps()
    return playable(
        "timeline",
        "Timeline of attention",
        caption=caption,
        kinds=list(KINDS.items()),
        steps=[{**asdict(step), "month": step.month} for step in steps],
        main=[place for place, step in enumerate(steps) if step.key in MAIN],
    )


def _defined(step: TimelineStep) -> str:
    kinds = ", ".join(step.kinds)
    return (
        f"<div><dt>{step.month}: {escape(step.name)}</dt>"
        f"<dd><strong>Kept:</strong> {escape(step.kept)}</dd>"
        f"<dd><strong>Changed ({kinds}):</strong> {escape(step.changed)}</dd>"
        f'<dd class="am-timeline-source"><a href="{escape(step.url)}">{escape(step.by)}</a>'
        f", {escape(step.where)}.</dd></div>"
    )
