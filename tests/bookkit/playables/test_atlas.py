"""The atlas in Node: one row an architecture, marks that count, safe words."""

import json
from dataclasses import replace
from typing import Any

from bs4 import BeautifulSoup

from bookkit.atlas.census import WORDS, census
from bookkit.atlas.rows import load_atlas
from bookkit.atlas.words import describe
from bookkit.playables.atlas import (
    atlas_census,
    atlas_table,
    atlas_words,
    parity_words,
)
from bookkit.playables.playable import Playable
from tests.bookkit.playables.node import ask

ATLAS = load_atlas()
SMALL = replace(ATLAS, rows=tuple(ATLAS.row(name) for name in ("llama", "gpt_oss", "cohere2")))
NAMES = ("llama", "gpt_oss", "cohere2", "gemma3_text", "smollm3", "mixtral")
FEW = replace(ATLAS, rows=tuple(row for row in ATLAS.rows if row.model_type in NAMES))


def data(made: Playable) -> Any:
    return json.loads(made.json())


def test_every_architecture_is_a_row_and_opens_into_something() -> None:
    found = data(atlas_table())
    assert len(found["rows"]) == len(ATLAS.rows)
    for shown, row in zip(found["rows"], ATLAS.rows, strict=True):
        assert (shown["type"], shown["name"]) == (row.model_type, row.name)
        assert shown["pattern"] == describe(row.spec).pattern
        assert len(shown["layers"]) == len(row.spec.layers)
        assert shown["unusual"]
        assert shown["shapes"]
        assert found["library"] + shown["path"] == ATLAS.address(row)


def test_rows_are_chosen_by_mark_year_and_words_and_ordered() -> None:
    made = atlas_table(FEW)
    names = [row.name for row in FEW.rows]
    facts = {row.name: describe(row.spec) for row in FEW.rows}
    marks = data(made)["marks"]
    years = sorted({row.year for row in FEW.rows})
    states = [
        {"mark": marks.index("window") + 2}, {"mark": 1}, {"year": len(years)},
        {"words": "YaRN window"}, {"order": 2}, {"order": 3}, {"order": 1},
    ]  # fmt: skip
    most = sorted(names, key=lambda name: -facts[name].bytes)
    wanted = [
        [name for name in names if "window" in facts[name].marks],
        [name for name in names if not facts[name].marks],
        [row.name for row in FEW.rows if row.year == years[-1]],
        ["GptOss"], most, most[::-1], sorted(names, key=str.lower),
    ]  # fmt: skip
    shown = [[names[place] for place in one] for one in ask(made, *states)]
    assert shown == wanted
    assert ask(made, states[3], want="said") == [f"1 of {len(names)} architectures are shown."]


def test_the_census_counts_by_year() -> None:
    made = atlas_census(SMALL)
    assert [row["marks"] for row in data(made)["rows"]] == [
        ["nothing"], ["window", "sink"], ["window", "no positions"],
    ]  # fmt: skip
    names = [name for name, _ in data(made)["marks"]]
    assert names == ["nothing", "window", "sink", "no positions"]
    counted = census(SMALL)
    (shown,) = ask(made, {"mark": names.index("window") + 1})
    assert {one["year"]: one["having"] for one in shown} == dict(counted.has["window"])
    assert {one["year"]: one["all"] for one in shown} == dict(counted.rows)
    assert ask(made, {"mark": 2}, want="said")[0].startswith("Window: 2 of 3. A layer reads only")


def test_every_word_that_is_counted_is_explained_once() -> None:
    page = BeautifulSoup(atlas_words()._repr_html_(), "html.parser")
    words = [term.get_text() for term in page.select("dt")]
    assert words == [name for name, _ in data(atlas_census())["marks"]]
    told = [one.get_text() for one in page.select("dd")]
    assert told == [WORDS[word] for word in words]
    assert all(one[0].isupper() and one.endswith(".") for one in told)
    assert [line.partition(": ")[0] for line in str(atlas_words()).splitlines()] == words


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
