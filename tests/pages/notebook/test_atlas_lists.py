"""The lists and tables of the atlas pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bs4 import BeautifulSoup

from companion.models.atlas.model import MIXERS
from companion.pages.atlas.rows import Atlas, load_atlas
from companion.pages.notebook.atlas import (
    census_table,
    disagreements,
    missing_list,
    parity_table,
)
from companion.pages.notebook.mixers import DEFINITIONS, mixer_code

ATLAS = load_atlas()


def soup(thing: Any) -> BeautifulSoup:
    return BeautifulSoup(thing._repr_html_(), "html.parser")


def changed(**parity: Any) -> Atlas:
    """Return an atlas whose first row gave something else."""
    first = ATLAS.rows[0]
    row = replace(first, parity=replace(first.parity, **parity))
    return replace(ATLAS, rows=(row, *ATLAS.rows[1:]))


def test_every_row_is_in_the_table_of_parity() -> None:
    lines = soup(parity_table()).select("tbody tr")
    assert len(lines) == len(ATLAS.rows)
    assert f"({ATLAS.rows[0].model_type})" in lines[0].get_text()


def test_bytes_that_differ_are_shown() -> None:
    line = parity_table(changed(reference_bytes=1)).lines[0]
    assert line[-1].endswith("; reference 1")


def test_a_reference_that_differs_from_itself_is_listed() -> None:
    before = [line[0] for line in disagreements().lines]
    found = disagreements(changed(reference_cached=0.2)).lines
    assert (ATLAS.rows[0].name, "0.2") in [line[:2] for line in found]
    assert ATLAS.rows[0].name not in before


def test_the_census_has_a_line_for_every_mark_that_is_there() -> None:
    table = census_table()
    lines = soup(table).select("tbody tr")
    assert len(lines) == len(str(table).splitlines())
    assert lines[0].get_text().startswith("nothing beside attention")


def test_everything_that_is_missing_is_named_once() -> None:
    said = soup(missing_list()).get_text(" ")
    assert all(one.name in said for one in ATLAS.missing)
    told = replace(ATLAS, missing=(replace(ATLAS.missing[0], reason="It <is> odd."),))
    assert "It &lt;is&gt; odd." in missing_list(told)._repr_html_()


def test_every_kind_of_mixer_shows_its_code_and_its_definition() -> None:
    kinds = {type(layer.mixer) for row in ATLAS.rows for layer in row.spec.layers if layer.mixer}
    code = mixer_code()
    assert len(code.sources) == len(kinds)
    for kind in kinds:
        (title,) = [name for name in code.sources if name.endswith(f": {kind.__name__}")]
        assert "def forward(" in code.sources[title].code
    assert {kind.__name__ for kind in MIXERS} >= DEFINITIONS.keys()
    assert str(code).count("def scaled_dot_product_attention(") == 1
