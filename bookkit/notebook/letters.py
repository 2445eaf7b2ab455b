"""The small models that say which letter stood some positions back, as the study `positions` asks.

Not imported with the rest of this package, because it needs PyTorch, which some pages do without.
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from bookkit.notebook.trained import trained
from bookkit.records import load_result
from companion.models.transformer import LanguageModel, TransformerConfig
from companion.models.transformer.config import Positions
from companion.positions import RotaryScaling
from companion.training import TrainingConfig, train

_STUDY = "positions"

Batch = tuple[Tensor, Tensor]
"""Letters (rows, n) and the answers, of the same shape."""


@dataclass(frozen=True)
class Letters:
    """Rows of random letters, and the question which one stood some positions back.

    Training draws a length for every batch, from half of `length` to all of it. The longest test
    is `stretch` times as long, and asks in the last quarter of the positions.
    """

    letters: int = 8  # how many different ones there are; they are numbers from 0
    back: int = 3  # how many positions back the answer stands
    length: int = 32  # of the longest row in training
    stretch: int = 4  # how many times as long the longest test is
    batch_size: int = 16  # rows of a batch
    test_size: int = 100  # rows of a test

    @property
    def lengths(self) -> tuple[int, int, int, int]:
        """Lengths of the tests: that of training, 1.5 and 2 times it, and the longest."""
        return self.length, self.length * 3 // 2, self.length * 2, self.length * self.stretch

    def draw(self, rows: int, n: int, generator: Generator) -> Batch:
        """Draw letters (rows, n) and the answers, which exist from position `back` on.

        >>> given, answers = Letters().draw(1, 6, Generator().manual_seed(1))
        >>> given.tolist(), answers[:, 3:].tolist()
        ([[5, 3, 4, 0, 7, 1]], [[5, 3, 4]])
        """
        given = torch.randint(self.letters, (rows, n), generator=generator)
        return given, given.roll(self.back, 1)

    def batch(self, generator: Generator) -> Batch:
        """Draw a length, and a batch of that length for an update.

        >>> given, answers = Letters().batch(Generator().manual_seed(1))
        >>> given.shape == answers.shape, len(given), 16 <= given.shape[1] <= 32
        (True, 16, True)
        """
        n = int(torch.randint(self.length // 2, self.length + 1, (), generator=generator))
        return self.draw(self.batch_size, n, generator)

    def loss(self, model: LanguageModel, batch: Batch) -> Tensor:
        """Return the mean cross-entropy of the answers that exist."""
        given, answers = batch
        logits = model(given)[:, self.back :]
        return F.cross_entropy(logits.flatten(0, 1), answers[:, self.back :].flatten())


class Fresh:
    """Batches of a task for training, drawn one after the other with one generator."""

    def __init__(self, task: Letters, seed: int) -> None:
        self.task = task
        self.generator = Generator().manual_seed(seed)

    def __getitem__(self, step: int, /) -> Batch:
        """Draw the next batch."""
        return self.task.batch(self.generator)


def letter_task() -> Letters:
    """Return the task of the study `positions`.

    >>> letter_task().lengths
    (32, 48, 64, 128)
    """
    return Letters(**load_result(_STUDY).config["task"])


def letter_config(
    task: Letters, positions: Positions, *, width: int, heads: int, buckets: int
) -> TransformerConfig:
    """Return a model of two blocks, with an id beyond the letters, which never occurs.

    Learned positions have a row for each of the longest test. The last bucket of distances
    begins at three quarters of the training length, so that training meets every bucket.

    >>> letter_config(Letters(), "alibi", width=32, heads=4, buckets=16).max_len
    128
    """
    return TransformerConfig(
        vocab_size=task.letters + 1, embed_dim=width, num_heads=heads, hidden_dim=2 * width,
        positions=positions, max_len=task.lengths[-1], relative_buckets=buckets,
        relative_max_distance=task.length * 3 // 4, dropout_p=0.0,
    )  # fmt: skip


def train_letters(
    task: Letters, config: TransformerConfig, training: TrainingConfig
) -> tuple[LanguageModel, list[float]]:
    """Draw a model and train it on fresh batches; return it and the loss of every update.

    The seed of the training is also that of the model and of the batches, so that models of one
    seed see the same letters. Torch's random numbers are afterwards what they were.
    """
    model = _drawn(config, training.seed)
    with torch.random.fork_rng(devices=[]):
        batches = Fresh(task, training.seed)
        return model, train(model, batches, task.loss, training, progress=False)


def _drawn(config: TransformerConfig, seed: int) -> LanguageModel:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LanguageModel(config)


def learn_letters(
    task: Letters, positions: Positions = "rotary", *, seed: int = 0, **changes: Any
) -> LanguageModel:
    """Return a model of the study `positions`.

    Those that the pages show are stored; any other is trained, in about ten seconds.

    The learning rate falls from the end of the warm-up on. In the study it falls from the first
    update on.
    """
    study = load_result(_STUDY).config
    sizes = {name: study[name] for name in ("width", "heads", "buckets")}
    arm = study["arms"][positions]
    training = TrainingConfig(
        arm["steps"], arm["learning_rate"], study["warmup"], study["clip"], seed=seed
    )
    config = letter_config(task, positions, **sizes)
    model = _drawn(config, seed)
    trained(
        f"letters-{positions}-{seed}",
        model,
        lambda: train(
            model, Fresh(task, seed), task.loss, replace(training, **changes), progress=False
        ),
        anew=bool(changes) or task != letter_task(),
    )
    return model


@torch.no_grad()
def right_answers(model: LanguageModel, task: Letters, n: int, seed: int) -> float:
    """Return how many answers of 100 are right in the last quarter of texts of n letters."""
    given, answers = task.draw(task.test_size, n, Generator().manual_seed(seed))
    right = (model(given).argmax(-1) == answers)[:, n * 3 // 4 :]
    return 100.0 * float(right.double().mean())


def with_scaling(model: LanguageModel, scaling: RotaryScaling | None) -> LanguageModel:
    """Return a model with the same weights, copied, and other rotary frequencies."""
    with torch.random.fork_rng(devices=[]):
        other = LanguageModel(replace(model.config, rotary_scaling=scaling))
    other.load_state_dict(model.state_dict())
    return other.eval()


def with_attention(model: LanguageModel, **changes: Any) -> LanguageModel:
    """Return a copy whose layers attend with other settings of theirs, as `window` and `rotary`.

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
