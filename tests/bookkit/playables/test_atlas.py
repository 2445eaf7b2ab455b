"""The atlas in Node: one row an architecture, marks that count, safe words."""

import json
from dataclasses import replace
from typing import Any

from bookkit.atlas.census import census
from bookkit.atlas.rows import load_atlas
from bookkit.atlas.words import describe
from bookkit.playables.atlas import atlas_census, atlas_table
from bookkit.playables.playable import Playable
from tests.bookkit.playables.node import ask

ATLAS = load_atlas()
SMALL = replace(ATLAS, rows=tuple(ATLAS.row(name) for name in ("llama", "gpt_oss", "cohere2")))
NAMES = ("llama", "gpt_oss", "cohere2", "gemma3_text", "smollm3", "mixtral")
FEW = replace(ATLAS, rows=tuple(row for row in ATLAS.rows if row.model_type in NAMES))


def data(made: Playable) -> Any:
    return json.loads(made.json())


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
