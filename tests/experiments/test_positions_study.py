"""The study of positions: its question, what its arms share, and what is rescaled."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Generator

from companion.models.transformer import LanguageModel
from companion.pages.notebook import load_result
from companion.positions import Yarn
from experiments import positions
from experiments.trials import TUNED

SMALL = positions.Task(letters=5, back=2, length=12, batch_size=4, test_size=6)


def test_the_answer_stands_so_many_places_back() -> None:
    tokens, answers = SMALL.draw(4, 9, Generator().manual_seed(5))
    assert tokens.shape == answers.shape == (4, 9)
    assert torch.equal(answers[:, 2:], tokens[:, :-2])
    assert set(tokens.flatten().tolist()) == set(range(5))
    assert SMALL.lengths == (12, 18, 24, 48)


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
    drawn = {
        name: positions.fit(replace(arm, steps=0), positions.TASK, seed=3)[0]
        for name, arm in positions.arms().items()
    }
    configs = {replace(model.config, positions="none") for model in drawn.values()}
    assert len(configs) == 1
    assert {model.config.positions for model in drawn.values()} == set(drawn)
    table = drawn["learned"].embedding.places
    assert table is not None
    assert len(table.weight) == positions.TASK.lengths[-1]
    before = torch.get_rng_state()
    positions.fit(replace(positions.arms()["alibi"], steps=0), positions.TASK, seed=4)
    assert torch.equal(torch.get_rng_state(), before)


def test_training_meets_every_bucket() -> None:
    model, _ = positions.fit(positions.Setting("relative", 0.01, steps=1), positions.TASK, seed=3)
    bias: Any = model.decoder.score_bias
    tokens = torch.arange(positions.TASK.length)[None] % positions.TASK.letters
    loss: Any = model(tokens).square().sum()
    loss.backward()
    assert (bias.table.weight.grad.abs().sum(1) > 0).all()


def test_a_rescaled_model_has_the_same_weights_and_other_frequencies() -> None:
    model = positions.make(positions.Setting("rotary"), SMALL)
    other = positions.rescaled(model, Yarn(4.0, original_length=12))
    assert isinstance(other, LanguageModel)
    mine, theirs = model.state_dict(), other.state_dict()
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)
    tokens, _ = SMALL.draw(2, 12, Generator().manual_seed(3))
    assert not torch.allclose(model(tokens), other(tokens))


def test_every_way_was_tried_with_every_rate_and_chose_none_at_an_edge() -> None:
    trials = json.loads((TUNED / "positions.json").read_text(encoding="utf8"))["trials"]
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
