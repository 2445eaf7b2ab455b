"""Every record holds what the code of its study says of its runs, and nothing else."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from typing import Any

import pytest

from experiments.experiment import Experiment
from experiments.recompute import RESULTS, changed, recomputed
from experiments.record import layout

STUDIES = sorted(path.stem for path in RESULTS.glob("*.json"))


def text_of(name: str) -> str:
    return (RESULTS / f"{name}.json").read_text(encoding="utf8")


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


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that changes a claim of the study of the bottleneck."""
    module = importlib.import_module("experiments.bottleneck")
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
