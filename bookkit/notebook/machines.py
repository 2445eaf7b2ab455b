"""What was timed, on every machine that timed it: a single machine decides nothing."""

import json
from dataclasses import dataclass
from datetime import date
from html import escape
from importlib.resources import files
from typing import Any

from bookkit.records import Claim, Study, load_result, verdict_of
from bookkit.records.reading import read_study

_SAID = {
    "holds": "It is so in each of these measurements.",
    "fails": "It is so in none of these measurements.",
    "undecided": "These measurements do not agree, or their rounds do not tell.",
    "no verdict": "Only this kind of processor timed it, so there is no verdict.",
}


def machines(study: str) -> list[Study]:
    """Return the records of a study that was timed: other processors first, the latest last.

    The older ones are in the folder `machines` of the study.

    >>> [one.processor for one in machines("cost")]
    ['Intel Xeon Processor', 'AMD EPYC', 'AMD EPYC']
    """
    folder, latest = files("experiments") / study / "machines", load_result(study)
    kept = [path.read_text("utf-8") for path in folder.iterdir()] if folder.is_dir() else []
    found = [read_study(json.loads(text), name=study) for text in kept]
    return [*sorted(found, key=lambda one: (one.processor == latest.processor, one.date)), latest]


def gpu_readings() -> dict[str, Any]:
    """Return what `python -m benchmarks gpu` found when it last ran: see `benchmarks.records`."""
    text = files("benchmarks").joinpath("results", "gpu.json").read_text("utf-8")
    return dict(json.loads(text))


@dataclass(frozen=True, repr=False)
class Timings:
    """One claim about times, and what each machine measured, as HTML or text."""

    rows: tuple[tuple[Study, Claim], ...]

    @property
    def verdict(self) -> str:
        """What all machines say alike; of a single processor there is no verdict."""
        if len({study.processor for study, _ in self.rows}) == 1:
            return "no verdict"
        said = {verdict_of(one.interval, one.side, one.threshold) for _, one in self.rows}
        return said.pop() if len(said) == 1 else "undecided"

    def __repr__(self) -> str:
        claim = self.rows[-1][1]
        lines = [f"Timed: “{claim.claim}” That is so if the number is {claim.claimed}."]
        for study, one in self.rows:
            day = f"{date.fromisoformat(study.date):%d %B %Y}".lstrip("0")
            lines.append(f"{study.processor}, {day}, {len(study.seeds)} rounds: {one}")
        return "\n".join([*lines, _SAID[self.verdict]])

    def _repr_html_(self) -> str:
        said = "<br>".join(map(escape, repr(self).splitlines()))
        return f'<div role="group" aria-label="Timed">{said}</div>'


def timings(key: str) -> Timings:
    """Show a claim, "study/claim", about times on every machine that timed it.

    >>> timings("cost/batch_helps").verdict, timings("cost/fused_crosses_early").verdict
    ('holds', 'undecided')
    """
    study, _, name = key.partition("/")
    return Timings(tuple((one, one.claim(name)) for one in machines(study)))
