"""The training that studies of small models share, on a line whose slope is known."""

import math
from dataclasses import dataclass

import pytest
import torch
from torch import Generator, Tensor, nn

from companion.training import TrainingConfig
from experiments.engine.descent import WARMUP, FromStart, descend


@dataclass(frozen=True)
class Setting:
    steps: int
    learning_rate: float = 0.5


class Line(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(1, dtype=torch.float64))


def loss(line: Line, slope: Tensor) -> Tensor:
    return (slope * line.weight).sum()


def slopes(generator: Generator) -> Tensor:
    return 1 + torch.rand(1, dtype=torch.float64, generator=generator)


def test_losses_are_those_of_adam_on_fresh_draws() -> None:
    """Every update draws anew; the rate is the schedule's, and the slope is clipped."""
    for clip in (0.5, None):
        for schedule in (FromStart, TrainingConfig):
            setting = Setting(30)
            _, losses = descend(Line, slopes, loss, setting, 7, schedule=schedule, clip=clip)
            torch.manual_seed(7)
            weight = Line().weight.item()
            generator = Generator().manual_seed(7)
            config = schedule(30, 0.5, WARMUP)
            first = second = 0.0
            for step, given in enumerate(losses, start=1):
                slope = slopes(generator).item()
                assert given == pytest.approx(slope * weight, rel=1e-5)
                slope = slope if clip is None else min(slope, clip)
                first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
                size = (first / (1 - 0.9**step)) / (math.sqrt(second / (1 - 0.999**step)) + 1e-8)
                weight -= config.rate(step - 1) * size


def test_no_steps_draw_the_model_alone() -> None:
    before = torch.get_rng_state()
    line, losses = descend(Line, slopes, loss, Setting(0), 3)
    assert losses == []
    descend(Line, slopes, loss, Setting(2), 3)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(3)
    assert torch.equal(line.weight, Line().weight)
