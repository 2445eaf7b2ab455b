"""The study of explanation: what its numbers count, and what its arms share."""

from __future__ import annotations

import json
from dataclasses import replace
from statistics import fmean
from typing import Any, cast

import pytest
import torch
from torch import Generator, Tensor

from bookkit.notebook import load_result
from companion.data.pairs import Pair
from experiments.engine.experiment import Answers, by_item
from experiments.engine.trials import tuned_file
from experiments.explanation import study as explanation
from experiments.explanation_seeds import study as explanation_seeds

MASK = torch.arange(5) < torch.tensor([5, 3, 4])[:, None]
OWN = torch.tensor(
    [[0.6, 0.1, 0.1, 0.1, 0.1], [0.2, 0.7, 0.1, 0.0, 0.0], [0.1, 0.1, 0.2, 0.6, 0.0]],
    dtype=torch.float64,
)


def places(weights: Tensor) -> Tensor:
    """Say where the weights are: erasing the largest one flips, whatever it was."""
    return weights


def nothing(weights: Tensor) -> Tensor:
    """Say the same, whatever the weights are."""
    return torch.tensor([0.9, 0.1], dtype=torch.float64).expand(len(weights), 2)


def test_replaced_counts_flips() -> None:
    found = explanation.replaced(places, OWN, MASK, 3, explanation.TESTS)
    assert (found["flips/top"], found["flips/other"]) == (100, 0)
    assert found["distance/permuted"] > 0.2
    still = explanation.replaced(nothing, OWN, MASK, 3, explanation.TESTS)
    assert set(still.values()) == {0.0}
    rows = torch.tensor([False, True, False])
    one = explanation.replaced(places, OWN, MASK, 3, explanation.TESTS, rows)
    assert one["flips/uniform"] == 100
    assert found["flips/uniform"] == pytest.approx(200 / 3)


def test_agreement_averages_over_rows_that_count() -> None:
    effects = OWN.clone()
    effects[2] = OWN[2].flip(0)
    found = explanation.agreement(OWN, effects, MASK)
    assert found["top_agreement"] == pytest.approx(200 / 3)
    rows = torch.tensor([True, True, False])
    assert explanation.agreement(OWN, effects, MASK, rows) == {"tau": 1.0, "top_agreement": 100.0}


def test_an_adversary_is_scored_by_its_divergence() -> None:
    tests = replace(explanation.TESTS, steps=30)
    free = explanation.searched(nothing, OWN, MASK, 3, tests)
    bound = explanation.searched(places, OWN, MASK, 3, tests)
    assert free["adversary/divergence"] > 0.3
    assert bound["adversary/divergence"] < 0.01
    assert bound["adversary/other_top"] == 0


def test_flips_are_sorted_by_the_gold_links() -> None:
    pair = Pair(
        ("the", "red", "house"),
        ("la", "casa", "roja"),
        frozenset({(0, 0), (1, 2), (2, 1)}),
        classes=("determiner", "noun", "adjective"),
    )
    own = torch.tensor([[[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.8, 0.1], [1.0, 0.0, 0.0]]])
    found = explanation.by_place(torch.tensor([[True, False, True, True]]), own, [pair])
    assert found == {
        "flips/top/class/adjective": 100.0,
        "flips/top/class/determiner": 100.0,
        "flips/top/class/noun": 0.0,
        "flips/top/hit": 100.0,
        "flips/top/miss": 0.0,
    }
    assert explanation.error_rate(own, [pair]) == pytest.approx(100 / 3)


@pytest.mark.parametrize("name", sorted(explanation.arms()))
def test_arms_differ_in_what_their_name_says(name: str) -> None:
    arm = explanation.arms()[name]
    assert f"{arm.task}/{arm.encoder}/{arm.attention}" == name
    model, losses = explanation.fit(replace(arm, steps=1, warmup_steps=1, learning_rate=0.01), 3)
    assert len(losses) == 1
    assert (model.encoder is None) == (arm.encoder == "embeddings")
    assert (model.attention is None) == (arm.attention == "uniform")
    task = explanation.TASKS[arm.task]
    examples = task.draw(7, Generator().manual_seed(1))
    assert model(examples.tokens, examples.lengths, examples.question).shape == (7, task.classes)


def test_training_leaves_the_random_numbers_alone() -> None:
    before = torch.get_rng_state()
    arm = explanation.arms()["marker/embeddings/additive"]
    explanation.fit(replace(arm, steps=1, warmup_steps=1, learning_rate=0.01), 4)
    assert torch.equal(torch.get_rng_state(), before)


def test_every_classifier_was_tried_with_every_rate() -> None:
    trials = json.loads(tuned_file("explanation").read_text(encoding="utf8"))["trials"]
    for name, setting in explanation.arms().items():
        found = [t["setting"]["learning_rate"] for t in trials if t["name"] == name]
        assert tuple(found) == explanation.LEARNING_RATES
        assert setting == replace(explanation.reported()[name], learning_rate=0.0)


def test_answers_are_told_by_sentence() -> None:
    arm = explanation.arms()["majority/gru/uniform"]
    setting = replace(arm, steps=3, warmup_steps=1, learning_rate=0.01, embed_dim=6)
    found = explanation.classified(setting, None, seed=3)
    points = cast("Answers", found[by_item("accuracy")])
    assert {of for _, of in points} == {1.0}
    assert len(points) == explanation.TESTS.examples
    assert 100 * fmean(hit for hit, _ in points) == found["accuracy"]


def test_the_recorded_settings_are_the_tuned_ones() -> None:
    config = load_result("explanation").config
    settings = explanation.reported() | explanation.longer()
    recorded: dict[str, Any] = config["arms"]
    assert sorted(recorded) == sorted(settings)
    for name, arm in settings.items():
        assert explanation.Setting(**recorded[name]) == arm
    assert explanation.Tests(**config["tests"]) == explanation.TESTS


def test_more_seeds_have_the_same_setting_and_are_others() -> None:
    study = load_result("explanation_seeds")
    setting = explanation.reported()[explanation_seeds.ARM]
    assert explanation.Setting(**study.config["setting"]) == setting
    assert not set(study.seeds) & set(explanation.SEEDS)


def test_where_the_largest_weight_stands() -> None:
    examples = explanation.TASKS["marker"].draw(50, Generator().manual_seed(2))
    setting = replace(explanation.reported()[explanation_seeds.ARM], steps=1, warmup_steps=1)
    model, _ = explanation.fit(setting, 3)
    found = explanation_seeds.looked(model, examples, 3)
    _, weights = model(examples.tokens, examples.lengths, need_weights=True)
    hits: dict[int, list[bool]] = {0: [], 1: []}
    for row, gold, label in zip(weights, examples.gold, examples.labels, strict=True):
        hits[int(label)].append(bool(gold[int(row.argmax())]))
    shares = [100 * sum(one) / len(one) for one in hits.values()]
    assert found["pointing"] == pytest.approx(2 * sum(sum(one) for one in hits.values()))
    assert found["pointing/worse_class"] == pytest.approx(min(shares))
    assert found["pointing/better_class"] == pytest.approx(max(shares))
