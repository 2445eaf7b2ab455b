"""How far apart two distributions are, and whether they decide alike."""

from __future__ import annotations

import torch
from torch import Tensor

from companion.interpret._checks import check_same_shape, check_weights


def total_variation(p: Tensor, q: Tensor) -> Tensor:
    """Return half the sum of absolute differences: 0 for equal distributions, 1 for disjoint ones.

    Args:
        p: (..., c) distributions.
        q: (..., c) others.

    Returns:
        (...) distances.

    Raises:
        TypeError: no tensors of floating numbers.
        ValueError: shapes that differ.

    >>> total_variation(torch.tensor([0.75, 0.25]), torch.tensor([0.25, 0.75]))
    tensor(0.5000)
    """
    check_weights(p=p, q=q)
    check_same_shape("p", p, q=q)
    return (p - q).abs().sum(-1) / 2


def jensen_shannon(p: Tensor, q: Tensor) -> Tensor:
    """Return the Jensen-Shannon divergence in nats, from 0 to log 2 (Lin, 1991).

    It is the mean of the Kullback-Leibler divergences of both from their mean. Its gradient is
    finite also where a probability is 0.

    Args:
        p: (..., c) distributions.
        q: (..., c) others.

    Returns:
        (...) divergences.

    Raises:
        TypeError: no tensors of floating numbers.
        ValueError: shapes that differ.

    >>> jensen_shannon(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0]))
    tensor(0.6931)
    """
    check_weights(p=p, q=q)
    check_same_shape("p", p, q=q)
    middle = (p + q) / 2
    return (_relative_entropy(p, middle) + _relative_entropy(q, middle)) / 2


def flipped(outputs: Tensor, others: Tensor) -> Tensor:
    """Say where the most probable class is another one.

    Args:
        outputs: (..., c) distributions or logits.
        others: (..., c) others.

    Returns:
        (...) booleans.

    Raises:
        TypeError: no tensors of floating numbers.
        ValueError: shapes that differ.

    >>> flipped(torch.tensor([[0.9, 0.1], [0.4, 0.6]]), torch.tensor([[0.6, 0.4], [0.7, 0.3]]))
    tensor([False,  True])
    """
    check_weights(outputs=outputs, others=others)
    check_same_shape("outputs", outputs, others=others)
    return outputs.argmax(-1) != others.argmax(-1)


def _relative_entropy(p: Tensor, q: Tensor) -> Tensor:
    """Sum p log(p / q), where 0 log 0 = 0, also in the gradient."""
    counts = p > 0
    ratio = torch.where(counts, p, 1.0).log() - torch.where(counts, q, 1.0).log()
    return (p * ratio).sum(-1)
