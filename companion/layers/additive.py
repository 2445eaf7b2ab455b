"""Bahdanau's attention."""

from __future__ import annotations

from torch import Tensor

from companion.contracts import contract
from companion.layers.memory import MemoryAttention, draw_weight
from companion.scores import additive_score


@contract(hidden_dim=">= 1")
class AdditiveAttention(MemoryAttention):
    """Bahdanau's attention: score(s, h) = v . tanh(s W + h U) (Bahdanau et al., 2015).

    It is called as `MemoryAttention.forward` says.

    Args:
        query_dim: width of a query s.
        key_dim: width of a memory entry h.
        hidden_dim: width of v.

    >>> import torch
    >>> attention = AdditiveAttention(query_dim=3, key_dim=5, hidden_dim=7)
    >>> memory = torch.ones(1, 4, 5)
    >>> attention(torch.ones(1, 2, 3), attention.project(memory), memory).shape
    torch.Size([1, 2, 5])
    """

    def __init__(self, query_dim: int, key_dim: int, hidden_dim: int) -> None:
        super().__init__(query_dim, key_dim, projected_dim=hidden_dim)
        self.query_weight = draw_weight(query_dim, hidden_dim)
        self.key_weight = draw_weight(key_dim, hidden_dim)
        self.vector = draw_weight(hidden_dim)

    @contract(matching="key_weight", memory="... k key_dim")
    def project(self, memory: Tensor) -> Tensor:
        """Return h U for every memory entry: (b, k, key_dim) -> (b, k, hidden_dim)."""
        return memory @ self.key_weight

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Score (b, q, query_dim) queries against projected keys (b, k, hidden_dim): (b, q, k)."""
        return additive_score(
            query, keys, self.query_weight, None, self.vector
        )
