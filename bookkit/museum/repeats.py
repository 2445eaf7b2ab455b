"""Texts that repeat their first three words, in which nobody can be right too often."""

from collections.abc import Callable
from math import log
from typing import Any

import torch
from torch import Tensor

from companion.models.transformer import LanguageModel
from companion.training import TrainingConfig, train

VOCABULARY, LENGTH, PERIOD = 12, 12, 3
_UNKNOWN = PERIOD - 1  # of the words to predict; the first one is given
CEILING = 100 * (LENGTH - PERIOD + _UNKNOWN / VOCABULARY) / (LENGTH - 1)
"""Per cent of the words to predict that nobody can exceed, on average."""

FLOOR = log(VOCABULARY) * _UNKNOWN / (LENGTH - 1)
"""The least loss, in nats a word."""


class RepeatedTexts:
    """Batches of 32 texts, drawn anew at every step."""

    def __init__(self, seed: int) -> None:
        self.draw = torch.Generator().manual_seed(seed)

    def __getitem__(self, step: int) -> Tensor:
        """Return ids (32, 12)."""
        first = torch.randint(0, VOCABULARY, (32, PERIOD), generator=self.draw)
        return first.repeat(1, LENGTH // PERIOD)


def practise(
    make: Callable[[], Any],
    seed: int,
    batches: Callable[[int], Any] = RepeatedTexts,
    loss: Callable[..., Tensor] = LanguageModel.loss,
    *,
    steps: int = 250,
) -> tuple[Any, list[float]]:
    """Make a model and train it; return it and the loss of every step."""
    torch.manual_seed(seed)
    model = make()
    config = TrainingConfig(steps, 1e-2, warmup_steps=20, seed=seed)
    return model, train(model, batches(seed), loss, config)


@torch.no_grad()
def reported(model: LanguageModel) -> float:
    """Return the per cent of right words while the model reads the right text."""
    test = RepeatedTexts(999)[0]
    hits = model(test[:, :-1]).argmax(-1) == test[:, 1:]
    return 100 * float(hits.float().mean())


@torch.no_grad()
def alone(model: LanguageModel) -> float:
    """Return the per cent of right words among those it writes after the first three."""
    test = RepeatedTexts(999)[0]
    text = test[:, :PERIOD]
    while text.shape[1] < LENGTH:
        best = model(text)[:, -1].argmax(-1, keepdim=True)
        text = torch.cat((text, best), 1)
    return 100 * float((text == test)[:, PERIOD:].float().mean())
