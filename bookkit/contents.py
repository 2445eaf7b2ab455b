"""The pages of the book as the reading map shows them: parts, questions, minutes, the core path.

A test holds this table to `_toc.yml`; the minutes are counted on the pages themselves.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

BOOK = Path(__file__).parents[1] / "book"
FOLDED = {"hide-input", "remove-input", "remove-cell", "hide-cell"}
"""Tags of a cell whose code no reader sees without opening it."""


@dataclass(frozen=True)
class Stop:
    """A page on the map.

    Attributes:
        page: its file below `book/`.
        title: what the map calls it.
        question: what it answers, in a line; "" for pages to look things up.
        core: whether it belongs to the core path.
        first: whether it is one of the pages for a reader who has one hour.
        evidence: whether a page below it shows how its results were measured.
    """

    page: str
    title: str
    question: str = ""
    core: bool = False
    first: bool = False
    evidence: bool = False

    @property
    def minutes(self) -> int | None:
        """How long it takes to read up to its exercises; None for pages to look things up."""
        path = BOOK / self.page
        if not self.question or not path.exists():
            return None
        return round(reading_time(json.loads(path.read_text(encoding="utf-8"))["cells"]))

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


def stops() -> Iterator[Stop]:
    """Yield the pages of the book but the first, in their order.

    >>> next(stops()).page
    'start/before.ipynb'
    """
    for part in PARTS:
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


def reading_time(cells: Iterable[Mapping[str, Any]]) -> float:
    r"""Estimate in how many minutes one reads the cells of a page, up to its exercises.

    We count 200 words a minute, a minute for every figure, and half a minute for each formula that
    has a line of its own and each piece of code that is in view.

    >>> text = {"cell_type": "markdown", "source": "word " * 400 + "$$\nx\n$$", "metadata": {}}
    >>> reading_time([text, text | {"source": "## Exercises"}, text])
    2.515
    """
    minutes = 0.0
    for cell in cells:
        source, tags = "".join(cell["source"]), set(cell["metadata"].get("tags", ()))
        if cell["cell_type"] == "code":
            minutes += 0 if tags & FOLDED else 0.5
            kinds = {kind for output in cell["outputs"] for kind in output.get("data", ())}
            figure = kinds & {"text/html", "image/png", "image/svg+xml"}
            minutes += bool(figure) and not tags & {"remove-cell", "remove-output"}
            continue
        text, exercises, _ = f"\n{source}".partition("\n## Exercises")
        minutes += len(text.split()) / 200 + text.count("$$") / 4
        if exercises:
            break
    return minutes
