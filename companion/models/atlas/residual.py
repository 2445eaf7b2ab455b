"""Residual connections that learn how much of each side they take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn


class ResidualGate(nn.Module):
    """a x + b part, with b = sigmoid(gate / temperature) and a^2 + b^2 = 1, at least 0.001.

    Args:
        embed_dim: width e of the residual stream.
        temperature: what the gate is divided by.

    >>> ResidualGate(2, 1.0)(torch.zeros(2), torch.ones(2)).tolist()
    [0.5, 0.5]
    """

    def __init__(self, embed_dim: int, temperature: float) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(embed_dim))
        self.temperature = temperature

    def forward(self, x: Tensor, part: Tensor) -> Tensor:
        """Blend x and what a part has given, (..., e) each."""
        b = (self.gate / self.temperature).sigmoid()
        return (1 - b.square()).clamp(min=1e-3).sqrt() * x + b * part

    if TYPE_CHECKING:
        __call__ = forward
