"""The three volumes of the printed book, and which of them a page stands in.

The first volume is for reading: the lessons, without the code that is folded on the screen and
without what stands behind a finding. The second is for looking things up: notation, the tables,
solutions and words. The third is the evidence of the lessons, with everything open.

In the parts whose pages have numbers, a page whose metadata declare a lesson stands in the first
volume, and all others stand in the third. The page that opens the book stands in the first, too,
and all others without numbers are for looking up. A page can say otherwise with `volumes` in its
metadata, as the bibliography does: each volume needs the works that it cites.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from book_site.contents import Chapter


@dataclass(frozen=True)
class Volume:
    name: str  # as metadata call it
    file: str  # its PDF
    title: str
    about: str
    called: str  # by the other volume
    everything: bool  # whether it shows what is folded on the screen
    chapters: tuple[Chapter, ...] = ()

    def holds(self, page: str) -> bool:
        return any(chapter.name == page for chapter in self.chapters)


LESSONS = Volume(
    name="lessons",
    file="attention-measured.pdf",
    title="Lessons",
    about="The lessons of the book. Solutions, notation and words stand in a second volume, for"
    " looking up. How the results were measured is told in a third, the evidence.",
    called="book of lessons",
    everything=False,
)
LOOKING_UP = Volume(
    name="looking-up",
    file="attention-measured-looking-up.pdf",
    title="Looking up",
    about="What one looks up while reading the lessons: notation, every claim and every"
    " architecture, the solutions of the exercises, words and symbols.",
    called="look-up volume",
    everything=False,
)
EVIDENCE = Volume(
    name="evidence",
    file="attention-measured-evidence.pdf",
    title="Evidence",
    about="The studies behind the lessons, with every number, its interval and all code, and the"
    " chapters that are not yet divided into a lesson and its evidence.",
    called="evidence volume",
    everything=True,
)
ALL = (LESSONS, LOOKING_UP, EVIDENCE)


def volumes(site: Path, chapters: Sequence[Chapter]) -> list[Volume]:
    """Divide the pages of a built site into the three volumes."""
    places = {chapter: _volumes_of(chapter, _metadata(site, chapter.name)) for chapter in chapters}
    return [
        replace(volume, chapters=tuple(one for one in chapters if volume.name in places[one]))
        for volume in ALL
    ]


def _volumes_of(chapter: Chapter, metadata: dict[str, Any]) -> list[str]:
    if chapter.numbered:
        default = LESSONS if "lesson" in metadata else EVIDENCE
    else:
        default = LOOKING_UP if chapter.part else LESSONS
    declared = list(metadata.get("volumes", [default.name]))
    names = [volume.name for volume in ALL]
    if not declared or set(declared) - set(names):
        raise ValueError(f"{chapter.name}: volumes: got {declared}, wanted some of {names}")
    return declared


def _metadata(site: Path, name: str) -> dict[str, Any]:
    """Return what the source of a page says about it: a notebook, or a text with a head."""
    notebook, text = (site / "_sources" / f"{name}{suffix}" for suffix in (".ipynb", ".md"))
    if notebook.is_file():
        return dict(json.loads(notebook.read_text(encoding="utf-8"))["metadata"])
    said = text.read_text(encoding="utf-8") if text.is_file() else ""
    return dict(yaml.safe_load(said.split("\n---\n")[0])) if said.startswith("---\n") else {}
