"""The training that studies of small models share, on a line whose slope is known."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from experiments.descent import descend

STEPS, WARMUP, RATE, SLOPE = 6, 3, 0.5, 4.0


@pytest.mark.parametrize("clip", [1.0, 2 * SLOPE])
def test_every_step_is_the_rate_times_the_clipped_slope(clip: float) -> None:
    """Losses are those before the step; no gradient of an earlier step is left in a later one."""
    line = nn.Linear(1, 1, bias=False).double()
    nn.init.constant_(line.weight, 2.0)
    optimizer = torch.optim.SGD(line.parameters(), lr=99.0)

    def loss() -> Tensor:
        return SLOPE * line.weight.sum()

    losses = descend(line, optimizer, loss, STEPS, RATE, warmup=WARMUP, clip=clip)
    weights = [2.0]
    for step in range(STEPS):
        grown = min(step + 1, WARMUP) / WARMUP
        rate = RATE * grown * math.cos(math.pi * step / STEPS / 2) ** 2
        weights.append(weights[-1] - rate * min(SLOPE, clip))
    assert losses == pytest.approx([SLOPE * weight for weight in weights[:-1]], rel=1e-5)
    assert line.weight.item() == pytest.approx(weights[-1], rel=1e-5)


def test_no_steps_leave_the_model_as_it_was() -> None:
    line = nn.Linear(1, 1)
    before = line.weight.clone()
    optimizer = torch.optim.SGD(line.parameters(), lr=1.0)
    assert descend(line, optimizer, lambda: line.weight.sum(), 0, 1.0, warmup=1, clip=1.0) == []
    assert torch.equal(line.weight, before)
