"""The study of positions: its arms, what they share, and their settings."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from bookkit.notebook.letters import Letters
from experiments.positions import study as positions

pytestmark = pytest.mark.slow

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


def test_training_meets_every_bucket() -> None:
    model, _ = positions.fit(positions.Setting("relative", 0.01, steps=1), positions.TASK, seed=3)
    bias: Any = model.decoder.score_bias
    tokens = torch.arange(positions.TASK.length)[None] % positions.TASK.letters
    loss: Any = model(tokens).square().sum()
    loss.backward()
    assert (bias.table.weight.grad.abs().sum(1) > 0).all()
