"""Leaving out improbable tokens before one is drawn."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from companion.contracts import contract


@contract(logits="... vocabulary", vocabulary=">= 1", k=">= 1")
def keep_top_k(logits: Tensor, k: int) -> Tensor:
    """Leave the k largest logits of every row, and put -inf for the others (Fan et al., 2018).

    Args:
        k: how many to keep, exactly so many also of equal ones. All, if there are fewer.

    >>> import torch
    >>> keep_top_k(torch.tensor([3.0, 1.0, 2.0]), 2)
    tensor([3., -inf, 2.])
    """
    values, tokens = logits.topk(min(k, logits.shape[-1]), dim=-1)
    return logits.new_full(logits.shape, -math.inf).scatter(-1, tokens, values)


@contract(logits="... vocabulary", vocabulary=">= 1", p="> 0 and <= 1")
def keep_top_p(logits: Tensor, p: float) -> Tensor:
    """Leave the fewest tokens whose probabilities add up to at least p (Holtzman et al., 2020).

    They are the most probable ones; the one that reaches p is among them.

    Args:
        logits: their softmax gives the probabilities.
        p: 1 leaves all.

    >>> import torch
    >>> keep_top_p(torch.tensor([0.5, 0.25, 0.25]).log(), 0.5).exp()
    tensor([0.5000, 0.0000, 0.0000])
    """
    if p == 1:
        return logits
    ordered, tokens = logits.sort(dim=-1, descending=True, stable=True)
    wide = ordered.to(torch.promote_types(logits.dtype, torch.float32))
    finite = wide.clamp(max=torch.finfo(wide.dtype).max)
    # What the more probable tokens add up to. A sum that misses p by rounding alone has reached it.
    before = finite.softmax(-1).cumsum(-1).roll(1, -1)
    before[..., 0] = 0
    kept = ordered.where(before < p * (1 - 1e-6), -math.inf)
    return kept.scatter(-1, tokens, kept)


@contract(logits="... vocabulary", vocabulary=">= 1", share="> 0 and <= 1")
def keep_min_p(logits: Tensor, share: float) -> Tensor:
    """Leave the tokens with at least this share of the largest probability (Nguyen et al., 2025).

    Args:
        logits: their softmax gives the probabilities.
        share: usually called min-p; 1 leaves the most probable tokens alone.

    >>> import torch
    >>> keep_min_p(torch.tensor([0.5, 0.25, 0.125, 0.125]).log(), 0.5).exp()
    tensor([0.5000, 0.2500, 0.0000, 0.0000])
    """
    highest = logits.amax(-1, keepdim=True)
    return logits.where(logits >= highest + math.log(share), -math.inf)
