"""What a decoder asks for, and what it gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

State = TypeVar("State")

Step = Callable[[Tensor, State], tuple[Tensor, State, Tensor | None]]
"""Takes the last tokens (b,) and a state; gives the next token's logits (b, vocabulary), the new
state, and the attention (b, k) of this step or None."""

Reorder = Callable[[State, Tensor], State]
"""Takes a state and indices (b,); gives the state in which row i goes on from row indices[i]."""


class Decoded(NamedTuple):
    """Sequences written by a decoder.

    Attributes:
        tokens: (b, q) ids; after a sequence's end, its `eos_id` is repeated.
        lengths: (b,) tokens of each sequence before its end.
        finished: (b,) True where the sequence ended by itself, False where `max_len` cut it.
        weights: (b, q, k) attention of every step, or None.
        log_probs: (b, q) natural logarithm of what the model gave each token, its end included;
            0 after the end, so that a row sums to the logarithm of the sequence's probability.
    """

    tokens: Tensor
    lengths: Tensor
    finished: Tensor
    weights: Tensor | None
    log_probs: Tensor

    def sequences(self) -> list[list[int]]:
        """Return every sequence as a list of ids, without its end."""
        return [
            ids[:length]
            for ids, length in zip(self.tokens.tolist(), self.lengths.tolist(), strict=True)
        ]


def first_tokens(bos_id: int | Tensor, rows: int) -> Tensor:
    """Return the token that every row starts from, (rows,).

    Args:
        bos_id: one token for all, or integers (rows,).
        rows: number of sequences.

    Raises:
        TypeError: tokens that are no integers.
        ValueError: another number of tokens.

    >>> first_tokens(7, 2)
    tensor([7, 7])
    """
    if not isinstance(bos_id, Tensor):
        return torch.full((rows,), bos_id)
    if bos_id.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"bos_id: got dtype {bos_id.dtype}, wanted integers")
    if bos_id.shape != (rows,):
        raise ValueError(f"bos_id: got shape {tuple(bos_id.shape)}, wanted ({rows},), one a row")
    return bos_id


def log_softmax(logits: Tensor) -> Tensor:
    """Return log-probabilities over the last axis, in at least float32.

    A row in which every token is forbidden, -inf, stays so.

    >>> log_softmax(torch.zeros(1, 1, dtype=torch.bfloat16))
    tensor([[0.]])
    """
    given = logits.log_softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32))
    return given.masked_fill((logits == -math.inf).all(-1, keepdim=True), -math.inf)


def check_sizes(**sizes: int) -> None:
    """Refuse numbers below 1.

    Raises:
        ValueError: a number below 1.

    >>> check_sizes(max_len=0)
    Traceback (most recent call last):
    ValueError: max_len: got 0, wanted at least 1
    """
    for name, value in sizes.items():
        if value < 1:
            raise ValueError(f"{name}: got {value}, wanted at least 1")
