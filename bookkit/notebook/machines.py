"""What was timed, on every machine that timed it: a single machine decides nothing."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from html import escape
from importlib.resources import files

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
    folder = files("experiments") / study / "machines"
    kept = [path.read_text("utf-8") for path in folder.iterdir()] if folder.is_dir() else []
    found = [read_study(json.loads(text), name=study) for text in kept]
    latest = load_result(study)
    found.sort(key=lambda one: (one.processor == latest.processor, one.date))
    return [*found, latest]


@dataclass(frozen=True, repr=False)
class Timings:
    """One claim about times, and what each machine measured, as HTML or text.

    Attributes:
        rows: where it was measured, in how many rounds, and the claim with its number.
    """

    rows: tuple[tuple[Study, Claim], ...]

    @property
    def verdict(self) -> str:
        """What all machines say alike; of a single processor there is no verdict."""
        if len({study.processor for study, _ in self.rows}) == 1:
            return "no verdict"
        said = {verdict_of(one.interval, one.side, one.threshold) for _, one in self.rows}
        return said.pop() if len(said) == 1 else "undecided"

    def __repr__(self) -> str:
        rows = [f"{where}: {claim}" for where, claim in self._measured()]
        return "\n".join([self._claimed(), *rows, _SAID[self.verdict]])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(where)}</td><td>{claim._repr_html_()}</td></tr>"
            for where, claim in self._measured()
        )
        return (
            f'<div role="group" aria-label="Timed"><p>{escape(self._claimed())}</p>'
            f'<table class="table"><tbody>{rows}</tbody></table><p>{_SAID[self.verdict]}</p></div>'
        )

    def _measured(self) -> Iterator[tuple[str, Claim]]:
        for study, claim in self.rows:
            day = date.fromisoformat(study.date)
            yield f"{study.processor}, {day.day} {day:%B %Y}, {len(study.seeds)} rounds", claim

    def _claimed(self) -> str:
        claim = self.rows[-1][1]
        return f"Timed: “{claim.claim}” That is so if the number is {claim.claimed}."


def timings(key: str) -> Timings:
    """Show a claim about times on every machine that timed it.

    Args:
        key: "study/claim"; all that is shown comes from the records.

    Raises:
        UnknownNameError: there is no such study or claim; the message lists those there are.

    >>> timings("cost/batch_helps").verdict, timings("cost/fused_crosses_early").verdict
    ('holds', 'undecided')
    """
    study, _, name = key.partition("/")
    return Timings(tuple((one, one.claim(name)) for one in machines(study)))
