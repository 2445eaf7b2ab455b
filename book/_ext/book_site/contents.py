"""The order of the book: which pages `_toc.yml` names, and in which part they stand."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True)
class Chapter:
    name: str  # its address within the site, without .html
    part: str  # the caption that it stands under; empty before the first
    numbered: bool = False  # whether the pages of that part have numbers
    above: str = ""  # the page that it is a child of


@cache  # a build asks for the contents some 250 times, and parsing YAML is slow
def read_contents(toc: Path) -> tuple[Chapter, ...]:
    """Return the pages that a `_toc.yml` names one by one, in its order.

    Pages that it lists by a pattern are made by the build: the API reference. They are for
    looking up, on the site, and so is the page right above them.
    """
    read = yaml.safe_load(toc.read_text(encoding="utf-8"))
    chapters = [Chapter(read["root"], "")]
    for part in read["parts"]:
        chapters += _below(part, part["caption"], numbered=bool(part.get("numbered")))
    return tuple(chapters)


def _below(entry: dict[str, Any], part: str, *, numbered: bool) -> Iterator[Chapter]:
    for child in (*entry.get("chapters", ()), *entry.get("sections", ())):
        if "file" in child and not any("glob" in one for one in child.get("sections", ())):
            yield Chapter(child["file"], part, numbered, entry.get("file", ""))
            yield from _below(child, part, numbered=numbered)
