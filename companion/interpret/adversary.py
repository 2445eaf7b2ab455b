"""Weights as different as can be that leave the output where it was."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Generator, Tensor

from companion.contracts import contract
from companion.interpret._checks import allowed_words, distributions
from companion.interpret.divergence import jensen_shannon, total_variation

PENALTY = 500.0
"""What a unit of total variation beyond the bound costs, in nats."""
SPREAD = 3.0
"""Standard deviation of the first logits: a few words get most of the weight."""


@contract(
    weights="... k", mask="booleans: ~... ~k", k=">= 1",
    bound="> 0", steps=">= 1", starts=">= 1", learning_rate="> 0",
)  # fmt: skip
def adversarial_weights(
    read: Callable[[Tensor], Tensor],
    weights: Tensor,
    mask: Tensor | None = None,
    *,
    bound: float = 0.01,
    steps: int = 100,
    starts: int = 3,
    learning_rate: float = 0.1,
    generator: Generator | None = None,
) -> Tensor:
    """Search for other weights with which a model says the same (Jain and Wallace, 2019).

    For every row, maximise the Jensen-Shannon divergence from its weights, while the output moves
    by at most `bound` in total variation. Adam climbs from random weights, with a penalty on what
    is beyond the bound. The best weights seen that keep the bound are returned: they show what
    exists, not how far one could go.

    Args:
        read: from weights to distributions (..., c), each row for itself.
        weights: the model's own.
        mask: True = may attend; None allows all.
        bound: how far the output may move.
        steps: updates of a search.
        starts: searches, each from other random weights.
        learning_rate: of Adam, on the logits.
        generator: where the random numbers come from.

    Returns:
        (..., k) weights that keep the bound; the model's own where none were found.

    >>> constant = lambda weights: torch.ones(2, 3) / 3  # it does not look at all
    >>> own = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> others = adversarial_weights(constant, own, generator=Generator().manual_seed(1))
    >>> bool((jensen_shannon(others, own) > 0.5).all())
    True
    """
    words, weights = allowed_words(mask, weights), weights.detach()
    with torch.no_grad():
        wanted = distributions("read", read(weights))
    best, reached = weights, torch.zeros_like(weights[..., 0])
    for _ in range(starts):
        logits = SPREAD * torch.randn(
            weights.shape, generator=generator, dtype=weights.dtype
        )
        logits = logits.masked_fill(~words, -torch.inf).requires_grad_()
        optimizer = torch.optim.Adam([logits], lr=learning_rate)
        for _ in range(steps):
            tried = _softmax(logits, words)
            moved = total_variation(read(tried), wanted)
            apart = jensen_shannon(tried, weights)
            better = (moved <= bound) & (apart > reached)
            best = torch.where(better[..., None], tried, best).detach()
            reached = torch.where(better, apart, reached).detach()
            loss = (PENALTY * (moved - bound).clamp(min=0) - apart).sum()
            (logits.grad,) = torch.autograd.grad(loss, [logits])
            optimizer.step()
    return best


def _softmax(logits: Tensor, words: Tensor) -> Tensor:
    """Return weights, zeros in a row without words."""
    weights = logits.masked_fill(~words, -torch.inf).softmax(-1)
    return weights.masked_fill(~words, 0.0)
