"""The reading map: every page of the table of contents once, and the minutes that it takes."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
import yaml

from bookkit.figures.contents import PARTS, Part, Stop, reading_time, stops
from tests.book.test_notebooks import PAGE_SUFFIXES, ROOT, Page, text

WORDS = 200  # of prose that a reader takes in a minute
CELL = 0.5  # minutes for a cell of code that is shown
NOT_SHOWN = {"hide-input", "remove-input", "remove-cell"}


def listed() -> dict[str, list[tuple[str, list[str]]]]:
    """Return, for every part of `_toc.yml`, its chapters, each with the pages below it."""

    def below(chapter: Mapping[str, object]) -> list[str]:
        sections = chapter.get("sections", ())
        assert isinstance(sections, list | tuple)
        return [section["file"] for section in sections if "file" in section]

    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf8"))
    return {
        part["caption"]: [(chapter["file"], below(chapter)) for chapter in part["chapters"]]
        for part in toc["parts"]
    }


def name_of(page: str) -> str:
    return page.rpartition(".")[0]


def shown(part: Part) -> list[tuple[str, list[str]]]:
    return [
        (name_of(stop.page), [name_of(stop.evidence)] if stop.evidence else [])
        for stop in part.stops
    ]


def test_the_map_has_the_pages_of_the_table_of_contents_in_its_order() -> None:
    assert {part.name: shown(part) for part in PARTS} == listed()
    assert [part.name for part in PARTS] == list(listed())


def test_every_stop_names_a_file() -> None:
    for stop in stops():
        for page in filter(None, (stop.page, stop.evidence)):
            assert page.endswith(PAGE_SUFFIXES)
            assert (ROOT / "book" / page).is_file(), f"{page} is not there"


def test_a_stop_is_called_as_its_page_is() -> None:
    for stop in stops():
        source = (ROOT / "book" / stop.page).read_text(encoding="utf8")
        if stop.page.endswith(".ipynb"):
            source = text(json.loads(source)["cells"][0]["source"])
        if stop.page != "appendices/api.md":  # the page is called after the package
            headings = (line for line in source.splitlines() if line.startswith("# "))
            assert next(headings) == f"# {stop.title}"


def minutes(page: Page) -> float:
    """Estimate how long a page takes to read up to its exercises."""
    words = cells = 0
    for cell in page["cells"]:
        source = text(cell["source"])
        if cell["cell_type"] == "code":
            cells += not NOT_SHOWN & set(cell["metadata"].get("tags", ()))
            continue
        before, exercises, _ = f"\n{source}".partition("\n## Exercises")
        words += len(before.split())
        if exercises:
            break
    return words / WORDS + CELL * cells


def test_prose_and_shown_code_take_time_and_exercises_are_not_counted() -> None:
    page: Page = {
        "cells": [
            {"cell_type": "markdown", "source": "word " * 400},
            {"cell_type": "code", "source": "1 + 1", "metadata": {}},
            {"cell_type": "code", "source": "1 + 1", "metadata": {"tags": ["remove-cell"]}},
            {"cell_type": "markdown", "source": "## Exercises\n\n" + "word " * 400},
            {"cell_type": "code", "source": "1 + 1", "metadata": {}},
        ]
    }
    assert minutes(page) == 2.5


@pytest.mark.parametrize("stop", list(stops()), ids=lambda stop: stop.page)
def test_the_minutes_of_a_stop_are_those_of_its_page(stop: Stop) -> None:
    if not stop.page.endswith(".ipynb"):
        assert stop.minutes is None
        return
    counted = minutes(json.loads((ROOT / "book" / stop.page).read_text(encoding="utf8")))
    assert stop.minutes is not None
    wrong = f"contents.py says {stop.minutes} minutes, and the page takes {counted:.0f}"
    assert abs(stop.minutes - counted) <= max(4, 0.15 * counted), wrong


def test_the_paths_take_the_time_that_they_promise() -> None:
    core = [stop for stop in stops() if stop.core]
    first = [stop for stop in stops() if stop.first]
    assert 5 <= round(reading_time(core) / 60) <= 7  # as the page says it
    assert 20 <= reading_time(first) <= 60  # exercises come on top
    assert set(first) <= set(core)
