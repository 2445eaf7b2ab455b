"""How far apart two distributions are, and whether they decide alike."""

from __future__ import annotations

import torch
from torch import Tensor

from companion.contracts import contract
from companion.interpret._checks import check_same_shape


@contract(p="... c", q="... c", c=">= 1")
def total_variation(p: Tensor, q: Tensor) -> Tensor:
    """Return half the sum of absolute differences: 0 for equal distributions, 1 for disjoint ones.

    Args:
        p: distributions.
        q: others.

    Returns:
        (...) distances.

    >>> total_variation(torch.tensor([0.75, 0.25]), torch.tensor([0.25, 0.75]))
    tensor(0.5000)
    """
    check_same_shape(p=p, q=q)
    return (p - q).abs().sum(-1) / 2


@contract(p="... c", q="... c", c=">= 1")
def jensen_shannon(p: Tensor, q: Tensor) -> Tensor:
    """Return the Jensen-Shannon divergence in nats, from 0 to log 2 (Lin, 1991).

    It is the mean of the Kullback-Leibler divergences of both from their mean. Its gradient is
    finite also where a probability is 0.

    Args:
        p: distributions.
        q: others.

    Returns:
        (...) divergences.

    >>> jensen_shannon(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0]))
    tensor(0.6931)
    """
    check_same_shape(p=p, q=q)
    middle = (p + q) / 2
    return (_relative_entropy(p, middle) + _relative_entropy(q, middle)) / 2


@contract(outputs="... c", others="... c", c=">= 1")
def flipped(outputs: Tensor, others: Tensor) -> Tensor:
    """Say where the most probable class is another one.

    Args:
        outputs: distributions or logits.
        others: those of another run.

    Returns:
        (...) booleans.

    >>> flipped(torch.tensor([[0.9, 0.1], [0.4, 0.6]]), torch.tensor([[0.6, 0.4], [0.7, 0.3]]))
    tensor([False,  True])
    """
    check_same_shape(outputs=outputs, others=others)
    return outputs.argmax(-1) != others.argmax(-1)


def _relative_entropy(p: Tensor, q: Tensor) -> Tensor:
    """Sum p log(p / q), where 0 log 0 = 0, also in the gradient."""
    counts = p > 0
    log_p, log_q = (torch.where(counts, x, 1.0).log() for x in (p, q))
    return (p * (log_p - log_q)).sum(-1)
