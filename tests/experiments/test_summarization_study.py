"""The study of summaries: what its arms share, what they know, and what is counted."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

from bookkit.data.reports import made_up_names, match_reports, tells_winner
from bookkit.notebook import load_result
from companion.data.vocabulary import Vocabulary
from companion.models.pointer import PointerGenerator
from experiments.engine.trials import tuned_file
from experiments.summarization import study

SMALL = study.Task(reports=40, names=20, tests=30, test_names=12)
TINY = {"learning_rate": 0.01, "steps": 3, "more_steps": 2, "batch_size": 4, "hidden_dim": 8}


def test_no_name_of_the_tests_is_known() -> None:
    names = set(made_up_names(study.TASK.names, seed=0))
    pairs = study.TASK.training(3)[:500]
    vocab = study.vocabulary("pointer", pairs, sorted(names))
    for validation in (False, True):
        task = replace(study.TASK, validation=validation)
        unseen, seen = task.testing()["unseen"], task.testing()["seen"]
        told = {pair.target[place] for pair in unseen for place in (0, 2, 6)}
        assert not told & names
        assert not any(word in vocab for word in told | names)
        assert {word for pair in seen for word in pair.source} <= names | set(vocab.tokens)
        assert not any(pair in pairs for pair in seen)
    drawn = [replace(study.TASK, validation=flag).testing()["unseen"] for flag in (False, True)]
    assert not {pair.source for pair in drawn[0]} & {pair.source for pair in drawn[1]}


def test_spelled_reports_hold_the_same_text() -> None:
    pairs = SMALL.training(1)
    for pair, spelled in zip(pairs, study.as_characters(pairs), strict=True):
        assert "".join(spelled.source).split() == list(pair.source)
        assert tuple("".join(spelled.target).split()) == pair.target


def test_quality_counts_facts_and_both_kinds_of_reports() -> None:
    pairs = match_reports(40, seed=2, names=made_up_names(9, seed=2))
    said = [
        pair.target
        if tells_winner(pair)
        else tuple(pair.target[i] for i in (2, 1, 0, 3, 4, 5, 6, 7))
        for pair in pairs
    ]
    share = 100 * sum(tells_winner(pair) for pair in pairs) / 40
    found = study.quality(said, pairs)
    assert found["exact"] == pytest.approx(share)
    assert (found["exact_told"], found["exact_worked_out"]) == (100.0, 0.0)
    assert found["reversed"] == pytest.approx(100 - share)
    assert found["winner"] == found["scores"] == found["form"] == 0
    assert found["rouge-1"] == pytest.approx(100)


def test_the_second_part_goes_on_with_the_next_batches() -> None:
    setting = study.Setting("pointer", **TINY)  # type: ignore[arg-type]
    first = study.fit(setting, SMALL, seed=5)
    before = {name: value.clone() for name, value in first.model.state_dict().items()}
    batches = study.batches_of(setting, SMALL, first.vocab, seed=5)
    later = study.Later(batches, 3)
    assert torch.equal(later[1].source, batches[4].source)
    with_it, without = (
        study.go_on(first, setting, SMALL, seed=5, cover=cover) for cover in (True, False)
    )
    assert all(torch.equal(before[n], v) for n, v in first.model.state_dict().items())
    assert isinstance(with_it.model, PointerGenerator)
    assert isinstance(without.model, PointerGenerator)
    assert with_it.model.coverage
    assert not without.model.coverage
    assert without.model.coverage_vector.abs().sum() == 0
    assert with_it.model.coverage_vector.abs().sum() > 0
    assert len(with_it.losses) == len(without.losses) == 5


def test_arms_differ_in_their_kind_alone() -> None:
    settings = study.reported()
    kinds = {name: one.kind for name, one in settings.items()}
    assert kinds == {name: name for name in ("pointer", "attention", "characters")}
    shared = {replace(one, kind="pointer", learning_rate=0.0) for one in settings.values()}
    assert len(shared) == 1
    models = [study.begin(one, Vocabulary("abc"), seed=3) for one in settings.values()]
    plain = [m.base if isinstance(m, PointerGenerator) else m for m in models]
    assert all(model.config == plain[0].config for model in plain)


def test_no_chosen_rate_is_at_the_edge_of_the_grid() -> None:
    record = json.loads(tuned_file("summarization").read_text(encoding="utf8"))
    for name in study.arms():
        tried = [t["setting"]["learning_rate"] for t in record["trials"] if t["name"] == name]
        assert tuple(tried) == study.LEARNING_RATES
        assert min(tried) < record["chosen"][name]["learning_rate"] < max(tried)


def test_the_recorded_settings_are_the_tuned_ones() -> None:
    config = load_result("summarization").config
    assert {n: study.Setting(**a) for n, a in config["arms"].items()} == study.reported()
    assert study.Task(**config["task"]) == study.TASK
