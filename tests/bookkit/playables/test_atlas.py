"""The atlas in Node: one row an architecture, and the bytes of the models of the lesson."""

import json
from dataclasses import replace
from typing import Any

from bookkit.atlas.history import history
from bookkit.atlas.rows import load_atlas
from bookkit.atlas.words import describe
from bookkit.playables.atlas import LENGTHS, atlas_models, atlas_table
from bookkit.playables.playable import Playable
from tests.bookkit.playables.node import ask

ATLAS = load_atlas()
NAMES = ("llama", "gpt_oss", "cohere2", "gemma3_text", "smollm3", "mistral")
FEW = replace(ATLAS, rows=tuple(row for row in ATLAS.rows if row.model_type in NAMES))


def data(made: Playable) -> Any:
    return json.loads(made.json())


def test_rows_are_chosen_by_mark_year_and_words_and_ordered() -> None:
    made = atlas_table(FEW)
    names = [row.name for row in FEW.rows]
    facts = {row.name: describe(row.spec) for row in FEW.rows}
    marks = data(made)["marks"]
    years = sorted({row.published.year for row in FEW.rows})
    states = [
        {"mark": marks.index("sliding window") + 2}, {"mark": 1}, {"year": len(years)},
        {"words": "YaRN window"}, {"words": "gqa 1024"}, {"words": "llama 3.1"},
        {"order": 2}, {"order": 3}, {"order": 1},
    ]  # fmt: skip
    most = sorted(names, key=lambda name: -facts[name].bytes)
    wanted = [
        [name for name in names if "sliding window" in facts[name].marks],
        [name for name in names if not facts[name].marks],
        [row.name for row in FEW.rows if row.published.year == years[-1]],
        ["GptOss"], ["Gemma3"], ["Llama"], most, most[::-1], sorted(names, key=str.lower),
    ]  # fmt: skip
    shown = [[names[place] for place in one] for one in ask(made, *states)]
    assert shown == wanted


def test_the_models_of_the_lesson_keep_what_their_specifications_say() -> None:
    shown = ask(atlas_models(), *({"length": place} for place in range(len(LENGTHS))))
    for tokens, kept in zip(LENGTHS, shown, strict=True):
        wanted = [model.spec.state_bytes(tokens) for model in history().values()]
        assert [sum(parts) for parts in kept] == wanted
