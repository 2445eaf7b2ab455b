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
        rows = zip(self.tokens.tolist(), self.lengths.tolist(), strict=True)
        return [ids[:length] for ids, length in rows]


def first_tokens(
    bos_id: int | Tensor, rows: int, state: object = None
) -> Tensor:
    """Return the token that every row starts from, (rows,).

    Args:
        bos_id: one token for all, or integers (rows,).
        rows: number of sequences.
        state: the state before the first step; one token for all is put where its first tensor is.

    >>> first_tokens(7, 2)
    tensor([7, 7])
    """
    if not isinstance(bos_id, Tensor):
        return torch.full((rows,), bos_id, device=_device_of(state))
    if bos_id.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"bos_id: got dtype {bos_id.dtype}, wanted integers")
    if bos_id.shape != (rows,):
        raise ValueError(
            f"bos_id: got shape {tuple(bos_id.shape)}, wanted ({rows},), one a row"
        )
    return bos_id


def log_softmax(logits: Tensor) -> Tensor:
    """Return log-probabilities over the last axis, in at least float32.

    A row in which every token is forbidden, -inf, stays so.

    >>> log_softmax(torch.zeros(1, 1, dtype=torch.bfloat16))
    tensor([[0.]])
    """
    dtype = torch.promote_types(logits.dtype, torch.float32)
    forbidden = (logits == -math.inf).all(-1, keepdim=True)
    return logits.log_softmax(-1, dtype=dtype).masked_fill(
        forbidden, -math.inf
    )


def take_step(
    step: Step[State], last: Tensor, state: State
) -> tuple[Tensor, State, Tensor | None]:
    """Take a step, and refuse an output that does not score one next token a row.

    >>> last = torch.tensor([4, 4])
    >>> take_step(lambda tokens, state: (torch.ones(2, 1, 5), state, None), last, None)
    Traceback (most recent call last):
    ValueError: step: gave logits of shape (2, 1, 5), wanted (2, vocabulary)
    """
    result = step(last, state)
    if not isinstance(result, tuple) or len(result) != 3:
        came = type(result).__name__
        if isinstance(result, tuple):
            came = f"{len(result)} values"
        raise TypeError(
            f"step: gave {came}, wanted logits, a state, and weights or None"
        )
    logits, _, weights = result
    if not isinstance(logits, Tensor) or not logits.is_floating_point():
        came = type(logits).__name__
        if isinstance(logits, Tensor):
            came = str(logits.dtype)
        raise TypeError(
            f"step: gave logits of {came}, wanted a floating tensor"
        )
    rows = len(last)
    if logits.ndim != 2 or logits.shape[0] != rows:
        raise ValueError(
            f"step: gave logits of shape {tuple(logits.shape)}, wanted ({rows}, vocabulary)"
        )
    if weights is not None and (weights.ndim != 2 or weights.shape[0] != rows):
        raise ValueError(
            f"step: gave weights of shape {tuple(weights.shape)}, wanted ({rows}, k) or None"
        )
    return result


def _device_of(state: object) -> torch.device | None:
    """Return where the first tensor of a state is, None if it has none."""
    if isinstance(state, Tensor):
        return state.device
    parts = state if isinstance(state, tuple | list) else ()
    devices = map(_device_of, parts)
    return next((device for device in devices if device is not None), None)
