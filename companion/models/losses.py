"""The cross-entropy that all models train with."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def mean_cross_entropy(
    logits: Tensor, targets: Tensor, *, label_smoothing: float = 0.0
) -> Tensor:
    """Average the cross-entropy, in nats, in float32 at least.

    Sixteen bits have too few digits for a mean over thousands of words, so logits in half precision
    are widened first.

    Args:
        logits: (n, vocabulary).
        targets: (n,) ids of what came.
        label_smoothing: probability that is spread over all words.

    >>> mean_cross_entropy(torch.zeros(2, 8, dtype=torch.bfloat16), torch.tensor([3, 5]))
    tensor(2.0794)
    """
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return F.cross_entropy(
        wide, targets.long(), label_smoothing=label_smoothing
    )
