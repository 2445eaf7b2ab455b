"""What carries over: every row rests on verdicts of today and leads to a section that exists."""

import json
from pathlib import Path
from typing import Any

import pytest

from bookkit.notebook.claims import section_anchor
from bookkit.records import load_result
from bookkit.records.carries import carries_over, questions

BOOK = Path(__file__).parents[3] / "book"


@pytest.mark.parametrize("row", questions(), ids=lambda row: row["question"])
def test_a_row_is_what_its_claims_and_its_page_say(row: dict[str, Any]) -> None:
    assert row["carries"] in ("yes", "in part", "no", "not known")
    for key, verdict in row["claims"].items():
        study, _, name = key.partition("/")
        assert load_result(study).claims[name].verdict == verdict, key
    page, _, anchor = row["where"].partition("#")
    cells = json.loads((BOOK / page).read_text(encoding="utf-8"))["cells"]
    lines = [line for c in cells if c["cell_type"] == "markdown" for line in c["source"]]
    assert anchor in [section_anchor(line.strip("# \n")) for line in lines if line.startswith("#")]


def test_the_table_has_a_row_for_each_question_and_no_number_is_left_out() -> None:
    table = carries_over()
    assert table.count("<tr>") == len(questions()) + 1
    assert not {"{", "}"} & set(table)
