"""The pages of the book as the reading map shows them: parts, questions, minutes, the core path.

A test holds this table to `_toc.yml` and the minutes to the pages themselves.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class Stop:
    """A page on the map.

    Attributes:
        page: its file below `book/`.
        title: what the map calls it.
        question: what it is about, in a line.
        minutes: how long it takes to read up to its exercises; None for pages to look things up.
        core: whether it belongs to the core path.
        first: whether it is one of the pages for a reader who has one hour.
        evidence: whether a page below it shows how its results were measured.
    """

    page: str
    title: str
    question: str
    minutes: int | None = None
    core: bool = False
    first: bool = False
    evidence: bool = False

    @property
    def evidence_page(self) -> str:
        """Return the file of its evidence, "" where it has none."""
        return self.page.replace(".ipynb", "_evidence.ipynb") if self.evidence else ""


@dataclass(frozen=True)
class Part:
    """A part of the book.

    Attributes:
        name: its caption in `_toc.yml`.
        about: what it is about, in a line.
        stops: its pages, in their order.
    """

    name: str
    about: str
    stops: tuple[Stop, ...]


def _read(path: Path) -> tuple[Part, ...]:
    parts = yaml.safe_load(path.read_text(encoding="utf-8"))
    return tuple(
        Part(**part | {"stops": tuple(Stop(**stop) for stop in part["stops"])}) for part in parts
    )


PARTS = _read(Path(__file__).with_suffix(".yaml"))
"""Every page of the book but the first, in the order of `_toc.yml`."""


def stops(parts: Iterable[Part] = PARTS) -> Iterator[Stop]:
    """Yield the pages of some parts.

    >>> [stop.page for stop in stops(PARTS[1:2])]
    ['history/bottleneck.ipynb', 'history/align.ipynb', 'history/choices.ipynb']
    """
    for part in parts:
        yield from part.stops


def page_titles() -> dict[str, str]:
    """Return what each page is called, evidence pages included, by its file below `book/`.

    >>> page_titles()["history/bottleneck_evidence.ipynb"]
    'The bottleneck: the evidence'
    """
    titles = {stop.page: stop.title for stop in stops()}
    evidence = {
        stop.evidence_page: f"{stop.title}: the evidence" for stop in stops() if stop.evidence
    }
    return titles | evidence


def reading_time(pages: Iterable[Stop]) -> int:
    """Return how many minutes some pages take to read.

    >>> reading_time([Stop("a.ipynb", "A", "?", 20), Stop("b.md", "B", "?")])
    20
    """
    return sum(page.minutes or 0 for page in pages)
