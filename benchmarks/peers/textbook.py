"""Attention as textbooks write it: the whole (q, k) matrix, in torch and in NumPy."""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Floats = NDArray[np.float32]
ROWS = 512
"""Rows of the truth that are computed together."""


def textbook(
    query: Tensor, key: Tensor, value: Tensor, *, forbidden: Tensor | None = None
) -> Tensor:
    """Return softmax(Q K^T / sqrt(d)) V of (..., n, d) tensors.

    Forbidden is where an (n, n) mask is True, made before, so that its making is not timed.
    """
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if forbidden is not None:
        scores.masked_fill_(forbidden, -math.inf)
    return torch.softmax(scores, -1) @ value


def numpy_textbook(
    query: Floats, key: Floats, value: Floats, *, forbidden: NDArray[np.bool_] | None = None
) -> Floats:
    """Return the same of NumPy arrays."""
    scores = query @ key.mT / np.float32(math.sqrt(query.shape[-1]))
    if forbidden is not None:
        np.copyto(scores, -np.inf, where=forbidden)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    weights: Floats = powers / powers.sum(-1, keepdims=True)
    return weights @ value


def truth(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, gradient: Tensor | None = None
) -> tuple[Tensor, ...]:
    """Compute it in float64, some rows at a time: output and, given its gradient, three more.

    Allowed is where the (n, n) mask is True.
    """
    leaves = [x.double().requires_grad_(gradient is not None) for x in (query, key, value)]
    outputs = []
    for start in range(0, query.shape[-2], ROWS):
        rows = slice(start, start + ROWS)
        part = textbook(leaves[0][..., rows, :], *leaves[1:], forbidden=~mask[rows])
        outputs.append(part.detach())
        if gradient is not None:
            part.backward(gradient[..., rows, :].double())  # type: ignore[no-untyped-call]
    gradients = (leaf.grad for leaf in leaves if leaf.grad is not None)
    return torch.cat(outputs, -2), *gradients
