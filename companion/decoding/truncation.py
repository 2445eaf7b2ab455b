"""Leaving out improbable tokens before one is drawn."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from companion.arrays import check_whole, is_number


def keep_top_k(logits: Tensor, k: int) -> Tensor:
    """Leave the k largest logits of every row, and put -inf for the others (Fan et al., 2018).

    Args:
        logits: (..., vocabulary).
        k: how many to keep, at least 1; of equal ones, as many as fit. All, if there are fewer.

    Raises:
        TypeError: k is not whole, or logits that are no floating tensor.
        ValueError: k is below 1, or logits without a vocabulary.

    >>> import torch
    >>> keep_top_k(torch.tensor([3.0, 1.0, 2.0]), 2)
    tensor([3., -inf, 2.])
    """
    check_whole(1, k=k)
    _check_logits(logits)
    values, places = logits.topk(min(k, logits.shape[-1]), dim=-1)
    return logits.new_full(logits.shape, -math.inf).scatter(-1, places, values)


def keep_top_p(logits: Tensor, p: float) -> Tensor:
    """Leave the fewest tokens whose probabilities add up to at least p (Holtzman et al., 2020).

    They are the most probable ones; the one that reaches p is among them.

    Args:
        logits: (..., vocabulary); their softmax gives the probabilities.
        p: above 0 and at most 1, which leaves all.

    Raises:
        TypeError: p is no number.
        ValueError: p is out of range.

    >>> import torch
    >>> keep_top_p(torch.tensor([0.5, 0.25, 0.25]).log(), 0.5).exp()
    tensor([0.5000, 0.0000, 0.0000])
    """
    if not is_number(p):
        raise TypeError(f"top_p: got {type(p).__name__}, wanted a number")
    if not 0 < p <= 1:
        raise ValueError(f"top_p: got {p}, wanted above 0 and at most 1")
    if p == 1:
        return logits
    ordered, places = logits.sort(dim=-1, descending=True, stable=True)
    probabilities = ordered.softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32))
    before = probabilities.cumsum(-1) - probabilities  # of the tokens that are more probable
    kept = ordered.where(before < p, -math.inf)
    return kept.scatter(-1, places, kept)


def _check_logits(logits: object) -> None:
    """Refuse what has no floating scores of a vocabulary on its last axis."""
    if not isinstance(logits, Tensor) or not logits.is_floating_point():
        came = str(logits.dtype) if isinstance(logits, Tensor) else type(logits).__name__
        raise TypeError(f"logits: got {came}, wanted a floating tensor")
    if not logits.ndim or not logits.shape[-1]:
        raise ValueError(f"logits: got shape {tuple(logits.shape)}, wanted (..., vocabulary)")
