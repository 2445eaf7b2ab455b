"""What makes and tidies the files of the pages."""

import json
from pathlib import Path
from typing import Any

import pytest

from companion.data.pairs import Pair
from experiments.sentences.gold import read_gold
from experiments.tools import fold, stamp
from experiments.tools.europarl import errors

# Gold links from a file are read the right way round, and the words that are known are counted.

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


def test_every_aligner_has_its_error(gold_file: Path) -> None:
    found = errors(read_gold(gold_file), TRAINING)
    assert list(found) == ["Model 1", "fast_align", "HMM", "diagonal"]
    assert found["diagonal"] == pytest.approx(40)  # two of five links, and two of five missed
    assert found["Model 1"] < found["diagonal"]


# What is folded on the page is folded in JupyterLab, and nothing else of a notebook changes.


def notebook(*metadata: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook with one cell of code for each metadata, and a text."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": f"c{number}", "metadata": given, "source": ["¿x?"],
         "outputs": [{"text": ["“y”"]}], "execution_count": 1}
        for number, given in enumerate(metadata)
    ]  # fmt: skip
    cells.append({"cell_type": "markdown", "id": "m", "metadata": {"tags": ["hide-input"]}})
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def save(page: dict[str, Any], path: Path) -> Path:
    text = json.dumps(page, ensure_ascii=False, indent=1, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def test_every_tag_folds_its_part() -> None:
    rows: list[tuple[list[str], list[str]]] = [
        (["hide-input"], ["source_hidden"]),
        (["remove-output"], ["outputs_hidden"]),
        (["remove-cell"], ["source_hidden", "outputs_hidden"]),
        (["hide-input", "remove-output"], ["source_hidden", "outputs_hidden"]),
        ([], []),
    ]
    for tags, hidden in rows:
        metadata = fold.folded({"tags": tags})
        assert list(metadata.get("jupyter", {})) == hidden
        assert metadata["tags"] == tags
        assert fold.folded(metadata) == metadata


def test_what_is_no_longer_tagged_is_opened_and_other_metadata_stay() -> None:
    closed = {"jupyter": {"source_hidden": True, "outputs_hidden": True, "other": 1}, "am": 2}
    assert fold.folded(closed) == {"jupyter": {"other": 1}, "am": 2}


def test_only_the_metadata_of_code_changes(tmp_path: Path) -> None:
    page = notebook({"tags": ["hide-input"]}, {}, {"jupyter": {"source_hidden": True}})
    path = save(page, tmp_path / "page.ipynb")
    fold.fold(path)
    page["cells"][0]["metadata"]["jupyter"] = {"source_hidden": True}
    page["cells"][2]["metadata"] = {}
    after = path.read_text(encoding="utf-8")
    assert after == save(page, tmp_path / "wanted.ipynb").read_text(encoding="utf-8")
    fold.fold(path)
    assert path.read_text(encoding="utf-8") == after


# The note in a page on its run: it is there after `stamp`, and nothing else has changed.


def test_a_stamp_is_all_that_changes(tmp_path: Path) -> None:
    path = save(notebook({}) | {"metadata": {"language_info": {}}}, tmp_path / "page.ipynb")
    before = path.read_text(encoding="utf-8").splitlines()
    run = {"date": "2026-11-02", "versions": {"python": "3.11.7"}}
    stamp.stamp(path, run)
    after = path.read_text(encoding="utf-8").splitlines()
    # The line before the new one gets a comma.
    assert [line for line in before if line not in after and f"{line}," not in after] == []
    page = json.loads("\n".join(after))
    assert page["metadata"] == {"am": {"run": run}, "language_info": {}}
    assert list(page["metadata"]) == ["am", "language_info"]  # as every other program writes it
    assert page["cells"] == notebook({})["cells"]
