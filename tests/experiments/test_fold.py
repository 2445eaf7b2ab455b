"""What is folded on the page is folded in JupyterLab, and nothing else of a notebook changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from experiments.tools import fold


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
        (["remove-input"], ["source_hidden"]),
        (["hide-output"], ["outputs_hidden"]),
        (["remove-output"], ["outputs_hidden"]),
        (["hide-cell"], ["source_hidden", "outputs_hidden"]),
        (["remove-cell"], ["source_hidden", "outputs_hidden"]),
        (["hide-input", "remove-output"], ["source_hidden", "outputs_hidden"]),
        (["nbval-ignore-output"], []),
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
