"""The trace of every study that trains shows another optimizer, schedule or weight decay."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from typing import Any

import pytest
import torch

from bookkit.records import recorded_studies
from companion import training
from companion.training import TrainingConfig
from experiments.engine.steps import moved, watched

# The first fits in closed form; the others time updates, or train nothing.
WITHOUT_TRAINING = {"lookup", "cost", "first_gradients", "numerics", "parallelism"}
STUDIES = sorted(recorded_studies().keys() - WITHOUT_TRAINING)

rate = TrainingConfig.rate


def another_optimizer(patch: pytest.MonkeyPatch) -> None:
    """Train with RMSprop."""

    class Other(torch.optim.RMSprop):
        def __init__(self, params: Any, weight_decay: float = 0.0, **_: Any) -> None:
            super().__init__(params, weight_decay=weight_decay)

    patch.setattr(torch.optim, "AdamW", Other)
    patch.setattr(torch.optim, "Adam", Other)


def another_schedule(patch: pytest.MonkeyPatch) -> None:
    """Let the rate fall along a line instead of a cosine."""

    def line(config: TrainingConfig, step: int) -> float:
        if step < config.warmup_steps:
            return rate(config, step)
        left = config.steps - step
        return config.learning_rate * left / max(1, config.steps - config.warmup_steps)

    patch.setattr(TrainingConfig, "rate", line)


def another_decay(patch: pytest.MonkeyPatch) -> None:
    """Add a weight decay of 0.01, what PyTorch takes if nobody says anything."""

    class Decaying(torch.optim.AdamW):
        def __init__(self, params: Any, weight_decay: float = 0.0, **known: Any) -> None:
            super().__init__(params, weight_decay=weight_decay + 0.01, **known)

    class DecayingAdam(torch.optim.Adam):
        def __init__(self, params: Any, weight_decay: float = 0.0, **known: Any) -> None:
            super().__init__(params, weight_decay=weight_decay + 0.01, **known)

    patch.setattr(torch.optim, "AdamW", Decaying)
    patch.setattr(torch.optim, "Adam", DecayingAdam)


@pytest.mark.parametrize("change", [another_optimizer, another_schedule, another_decay])
@pytest.mark.parametrize("name", STUDIES)
def test_another_training_is_seen(
    name: str, change: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = importlib.import_module(f"experiments.{name}.study").STUDY
    recorded = json.loads(recorded_studies()[name].read_text("utf8"))["fingerprint"]
    change(monkeypatch)
    with watched() as steps:
        study.smoke()
    found = steps.trace()
    toys = recorded["losses"][-len(found) :]
    assert found
    moves = [abs(a - b) for a, b in zip(found, toys, strict=True)]
    assert max(moves) > 3 * recorded["tolerance"]


def test_the_rates_of_a_training_are_noted() -> None:
    model, config = torch.nn.Linear(2, 1), TrainingConfig(4, 0.1, warmup_steps=2)
    with watched() as steps:
        training.train(model, [torch.ones(3, 2)] * 4, lambda m, x: m(x).mean(), config)
    found, *schedule = steps.trace()
    assert schedule == pytest.approx([0.4, 0.87, 0.31], abs=0.05)
    rates = [[config.rate(step)] for step in (0, 1, 3)]  # the third has the rate of the second
    assert found == pytest.approx(1000 * moved(torch.optim.AdamW, [{"weight_decay": 0.0}], rates))
    with watched() as steps:
        pass
    training.train(model, [torch.ones(3, 2)] * 4, lambda m, x: m(x).mean(), config)
    assert steps.trace() == []


def test_no_two_studies_have_the_same_trace() -> None:
    traces = {
        name: tuple(json.loads(path.read_text("utf8"))["fingerprint"]["losses"])
        for name, path in recorded_studies().items()
    }
    assert len(set(traces.values())) == len(traces)
