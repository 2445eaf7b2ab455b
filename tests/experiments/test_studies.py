"""Recorded studies: each is computed today as it was when it was recorded."""

from __future__ import annotations

import gzip
import importlib
import json
import time
from pathlib import Path
from typing import Any

import pytest

from bookkit.notebook import load_result
from bookkit.records import recorded_studies
from companion.data.pairs import Pair
from experiments.engine.record import STUDIES as FOLDER
from experiments.engine.settings import REPORT_SEEDS, reported
from experiments.engine.translators import (
    GrammarTask,
    Setting,
    determiner_counts,
    determiner_errors,
    equal_parameters,
    parameter_count,
)
from experiments.engine.trials import TUNING_SEEDS

STUDIES = list(recorded_studies())
FREE = ("steps", "learning_rate")
"""What may differ between an arm and the same arm trained for longer."""

Trial = dict[str, Any]


def test_there_are_records() -> None:
    assert {"alignment", "bottleneck", "live", "real_sentences"} <= set(STUDIES)


@pytest.mark.parametrize("name", STUDIES)
def test_the_smoke_run_gives_the_recorded_numbers(name: str) -> None:
    """A renamed variable changes nothing here; a change of what is computed does."""
    study = load_result(name)
    module = importlib.import_module(f"experiments.{name}.study")
    began = time.process_time()
    trace = module.STUDY.smoke()
    assert time.process_time() - began < 15, "a smoke run should take at most 5 s"
    assert study.fingerprint is not None
    assert trace == pytest.approx(study.fingerprint["losses"], abs=study.fingerprint["tolerance"])


@pytest.mark.parametrize("name", STUDIES)
def test_reported_seeds_are_not_the_tuning_seeds(name: str) -> None:
    assert not set(load_result(name).seeds) & set(TUNING_SEEDS)


def is_longer_version(one: Trial, other: Trial) -> bool:
    """Say whether two trials differ in the number of updates, and else only in the rate."""
    same = [
        {name: value for name, value in trial["setting"].items() if name not in FREE}
        for trial in (one, other)
    ]
    return same[0] == same[1] and one["setting"]["steps"] != other["setting"]["steps"]


@pytest.mark.parametrize(
    "path", sorted(FOLDER.glob("*/tuned*.json")), ids=lambda path: path.parent.name
)
def test_every_kind_was_tuned_alike_and_the_best_was_chosen(path: Path) -> None:
    record = json.loads(path.read_text(encoding="utf8"))
    tried: dict[str, list[Trial]] = {}
    compared: dict[tuple[str, int], dict[str, list[Trial]]] = {}
    for trial in record["trials"]:
        name = trial.get("name", trial["setting"].get("attention"))
        tried.setdefault(name, []).append(trial)
        alike = trial["setting"].get("optimizer", ""), trial["setting"]["steps"]
        compared.setdefault(alike, {})[name] = tried[name]
    for arms in compared.values():
        if len(compared) > 1 and len(arms) == 1:
            (trials,) = arms.values()
            assert any(is_longer_version(trials[0], trial) for trial in record["trials"])
        grids = [
            sorted(
                (t["setting"].get("dropout_p", 0), t["setting"]["steps"], len(t["runs"]))
                for t in trials
            )
            for trials in arms.values()
        ]
        rates = {
            arm: sorted({t["setting"]["learning_rate"] for t in trials})
            for arm, trials in arms.items()
        }
        if any(tried_rates != next(iter(rates.values())) for tried_rates in rates.values()):
            for arm, tried_rates in rates.items():  # grids of their own have their optimum inside
                chosen = record["chosen"][arm]["learning_rate"]
                assert tried_rates[0] < chosen < tried_rates[-1], arm
        else:
            assert all(grid == grids[0] for grid in grids)
    sign = -1 if "lower is better" in record["metric"] else 1
    for kind, trials in tried.items():
        best = max(trials, key=lambda trial: sign * sum(trial["runs"]))
        assert record["chosen"][kind] == best["setting"]


def test_the_recorded_settings_are_the_reported_ones() -> None:
    config = load_result("bottleneck").config
    for kind, setting in reported().items():
        recorded = config[kind]["setting"]
        assert Setting(**recorded) == setting


def test_report_and_tuning_seeds_differ() -> None:
    assert len(set(REPORT_SEEDS)) >= 5
    assert not set(REPORT_SEEDS) & set(TUNING_SEEDS)


def test_training_sentences_are_not_tested() -> None:
    task = GrammarTask(train_pairs=500, max_length=12, test_pairs=50, bin_pairs=10, bins=((1, 5),))
    corpus = task.corpus(3)
    seen = {pair.source for pair in corpus.train}
    assert len(seen) == 500
    assert all(p.source not in seen for pairs in corpus.tests.values() for p in pairs)
    assert task.corpus(3) == corpus
    assert task.corpus(4).train != corpus.train
    assert task.corpus(4).tests == corpus.tests


def test_a_file_is_split_by_its_sources(tmp_path: Path) -> None:
    from experiments.real_sentences.study import FileTask

    path = tmp_path / "pairs.tsv.gz"
    lines = [f"{'word ' * (n % 7)}number{n % 60}\tpalabra{n}" for n in range(240)]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    split = {
        validation: FileTask(str(path), validation=validation, held_back=20).corpus(0)
        for validation in (False, True)
    }
    seen = {pair.source for pair in split[False].train}
    tested = {pair.source for pair in split[False].tests["test"]}
    validated = {pair.source for pair in split[True].tests["test"]}
    assert len(tested) == len(validated) == 20
    assert not seen & (tested | validated)
    assert not tested & validated
    parts = [name for name in split[False].tests if name != "test"]
    assert sum(len(split[False].tests[name]) for name in parts) == 20


def test_equal_parameters_are_equal_within_two_percent() -> None:
    sizes = (100, 190)
    wanted = parameter_count(Setting("none", hidden_dim=192), sizes)
    setting = equal_parameters(Setting("additive"), wanted, sizes)
    assert abs(parameter_count(setting, sizes) / wanted - 1) < 0.02


def test_determiner_errors_know_their_noun() -> None:
    pair = Pair(
        ("the", "red", "house"),
        ("la", "casa", "roja"),
        frozenset({(0, 0), (1, 2), (2, 1)}),
        classes=("determiner", "noun", "adjective"),
    )
    at_noun = frozenset({(0, 2), (1, 2), (2, 1)})
    elsewhere = frozenset({(0, 1), (1, 1), (2, 1)})
    right = frozenset({(0, 0), (1, 2), (2, 2)})
    assert determiner_errors([at_noun], [pair]) == (1, 1)
    assert determiner_errors([elsewhere], [pair]) == (1, 0)
    assert determiner_errors([right], [pair]) == (0, 0)
    assert determiner_counts([at_noun, elsewhere, elsewhere, right], [pair] * 4) == {
        "determiner_counts/at_their_noun": 1,
        "determiner_counts/elsewhere": 2,
    }
