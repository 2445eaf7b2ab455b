"""The study of positions: its arms, what they share, and their settings."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import torch

from bookkit.notebook import load_result
from bookkit.notebook.letters import Letters
from companion.models.transformer import LanguageModel
from experiments.engine.trials import tuned_file
from experiments.positions import study as positions

SMALL = Letters(letters=5, back=2, length=12, batch_size=4, test_size=6)


class Oracle:
    """Answers right up to a place, and else with a letter that does not exist."""

    def __init__(self, last: int) -> None:
        self.last = last

    def __call__(self, tokens: Any) -> Any:
        places = torch.arange(tokens.shape[1])
        said = torch.where(places <= self.last, tokens.roll(SMALL.back, 1), SMALL.letters)
        return torch.nn.functional.one_hot(said, SMALL.letters + 1)


def test_accuracy_is_that_of_the_last_quarter() -> None:
    model: Any = Oracle(last=20)
    found = positions.accuracy(model, SMALL, seed=3)
    assert found == pytest.approx(
        {"accuracy/12": 100, "accuracy/18": 100, "accuracy/24": 50, "accuracy/48": 0}
    )


def test_arms_differ_in_their_positions_alone() -> None:
    configs = {
        name: positions.config_of(arm, positions.TASK) for name, arm in positions.arms().items()
    }
    assert len({replace(config, positions="none") for config in configs.values()}) == 1
    assert {config.positions for config in configs.values()} == set(configs)
    table = LanguageModel(configs["learned"]).embedding.places
    assert table is not None
    assert len(table.weight) == positions.TASK.lengths[-1]


def test_a_run_leaves_torchs_random_numbers_as_they_were() -> None:
    before = torch.get_rng_state()
    positions.fit(positions.Setting("alibi", 0.01, steps=1), SMALL, seed=4)
    assert torch.equal(torch.get_rng_state(), before)


def test_arms_of_a_seed_see_the_same_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, list[Any]] = {}
    loss = Letters.loss

    def noted(task: Letters, model: LanguageModel, batch: Any) -> Any:
        seen.setdefault(model.config.positions, []).append(batch[0].tolist())
        return loss(task, model, batch)

    monkeypatch.setattr(Letters, "loss", noted)
    for name in ("rotary", "none"):
        positions.fit(positions.Setting(name, 0.01, steps=3), SMALL, seed=4)
    assert seen["rotary"] == seen["none"]
    assert len(seen["none"]) == 3


def test_training_meets_every_bucket() -> None:
    model, _ = positions.fit(positions.Setting("relative", 0.01, steps=1), positions.TASK, seed=3)
    bias: Any = model.decoder.score_bias
    tokens = torch.arange(positions.TASK.length)[None] % positions.TASK.letters
    loss: Any = model(tokens).square().sum()
    loss.backward()
    assert (bias.table.weight.grad.abs().sum(1) > 0).all()


def test_every_way_was_tried_with_every_rate_and_chose_none_at_an_edge() -> None:
    trials = json.loads(tuned_file("positions").read_text(encoding="utf8"))["trials"]
    for name, setting in positions.arms().items():
        found = [t["setting"]["learning_rate"] for t in trials if t["name"] == name]
        assert tuple(found) == positions.LEARNING_RATES
        chosen = positions.reported()[name]
        assert min(found) < chosen.learning_rate < max(found)
        assert setting == replace(chosen, learning_rate=0.0)


def test_the_recorded_settings_are_the_tuned_ones() -> None:
    recorded = load_result("positions").config["arms"]
    reported = positions.reported()
    assert sorted(recorded) == sorted(reported)
    for name, arm in reported.items():
        assert positions.Setting(**recorded[name]) == arm
