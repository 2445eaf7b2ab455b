"""The training that studies of small models share: fresh draws, and a warm-up under a cosine."""

import math
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import torch
from torch import Generator, Tensor, nn

from companion.training import Batches, TrainingConfig, train

Model = TypeVar("Model", bound=nn.Module)
Batch = TypeVar("Batch")
WARMUP = 20
"""Updates over which the rate grows."""
CLIP = 1.0
"""The gradient's norm is cut to this."""


class FromStart(TrainingConfig):
    """A cosine that falls from the first update on, times a warm-up."""

    def rate(self, step: int) -> float:
        """Return the learning rate of update `step`, counted from 0.

        >>> config = FromStart(8, learning_rate=1.0, warmup_steps=2)
        >>> [round(config.rate(step), 2) for step in (0, 1, 4, 7)]
        [0.5, 0.96, 0.5, 0.04]
        """
        cosine = (1 + math.cos(math.pi * step / self.steps)) / 2
        return self.learning_rate * min(1, (step + 1) / self.warmup_steps) * cosine


class Draws(Generic[Batch]):
    """Fresh batches, drawn one after the other."""

    def __init__(self, draw: Callable[[], Batch]) -> None:
        self.draw = draw

    def __getitem__(self, step: int, /) -> Batch:
        """Draw the next batch."""
        return self.draw()


def config_of(setting: Any, seed: int, **options: Any) -> TrainingConfig:
    """Return how a setting trains: its steps, its learning rate and its warm-up."""
    return TrainingConfig(
        setting.steps, setting.learning_rate, setting.warmup_steps, seed=seed, **options
    )


def new(make: Callable[[], Model], seed: int) -> Model:
    """Draw a model with a seed; torch's random numbers are afterwards what they were."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()


def train_new(
    make: Callable[[], Model],
    batches: Batches[Batch],
    loss: Callable[[Any, Batch], Tensor],
    config: TrainingConfig,
) -> tuple[Model, list[float]]:
    """Draw a model with the seed and train it; return it and the loss of every update.

    Torch's random numbers are afterwards what they were.
    """
    with torch.random.fork_rng(devices=[]):
        model = new(make, config.seed)
        return model, train(model, batches, loss, config, progress=False)


def descend(
    make: Callable[[], Model],
    draw: Callable[[Generator], Batch],
    loss: Callable[[Any, Batch], Tensor],
    setting: Any,
    seed: int,
    *,
    schedule: type[TrainingConfig] = FromStart,
    clip: float | None = CLIP,
) -> tuple[Model, list[float]]:
    """Draw a model and train it on fresh batches; return it and the loss of every update.

    The seed is that of the model and of the batches. A setting has a `learning_rate` and `steps`;
    with none of these the model is only drawn. The schedule says how the rate goes, and the
    gradient's norm is cut to `clip`, if that is a number.
    """
    if not setting.steps:
        return new(make, seed), []
    generator = Generator().manual_seed(seed)
    config = schedule(setting.steps, setting.learning_rate, WARMUP, clip, seed=seed)
    return train_new(make, Draws(lambda: draw(generator)), loss, config)
