"""The two volumes of the printed book, and which of them a page stands in.

The first volume is for reading: every lesson, and what readers of lessons need. Code that is folded
on the screen is left out, and so is what stands behind a finding. The second volume is for looking
things up: the evidence of the lessons, with everything open.

Where a page stands follows from `_toc.yml` and from the metadata of the pages. In the parts whose
pages have numbers, a page whose metadata declare a lesson stands in the first volume, and all
others stand in the second. These are the pages of evidence, and the chapters that are not divided
yet. Such a chapter is lecture and appendix in one, on up to 40 sheets. It stands in the second
volume because half of it is evidence, and because the first volume promises lessons of at most
eight sheets; when it is divided, its lesson moves to the first volume by itself. The other parts,
before and after those with numbers, stand in the first volume. A page can say otherwise with
`volumes` in its metadata, as the bibliography does, which both volumes need.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from book_site.contents import Chapter


@dataclass(frozen=True)
class Volume:
    """A volume of the printed book.

    Attributes:
        name: what metadata call it.
        file: what its PDF is called.
        title: what its cover says below the title of the book.
        about: what its cover says about what is in it.
        called: how the other volume refers to it.
        everything: whether it shows what is folded on the screen.
        chapters: its pages, in their order.
    """

    name: str
    file: str
    title: str
    about: str
    called: str
    everything: bool
    chapters: tuple[Chapter, ...] = ()

    def holds(self, page: str) -> bool:
        """Tell whether a page stands in this volume."""
        return any(chapter.name == page for chapter in self.chapters)


LESSONS = Volume(
    name="lessons",
    file="attention-measured.pdf",
    title="Lessons",
    about="The lessons of the book. How their results were measured is told in a second volume, the"
    " evidence. A lesson that is not divided in this manner yet stands there as a whole.",
    called="book of lessons",
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


def volumes(site: Path, chapters: Sequence[Chapter]) -> tuple[Volume, Volume]:
    """Divide the pages of a built site into the lessons and the evidence.

    Raises:
        ValueError: the metadata of a page name a volume that there is not.
    """
    stand = {
        chapter.name: _stands_in(chapter, _metadata(site, chapter.name)) for chapter in chapters
    }

    def bound(volume: Volume) -> Volume:
        mine = tuple(chapter for chapter in chapters if volume.name in stand[chapter.name])
        return Volume(**{**vars(volume), "chapters": mine})

    return bound(LESSONS), bound(EVIDENCE)


def _stands_in(chapter: Chapter, metadata: Mapping[str, Any]) -> list[str]:
    names = [LESSONS.name, EVIDENCE.name]
    if "volumes" in metadata:
        declared = list(metadata["volumes"])
        if not declared or set(declared) - set(names):
            raise ValueError(f"{chapter.name}: volumes: got {declared}, wanted some of {names}")
        return declared
    return [EVIDENCE.name if chapter.numbered and "lesson" not in metadata else LESSONS.name]


def _metadata(site: Path, name: str) -> dict[str, Any]:
    """Return what the source of a page says about it: a notebook, or a text with such a head."""
    sources = site / "_sources"
    notebook, text = sources / f"{name}.ipynb", sources / f"{name}.md"
    if notebook.is_file():
        return dict(json.loads(notebook.read_text(encoding="utf-8"))["metadata"])
    if text.is_file():
        return front_matter(text.read_text(encoding="utf-8"))
    return {}


def front_matter(text: str) -> dict[str, Any]:
    r"""Return the metadata at the head of a text.

    >>> front_matter("---\nvolumes: [evidence]\n---\n# Title\n")
    {'volumes': ['evidence']}
    >>> front_matter("# Title\n\n---\n\nText\n")
    {}
    """
    if not text.startswith("---\n"):
        return {}
    return dict(yaml.safe_load(text.split("\n---\n")[0]) or {})
