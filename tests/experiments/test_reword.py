"""Findings are put into a record, and nothing else in it changes."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import pytest

from bookkit.records import Finding, load_result
from experiments.engine import record, reword
from experiments.engine.claims import Claim, History, Runs
from experiments.engine.kinds import number

RUNS: Runs = {"a": [5.0, 7.0, 6.0, 5.5, 6.5], "b": [4.0, 5.0, 4.5, 4.2, 4.8]}
PLAIN = Claim("A beats B.", "a", "b", above=0)
TOLD = Claim(
    "A beats B.", "a", "b", above=0,
    finding=Finding(holds="A wins by {}.", fails="B wins.", undecided="It is open."),
)  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write a small record without findings."""
    decided = PLAIN.decide(RUNS, lambda name: number(""))
    return record.write_result(
        "sample",
        title="A sample",
        command="python -m experiments sample",
        seeds=[1, 2, 3, 4, 5],
        threads=1,
        config={},
        measures={"a": record.measure(RUNS["a"], number(""))},
        claims={"better": decided | asdict(History("ours", "hypothesis", "before the runs"))},
        directory=tmp_path,
    )


def test_findings_come_and_go_and_numbers_stay(path: Path) -> None:
    before = path.read_text(encoding="utf-8")
    reword.reword(path, {"better": TOLD})
    claim = load_result("sample", directory=path.parents[1]).claim("better")
    assert claim.finding == TOLD.finding
    entries = json.loads(path.read_text(encoding="utf-8"))
    del entries["claims"]["better"]["finding"]
    assert entries == json.loads(before)
    reword.reword(path, {"better": PLAIN})
    assert path.read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({"better": TOLD, "other": TOLD}, "differ in other; run"),
        ({"better": Claim("A loses.", "a", "b", below=0)}, "has 'A beats B.', the table has 'A lo"),
    ],
)
def test_claims_are_not_reworded(path: Path, claims: dict[str, Claim], message: str) -> None:
    before = path.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        reword.reword(path, claims)
    assert path.read_text(encoding="utf-8") == before


def test_the_command_rewords_the_record_of_a_study(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = SimpleNamespace(name="sample", claims={"better": TOLD})
    monkeypatch.setattr(reword, "STUDIES", path.parents[1])
    monkeypatch.setitem(sys.modules, "experiments.sample.study", SimpleNamespace(STUDY=study))
    reword.main(["sample"])
    assert load_result("sample", directory=path.parents[1]).claim("better").finding == TOLD.finding
