"""Gold links from a file are read the right way round, and the words that are known are counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from companion.data.pairs import Pair
from experiments.tools.europarl import errors, known_words, read_gold

GOLD = [
    {"src_words": ["the", "red", "house"], "tgt_words": ["la", "casa", "roja"],
     "alignment": [[0, 0], [1, 2], [2, 1]]},
    {"src_words": ["my", "house"], "tgt_words": ["mi", "casa"], "alignment": [[0, 0], [1, 1]]},
]  # fmt: skip
TRAINING = [
    Pair(("the", "red", "car"), ("el", "coche", "rojo")),
    Pair(("the", "house"), ("la", "casa")),
    Pair(("a", "house"), ("una", "casa")),
    Pair(("red",), ("roja",)),
]


@pytest.fixture
def gold_file(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(map(json.dumps, GOLD)) + "\n", encoding="utf-8")
    return path


def test_links_are_turned_to_target_and_source(gold_file: Path) -> None:
    first, second = read_gold(gold_file)
    assert first.source == ("the", "red", "house")
    assert first.sure == {(0, 0), (2, 1), (1, 2)}
    assert second.target == ("mi", "casa")
    assert first.possible == frozenset()


def test_known_words_are_counted_by_side(gold_file: Path) -> None:
    found = known_words(read_gold(gold_file), TRAINING)
    assert found == {
        "whole pairs": 1.0,
        "source words (%)": pytest.approx(80),
        "target words (%)": pytest.approx(80),
    }


def test_every_aligner_has_its_error(gold_file: Path) -> None:
    found = errors(read_gold(gold_file), TRAINING)
    assert list(found) == ["Model 1", "fast_align", "HMM", "diagonal"]
    assert found["diagonal"] == pytest.approx(40)  # two of five links, and two of five missed
    assert found["Model 1"] < found["diagonal"]
