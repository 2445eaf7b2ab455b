"""What optimizers do in a smoke run: steps so few and small hardly show in its losses.

A few updates at a small rate change a loss by less than the tolerance, whatever made them. So the
trace of a smoke run goes on with what each optimizer that was at work does to a toy: one weight for
each of its groups, under gradients that are always the same. It takes the same settings and, step
by step, the same rates. Another optimizer, schedule or weight decay moves the toy elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_pre_hook

from companion.training import TrainingConfig

_SCALE = 1000.0
"""A step of Adam at a rate of 0.001 moves a trace by 1."""


class Steps:
    """The steps of optimizers, as long as `watched` is open."""

    def __init__(self) -> None:
        self._rates: dict[int, list[list[float]]] = {}
        self._seen: dict[int, tuple[Optimizer, list[dict[str, Any]]]] = {}

    def note(self, optimizer: Optimizer, *_: object) -> None:
        """Note the settings at the first step, and the rates of each step that has others.

        How many steps there are at one rate may depend on the clock, where updates are timed.
        """
        key = id(optimizer)
        if key not in self._seen:
            settings = [
                {name: value for name, value in group.items() if name != "params"}
                for group in optimizer.param_groups
            ]
            self._seen[key] = optimizer, settings
        rates = [float(group["lr"]) for group in optimizer.param_groups]
        known = self._rates.setdefault(key, [])
        if known[-1:] != [rates]:
            known.append(rates)

    def trace(self) -> list[float]:
        """Return how far each optimizer that was at work moves its toy, and rates of the schedule.

        Few steps can be the same in two schedules, so these are of a longer training.
        """
        toys = [
            _SCALE * moved(type(optimizer), settings, self._rates[key])
            for key, (optimizer, settings) in self._seen.items()
        ]
        longer = TrainingConfig(steps=40, learning_rate=1.0, warmup_steps=10)
        return [*toys, *(longer.rate(step) for step in (3, 17, 29))] if toys else []


@contextmanager
def watched() -> Iterator[Steps]:
    """Note what optimizers do."""
    steps = Steps()
    handle = register_optimizer_step_pre_hook(steps.note)
    try:
        yield steps
    finally:
        handle.remove()


def moved(
    kind: Callable[..., Optimizer], settings: list[dict[str, Any]], rates: list[list[float]]
) -> float:
    """Return how far an optimizer moves one weight for each of its groups, added up.

    Args:
        kind: of the optimizer.
        settings: of each group.
        rates: of each step, for each group.

    >>> round(moved(torch.optim.SGD, [{"momentum": 0.0}], [[0.1], [0.1]]), 3)
    0.15
    """
    weights = [torch.tensor([2.0], dtype=torch.float64, requires_grad=True) for _ in settings]
    toy = kind([{**known, "params": [w]} for known, w in zip(settings, weights, strict=True)])
    for number, of_groups in enumerate(rates, 1):
        for group, weight, rate in zip(toy.param_groups, weights, of_groups, strict=True):
            group["lr"] = rate
            weight.grad = torch.full_like(weight, 1 / number)
        toy.step()
    return sum(2.0 - weight.item() for weight in weights)
