"""Models as functions of their weights: one word, one row, one distribution."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from companion.attention import attend
from companion.interpret._checks import distributions
from companion.layers import AdditiveAttention, LuongAttention
from companion.models.classifier import AttentionClassifier, Encoded
from companion.models.seq2seq import DecoderState, Seq2Seq

if TYPE_CHECKING:
    from companion.data.batching import Batch

Read = Callable[[Tensor], Tensor]
"""What a model says if its weights are the given ones: (..., k) -> distributions (..., c)."""


def classifier_read(model: AttentionClassifier, encoded: Encoded) -> Read:
    """Return what a classifier says as a function of its weights, for sentences that it has read.

    Args:
        model: the classifier.
        encoded: from `model.encode`.

    Returns:
        A function from weights (b, k) to class probabilities (b, c).

    >>> from companion.models.classifier import ClassifierConfig
    >>> model = AttentionClassifier(ClassifierConfig(vocab_size=5, classes=2))
    >>> encoded = model.encode(torch.tensor([[3, 1, 4]]), torch.tensor([3]))
    >>> classifier_read(model, encoded)(torch.tensor([[0.0, 1.0, 0.0]])).shape
    torch.Size([1, 2])
    """
    return lambda weights: model.decide(weights, encoded).softmax(-1)


@torch.no_grad()
def translator_read(model: Seq2Seq, batch: Batch) -> tuple[Read, Tensor]:
    """Return what a translator says at every word as a function of the weights at that word.

    The model reads the right words before (teacher forcing), with its own weights: what is
    replaced at one word changes what it says there, and nothing at the others.

    Args:
        model: a recurrent translator with attention, in evaluation mode.
        batch: q target positions, k source positions.

    Returns:
        A function from weights (b, q, k) to probabilities of words (b, q, vocabulary), and the
        model's own weights.

    Raises:
        ValueError: the model has no attention.
    """
    layer = model.attention
    if layer is None:
        raise ValueError(
            "model: got one without attention, wanted one with weights"
        )
    source = batch.source, batch.source_lengths
    state = model.start(*source)
    length = batch.target_in.shape[1]
    before, outputs, rows = [], [], []
    for word in range(length):
        before.append(state.recurrent)
        outputs.append(state.output)
        _, state, weights = model.step(batch.target_in[:, word], state)
        rows.append(weights)
    own = torch.stack([row for row in rows if row is not None], 1)
    # Every word of every sentence becomes a row of its own: b-major, as `flatten` has them.
    recurrent = tuple(
        torch.stack(parts, 1).flatten(0, 1)
        for parts in zip(*before, strict=True)
    )
    encoded = model.start(*source, beam_size=length).encoded
    output = torch.stack(outputs, 1).flatten(0, 1)
    start = DecoderState(encoded, recurrent, output)
    tokens = batch.target_in.flatten()

    def read(weights: Tensor) -> Tensor:
        if distributions("weights", weights).shape != own.shape:
            raise ValueError(
                f"weights: got shape {tuple(weights.shape)}, wanted {tuple(own.shape)}"
            )
        with _replaced(layer, weights.flatten(0, 1)[:, None]):
            logits = model.step(tokens, start).logits
        return logits.softmax(-1).view(*own.shape[:2], -1)

    return read, own


@contextmanager
def _replaced(
    layer: AdditiveAttention | LuongAttention, weights: Tensor
) -> Iterator[None]:
    """Let a layer blend its memory by the given weights (b, q, k) instead of its own."""

    def blend(
        _layer: object, given: tuple[Tensor, ...], _output: object
    ) -> tuple[Tensor, Tensor]:
        return attend(weights, given[2]), weights

    hook = layer.register_forward_hook(blend)
    try:
        yield
    finally:
        hook.remove()
