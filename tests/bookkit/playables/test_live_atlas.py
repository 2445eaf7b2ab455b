"""The atlas without a script: one row an architecture, marks that count, safe words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from bs4 import BeautifulSoup, Tag

from bookkit.atlas.census import WORDS
from bookkit.atlas.rows import load_atlas
from bookkit.atlas.words import describe
from bookkit.figures import LiveOutput
from bookkit.playables.atlas import (
    atlas_census,
    atlas_drawing,
    atlas_table,
    atlas_words,
    one_part_in,
    parity_words,
)

ATLAS = load_atlas()
SMALL = replace(ATLAS, rows=tuple(ATLAS.row(name) for name in ("llama", "gpt_oss", "cohere2")))


def drawn(output: LiveOutput) -> Tag:
    page = BeautifulSoup(output._repr_html_(), "html.parser")
    assert page.figure is not None
    return page.figure


def data(figure: Tag) -> Any:
    script = figure.find("script", type="application/json")
    assert script is not None
    return json.loads(script.get_text())


def test_every_architecture_is_a_row_and_opens_into_something() -> None:
    figure = drawn(atlas_table())
    lines, rows = figure.select("tbody tr"), data(figure)["rows"]
    assert len(lines) == len(rows) == len(ATLAS.rows)
    for line, opened, row in zip(lines, rows, ATLAS.rows, strict=True):
        assert row.name in line.get_text()
        assert describe(row.spec).pattern in line.get_text()
        assert opened["type"] == row.model_type
        assert opened["unusual"]
        assert opened["shapes"]
        assert data(figure)["library"] + opened["path"] == ATLAS.address(row)


def test_the_census_names_every_architecture_and_what_it_has() -> None:
    figure = drawn(atlas_census(SMALL))
    marks = [str(name["data-am-marks"]) for name in figure.select(".am-census-name")]
    assert marks == ["nothing", "window,sink", "window,no positions"]
    years = [year.get_text() for year in figure.select(".am-census-number")]
    assert years == [str(row.year) for row in SMALL.rows]
    assert [one["name"] for one in data(figure)["marks"]] == [
        "nothing", "window", "sink", "no positions",
    ]  # fmt: skip


def test_every_word_that_is_counted_is_explained_once() -> None:
    page = BeautifulSoup(atlas_words()._repr_html_(), "html.parser")
    words = [term.get_text() for term in page.select("dt")]
    assert words == [one["name"] for one in data(drawn(atlas_census()))["marks"]]
    told = [one.get_text() for one in page.select("dd")]
    assert told == [WORDS[word] for word in words]
    assert all(one[0].isupper() and one.endswith(".") for one in told)
    assert [line.partition(": ")[0] for line in str(atlas_words()).splitlines()] == words


def test_a_word_has_the_bar_of_its_layers() -> None:
    page = BeautifulSoup(atlas_words(SMALL)._repr_html_(), "html.parser")
    bars = {term.get_text(): str(term.find("path")) for term in page.select("dt")}
    assert bars.keys() == {"nothing", "window", "sink", "no positions"}
    assert "am-atlas-window" in bars["window"]
    assert "h19" in bars["window"]  # as short as in a drawing
    assert bars["sink"] == "None"


def test_a_drawing_stands_alone() -> None:
    html = atlas_drawing("gpt_oss", caption="<b>")._repr_html_()
    figure = BeautifulSoup(html, "html.parser").figure
    assert figure is not None
    assert "64 query heads" in figure.get_text()
    assert "data-am-live" not in html
    assert "<b>" not in html


def test_the_same_call_gives_the_same_bytes() -> None:
    assert atlas_table(SMALL)._repr_html_() == atlas_table(SMALL)._repr_html_()


def test_numbers_of_the_check_are_told_in_words() -> None:
    parity = ATLAS.row("llama").parity
    said = " ".join(parity_words(replace(parity, difference=5e-6, size=3.0)))
    assert "1 part in 600,000" in said
    assert "with a cache gives the same" in said
    assert "differs from itself" not in said
    odd = replace(parity, reference_cached=0.2, reference_leak=0.1, reference_bytes=1, cached=0.3)
    said = " ".join(parity_words(odd))
    for words in ("differ by up to 0.3", "up to 0.2 away", "by up to 0.1", "of the reference 1."):
        assert words in said


def test_how_small_a_difference_is() -> None:
    assert one_part_in(4e-6, 3.0) == "1 part in 700,000"
    assert one_part_in(0.1, 1.0) == "1 part in 10"
