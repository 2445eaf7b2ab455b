"""The founding notebook's call of `fit`, in its own words, and the repaired call."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from bookkit.founding.names import tf
from companion.data.batching import Batch
from companion.training import TrainingConfig, train


@dataclass
class Trainee:
    """A model of this book that is trained as a Keras model is, by `fit`."""

    model: nn.Module  # gives logits (b, q, vocabulary) for a batch
    learning_rate: float = 1e-2  # the highest
    # Of the weights, in an epoch. The notebook has three phrases, hence one update an epoch, with
    # which ten epochs would teach nothing.
    updates: int = 20
    seed: int = 0  # set before the first update
    batch: Batch | None = field(default=None, init=False)  # what the model was trained on last
    losses: list[float] = field(default_factory=list, init=False)  # of its updates

    def fit(self, inputs: Sequence[Tensor], targets: Tensor, *, epochs: int) -> None:
        """Train; 0 is padding, which is left out of the loss.

        Args:
            inputs: ids that the encoder reads (b, k), and those that the decoder reads (b, q).
            targets: ids that the decoder must say (b, q).
            epochs: how often the batch counts as read through.
        """
        source, target_in = inputs
        self.batch = Batch(source, (source != 0).sum(1), target_in, targets, targets != 0)
        steps = epochs * self.updates
        config = TrainingConfig(steps, self.learning_rate, warmup_steps=20, seed=self.seed)
        self.losses = train(self.model, [self.batch] * steps, _loss, config, progress=False)

    def accuracy(self) -> float:
        """Return the per cent of tokens that are right while the decoder reads what it is given."""
        if self.batch is None:
            raise ValueError("batch: got None, wanted one that the model was trained on: call fit")
        right = self.model(self.batch).argmax(-1) == self.batch.target_out
        return 100 * float(right[self.batch.target_mask].float().mean())


def _loss(model: Any, batch: Batch) -> Tensor:
    logits, mask = model(batch), batch.target_mask
    return nn.functional.cross_entropy(logits[mask], batch.target_out[mask])


# The pages show these lines in a narrow column, so they are broken at other places than elsewhere.
# fmt: off


def reads_the_answers(model: Trainee, input_sequences: Tensor, target_sequences: Tensor) -> None:
    """Train as the notebook's line would: the decoder reads the letter that it must say."""
    model.fit([input_sequences, target_sequences],
              target_sequences, epochs=10)


def reads_what_came_before(
    model: Trainee, input_sequences: Tensor, target_sequences: Tensor, bos_id: int
) -> None:
    """Train a decoder that reads `<bos>` first, and then each letter one step late."""
    begin = tf.fill(
        [len(target_sequences), 1], bos_id)
    target_in = tf.concat(
        [begin, target_sequences[:, :-1]], axis=1)
    model.fit([input_sequences, target_in],
              target_sequences, epochs=10)
