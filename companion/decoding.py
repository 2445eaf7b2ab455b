"""Writing a sequence one token at a time, over a `step` that knows no model."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

State = TypeVar("State")


Step = Callable[[Tensor, State], tuple[Tensor, State, Tensor | None]]
"""Takes the last tokens (b,) and a state; gives the next token's logits (b, vocabulary), the new
state, and the attention (b, k) of this step or None."""


class Decoded(NamedTuple):
    """Sequences written by a decoder.

    Attributes:
        tokens: (b, q) ids; after a sequence's end, its `eos_id` is repeated.
        lengths: (b,) tokens of each sequence before its end.
        finished: (b,) True where the sequence ended by itself, False where `max_len` cut it.
        weights: (b, q, k) attention of every step, or None.
    """

    tokens: Tensor
    lengths: Tensor
    finished: Tensor
    weights: Tensor | None

    def sequences(self) -> list[list[int]]:
        """Return every sequence as a list of ids, without its end."""
        return [
            ids[:length]
            for ids, length in zip(self.tokens.tolist(), self.lengths.tolist(), strict=True)
        ]


@torch.no_grad()
def greedy(
    step: Step[State],
    state: State,
    *,
    batch_size: int,
    bos_id: int,
    eos_id: int,
    max_len: int,
) -> Decoded:
    """Take the most probable token at every step until all sequences have ended.

    Args:
        step: takes the last tokens (b,) and a state; gives logits (b, vocabulary), the next state,
            and attention weights (b, k) or None.
        state: the state before the first step.
        batch_size: number of sequences, at least 1.
        bos_id: token that every sequence starts from; it is not returned.
        eos_id: token that ends a sequence.
        max_len: most tokens a sequence may have, at least 1.

    Returns:
        The sequences; one cut at `max_len` is marked as not finished.

    Raises:
        ValueError: `batch_size` or `max_len` below 1.

    >>> def count_down(tokens, state):
    ...     return torch.eye(5)[tokens - 1], state, None
    >>> greedy(count_down, None, batch_size=1, bos_id=4, eos_id=0, max_len=9).sequences()
    [[3, 2, 1]]
    """
    for name, value in (("batch_size", batch_size), ("max_len", max_len)):
        if value < 1:
            raise ValueError(f"{name}: got {value}, wanted at least 1")
    last = torch.full((batch_size,), bos_id)
    finished = torch.zeros(batch_size, dtype=torch.bool)
    tokens, weights = [], []
    for _ in range(max_len):
        logits, state, looked = step(last, state)
        last = logits.argmax(-1).masked_fill(finished, eos_id)
        finished = finished | (last == eos_id)
        tokens.append(last)
        if looked is not None:
            weights.append(looked)
        if bool(finished.all()):
            break
    stacked = torch.stack(tokens, 1)
    lengths = (stacked != eos_id).sum(1)
    return Decoded(stacked, lengths, finished, torch.stack(weights, 1) if weights else None)
