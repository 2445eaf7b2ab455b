"""The training that studies of small models share: a warm-up under a cosine, and clipping."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn


def rate_at(step: int, steps: int, learning_rate: float, warmup: int) -> float:
    """Return the rate of an update, counted from 0: a cosine from the first one, times a warm-up.

    >>> [round(rate_at(step, 8, 1.0, warmup=2), 2) for step in (0, 1, 4, 7)]
    [0.5, 0.96, 0.5, 0.04]
    """
    cosine = (1 + math.cos(math.pi * step / steps)) / 2
    return learning_rate * min(1, (step + 1) / warmup) * cosine


def descend(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_of: Callable[[], Tensor],
    steps: int,
    learning_rate: float,
    *,
    warmup: int,
    clip: float,
) -> list[float]:
    """Train a model in place and return the loss of every update.

    Args:
        model: what is trained.
        optimizer: of the model's parameters; its rate is set before every update.
        loss_of: draws a batch and gives the model's loss on it, a scalar.
        steps: number of updates.
        learning_rate: what the schedule is multiplied by.
        warmup: updates over which the rate grows.
        clip: the gradient's norm is cut to this.
    """
    losses: list[float] = []
    for step in range(steps):
        loss = loss_of()
        losses.append(loss.item())
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step, steps, learning_rate, warmup)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
    return losses
