"""Every record holds what its study says of its runs, and today's code computes the same."""

import importlib
import json
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bookkit.records import recorded_studies
from bookkit.records.reading import RECORD
from experiments.engine import recompute
from experiments.engine.code import hashes
from experiments.engine.experiment import Experiment
from experiments.engine.recompute import changed, recomputed, study_of
from experiments.engine.record import STUDIES as FOLDER
from experiments.engine.record import layout
from experiments.engine.trials import TUNING_SEEDS

STUDIES = sorted(recorded_studies())
ON_A_FILE = {"real_sentences", "sentence_gain", "sentences"}
"""Studies whose sentences, and with them their configuration, come from the command line."""
CHEAP = {"bottleneck", "scores"}
"""Studies whose smoke run is in the fast tier, one of translators and one of a small model."""
HEAVY = {"alignment", "translator_race"}
"""Studies whose intervals take half a minute."""


def marked(names: Iterable[str], slow: Collection[str]) -> list[Any]:
    """Return names as parameters, some of them for the slow tier alone."""
    return [pytest.param(n, marks=pytest.mark.slow) if n in slow else n for n in names]


def text_of(name: str) -> str:
    return (FOLDER / name / RECORD).read_text(encoding="utf8")


def record_of(name: str) -> dict[str, Any]:
    return dict(json.loads(text_of(name)))


def test_every_study_has_a_record_and_every_record_a_study() -> None:
    assert {path.parent.name for path in FOLDER.glob("*/study.py")} == set(STUDIES)


@pytest.mark.parametrize("name", marked(STUDIES, HEAVY))
def test_a_record_follows_from_its_runs_and_its_code(name: str) -> None:
    record = record_of(name)
    assert layout(recomputed(record)) + "\n" == text_of(name)
    for key, entry in (record["measures"] | record["claims"]).items():
        if entry["kind"] in ("share", "difference"):
            least, most = entry.get("bounds", (0, 100))
            for low, high in (entry["interval"], entry["prediction"]):
                assert least <= low < high <= most, key
    code = study_of(record)
    assert (code.name, code.title, code.command) == (name, record["title"], record["command"])
    assert list(code.seeds) == record["seeds"]
    assert not set(code.seeds) & set(TUNING_SEEDS)
    assert set(hashes(code.all_modules)) >= {f"experiments/{name}/study.py"}
    if name not in ON_A_FILE:
        assert json.loads(json.dumps(code.fixed(), default=vars)) == record["config"]
        assert code.data == record["data"]


def test_records_of_other_machines_follow_from_their_runs() -> None:
    for path in FOLDER.glob("*/machines/*.json"):
        text = path.read_text(encoding="utf8")
        assert layout(recomputed(json.loads(text))) + "\n" == text


@pytest.mark.parametrize("name", marked(STUDIES, set(STUDIES) - CHEAP))
def test_the_smoke_run_gives_the_recorded_numbers(name: str) -> None:
    """A renamed variable changes nothing here; a change of what is computed does."""
    record = record_of(name)
    losses, tolerance = record["fingerprint"]["losses"], record["fingerprint"]["tolerance"]
    assert study_of(record).smoke() == pytest.approx(losses, abs=tolerance)


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that changes a claim of the study of the bottleneck."""
    module = importlib.import_module("experiments.bottleneck.study")
    code: Experiment = module.STUDY

    def change(key: str, **changes: object) -> None:
        claim = replace(code.claims[key], **changes)  # type: ignore[arg-type]
        monkeypatch.setattr(module, "STUDY", replace(code, claims={**code.claims, key: claim}))

    return change


def test_a_changed_verdict_and_a_changed_sentence_are_told(study: Any) -> None:
    record = record_of("bottleneck")
    study("attention_gain", above=99.0)
    (said,) = changed(record, recomputed(record))
    assert said.startswith("bottleneck/attention_gain: holds, now fails, 66")
    study("attention_gain", sentence="It helps.")
    (said,) = changed(record, recomputed(record))
    assert said.endswith("come out exactly right.', now 'It helps.'")


def test_what_changed_since_a_record_was_made_is_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    files = hashes(["companion.scores", "companion.masks"])
    others = {"companion/scores.py": "0" * 64, "companion/gone.py": "0" * 64}
    for name, changes in (("lookup", {}), ("scores", others)):
        code = {"commit": "0123456789", "of": "code", "files": {**files, **changes}}
        (tmp_path / name).mkdir()
        told = {**record_of(name), "code": code}
        (tmp_path / name / RECORD).write_text(json.dumps(told), encoding="utf8")
    monkeypatch.setattr(recompute, "STUDIES", tmp_path)
    assert recompute.main(["--check"]) == 1  # these two are laid out in another way
    assert capsys.readouterr().out == (
        "scores: since its runs (commit 0123456), 2 of 3 files have changed or moved: "
        "companion/scores.py, companion/gone.py\n"
        "2 records were computed again, and 2 of them changed.\n"
    )
