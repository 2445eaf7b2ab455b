"""Every claim has a history, and every paper that is named is in the bibliography."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from bookkit.records import recorded_studies
from experiments.engine.history import HISTORIES, histories

STUDIES = sorted(recorded_studies())
BIBLIOGRAPHY = Path(__file__).parents[2] / "book" / "references.bib"


@pytest.mark.parametrize("name", STUDIES)
def test_every_claim_has_a_history_and_every_history_a_claim(name: str) -> None:
    claims = importlib.import_module(f"experiments.{name}.study").STUDY.claims
    assert sorted(HISTORIES.get(name, {})) == sorted(claims)


def test_every_history_is_of_a_study() -> None:
    assert set(HISTORIES) <= set(STUDIES)


def test_every_paper_is_in_the_bibliography() -> None:
    keys = set(re.findall(r"^@\w+\{([^,]+),", BIBLIOGRAPHY.read_text("utf8"), re.MULTILINE))
    named = {one.source for table in HISTORIES.values() for one in table.values()} - {""}
    assert named <= keys


def test_what_came_after_a_look_says_what_was_before() -> None:
    for study, table in HISTORIES.items():
        for claim, one in table.items():
            assert one.before or one.planned == "before the runs", f"{study}/{claim}"


def test_a_sort_that_is_none_and_a_claim_without_origin_are_refused() -> None:
    with pytest.raises(ValueError, match="sort: got 'guess', wanted one of hypothesis"):
        histories(("before the runs", ""), {"helps": "ours guess"})
    with pytest.raises(ValueError, match="others: got hurts, wanted claims that have an origin"):
        histories(("before the runs", ""), {"helps": "ours"}, {"hurts": ("added later", "")})
