"""The small models that say which letter stood some positions back, as the study `positions` asks.

Not imported with the rest of this package, because it needs PyTorch, which some pages do without.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from companion.models.transformer import LanguageModel, TransformerConfig
from companion.models.transformer.config import Positions
from companion.pages.studies import load_result
from companion.positions import RotaryScaling
from companion.training import TrainingConfig, train

_STUDY = "positions"


@dataclass(frozen=True)
class Letters:
    """Rows of random letters, and the question which one stood some positions back.

    A batch depends on its number and on `seed` alone; its length is drawn from half of `length`
    to all of it.

    Attributes:
        letters: how many different ones there are; they are numbers from 0.
        back: how many positions back the answer stands.
        length: of the longest row in training.
        stretch: how many times as long the longest test is.
        batch_size: rows of a batch.
        test_size: rows of a test.
        seed: of the batches.
    """

    letters: int = 8
    back: int = 3
    length: int = 32
    stretch: int = 4
    batch_size: int = 16
    test_size: int = 100
    seed: int = 0

    @property
    def lengths(self) -> tuple[int, int, int, int]:
        """Lengths of the tests: that of training, 1.5 and 2 times it, and the longest."""
        return self.length, self.length * 3 // 2, self.length * 2, self.length * self.stretch

    def draw(self, rows: int, n: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw letters (rows, n) and the answers, which exist from position `back` on.

        >>> given, answers = Letters().draw(1, 6, Generator().manual_seed(1))
        >>> given.tolist(), answers[:, 3:].tolist()
        ([[5, 3, 4, 0, 7, 1]], [[5, 3, 4]])
        """
        given = torch.randint(self.letters, (rows, n), generator=generator)
        return given, given.roll(self.back, 1)

    def __getitem__(self, step: int, /) -> tuple[Tensor, Tensor]:
        """Draw the batch of a step of training."""
        generator = Generator().manual_seed(1_000_000 * self.seed + step)
        n = int(torch.randint(self.length // 2, self.length + 1, (), generator=generator))
        return self.draw(self.batch_size, n, generator)


def letter_task(seed: int = 0) -> Letters:
    """Return the task of the study `positions`, with a seed for the batches of a training."""
    return Letters(**load_result(_STUDY).config["task"], seed=seed)


def learn_letters(task: Letters, positions: Positions = "rotary", **changes: Any) -> LanguageModel:
    """Train a model as the study does, on the batches of a task; it takes about ten seconds.

    The learning rate falls from the end of the warm-up on, and not from the first update.

    Args:
        task: whose seed is also that of the model.
        positions: how the model is told positions.
        changes: of the training, as `steps`.
    """
    study = load_result(_STUDY).config
    width, arm = study["width"], study["arms"][positions]
    config = TransformerConfig(
        vocab_size=task.letters + 1,
        embed_dim=width,
        num_heads=study["heads"],
        hidden_dim=2 * width,
        positions=positions,
        max_len=task.lengths[-1],
        relative_buckets=study["buckets"],
        relative_max_distance=task.length * 3 // 4,
        dropout_p=0.0,
    )
    training = TrainingConfig(
        arm["steps"], arm["learning_rate"], study["warmup"], study["clip"], seed=task.seed
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(task.seed)
        model = LanguageModel(config)
        train(model, task, _loss(task), replace(training, **changes), progress=False)
    return model


def _loss(task: Letters) -> Any:
    def loss(model: LanguageModel, batch: tuple[Tensor, Tensor]) -> Tensor:
        given, answers = batch
        logits = model(given)[:, task.back :]
        return F.cross_entropy(logits.flatten(0, 1), answers[:, task.back :].flatten())

    return loss


@torch.no_grad()
def right_answers(model: LanguageModel, task: Letters, n: int, seed: int) -> float:
    """Return how many answers of 100 are right in the last quarter of texts of n letters.

    Args:
        model: what is asked.
        task: how it is asked.
        n: letters of a text.
        seed: of the texts.
    """
    given, answers = task.draw(task.test_size, n, Generator().manual_seed(seed))
    right = (model(given).argmax(-1) == answers)[:, n * 3 // 4 :]
    return 100 * float(right.double().mean())


def with_scaling(model: LanguageModel, scaling: RotaryScaling | None) -> LanguageModel:
    """Return a model with the same weights, copied, and other rotary frequencies."""
    with torch.random.fork_rng(devices=[]):
        other = LanguageModel(replace(model.config, rotary_scaling=scaling))
    other.load_state_dict(model.state_dict())
    return other.eval()


def with_attention(model: LanguageModel, **changes: Any) -> LanguageModel:
    """Return a model with the same weights, copied, whose layers attend with other settings.

    Args:
        model: what is copied.
        changes: attributes of every block's attention, as `window` and `rotary`.

    Raises:
        AttributeError: attention has no such setting.
    """
    other = with_scaling(model, model.config.rotary_scaling)
    for block in other.decoder.blocks:
        attention: Any = block.self_attention
        for name, value in changes.items():
            getattr(attention, name)
            setattr(attention, name, value)
    return other
