"""Every record holds what the code of its study says of its runs, and nothing else."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bookkit.records import recorded_studies
from bookkit.records.reading import RECORD
from experiments.engine import recompute
from experiments.engine.claims import Claim
from experiments.engine.code import hashes
from experiments.engine.experiment import Experiment
from experiments.engine.recompute import changed, recomputed, study_of
from experiments.engine.record import STUDIES as STUDIES_FOLDER
from experiments.engine.record import layout

STUDIES = sorted(recorded_studies())


def text_of(name: str) -> str:
    return (STUDIES_FOLDER / name / RECORD).read_text(encoding="utf8")


@pytest.mark.parametrize("name", STUDIES)
def test_every_number_and_verdict_follows_from_the_runs(name: str) -> None:
    text = text_of(name)
    assert layout(recomputed(json.loads(text))) + "\n" == text


@pytest.mark.parametrize("name", STUDIES)
def test_no_share_leaves_its_bounds_or_has_no_width(name: str) -> None:
    record = json.loads(text_of(name))
    for key, entry in (record["measures"] | record["claims"]).items():
        if entry["kind"] in ("share", "difference"):
            least, most = entry.get("bounds", (0, 100))
            for low, high in (entry["interval"], entry["prediction"]):
                assert least <= low < high <= most, key


def test_what_changed_since_a_record_was_made_is_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    files = hashes(["companion/scores.py", "companion/masks.py"])
    others = {"companion/scores.py": "0" * 64, "companion/gone.py": "0" * 64}
    for name, changes in (("lookup", {}), ("scores", others)):
        code = {"commit": "0123456789", "of": "code", "files": {**files, **changes}}
        (tmp_path / name).mkdir()
        told = {**json.loads(text_of(name)), "code": code}
        (tmp_path / name / RECORD).write_text(json.dumps(told), encoding="utf8")
    monkeypatch.setattr(recompute, "STUDIES", tmp_path)
    recompute.main(["--check"])
    assert capsys.readouterr().out == (
        "scores: since its runs (commit 0123456), 2 of 3 files have changed or moved: "
        "companion/scores.py, companion/gone.py\n"
    )


def turned_round(one: Claim) -> Iterator[Claim]:
    """Yield a claim with another side, threshold and wording, and with its sides exchanged."""
    yield replace(one, above=one.below, below=one.above)
    yield replace(one, **{side: value + 1 for side, value in sides(one).items()})
    yield replace(one, sentence=f"It is not so that {one.sentence}")
    if one.control is not None:
        yield replace(one, treatment=one.control, control=one.treatment)


def sides(one: Claim) -> dict[str, Any]:
    given = {"above": one.above, "below": one.below}
    return {side: value for side, value in given.items() if value is not None}


@pytest.mark.parametrize("name", STUDIES)
def test_no_claim_can_be_turned_round_unseen(name: str) -> None:
    record = json.loads(text_of(name))
    code = study_of(record)
    runs = {measured: entry["runs"] for measured, entry in record["measures"].items()}
    for key in code.claims.keys() & record["claims"].keys():
        entry = record["claims"][key]
        for other in turned_round(code.claims[key]):
            if other.treatment == code.claims[key].treatment or any(entry["runs"]):
                decided = replace(code, claims={key: other}).decide(runs)[key]
                assert decided != entry, key


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that changes a claim of the study of the bottleneck."""
    module = importlib.import_module("experiments.bottleneck.study")
    code: Experiment = module.STUDY

    def change(key: str, **changes: object) -> None:
        claim = replace(code.claims[key], **changes)  # type: ignore[arg-type]
        monkeypatch.setattr(module, "STUDY", replace(code, claims={**code.claims, key: claim}))

    return change


@pytest.mark.parametrize(
    "changes",
    [
        {"above": 1.0},
        {"above": None, "below": 0},
        {"sentence": "Attention helps."},
        {"control": "none_longer/exact_match/test"},
    ],
)
def test_a_changed_claim_is_seen(study: Any, changes: dict[str, object]) -> None:
    study("attention_gain", **changes)
    record = json.loads(text_of("bottleneck"))
    assert recomputed(record) != record


def test_a_changed_verdict_is_told(study: Any) -> None:
    record = json.loads(text_of("bottleneck"))
    study("attention_gain", above=99.0)
    (said,) = changed(record, recomputed(record))
    assert said.startswith("bottleneck/attention_gain: holds, now fails, 66")
