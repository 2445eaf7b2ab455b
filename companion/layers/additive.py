"""Bahdanau's attention."""

from __future__ import annotations

from torch import Tensor, nn

from companion.arrays import check_whole
from companion.layers._checks import check_input
from companion.layers.memory import MemoryAttention, weight_matrix
from companion.scores import additive_score


class AdditiveAttention(MemoryAttention):
    """Bahdanau's attention: score(s, h) = v . tanh(s W + h U) (Bahdanau et al., 2015).

    It is called as `MemoryAttention.forward` says.

    Args:
        query_dim: width of a query s.
        key_dim: width of a memory entry h.
        hidden_dim: width of v.

    Raises:
        TypeError: a width that is not whole.
        ValueError: a width below 1.

    >>> import torch
    >>> attention = AdditiveAttention(query_dim=3, key_dim=5, hidden_dim=7)
    >>> memory = torch.ones(1, 4, 5)
    >>> attention(torch.ones(1, 2, 3), attention.project(memory), memory).shape
    torch.Size([1, 2, 5])
    """

    def __init__(self, query_dim: int, key_dim: int, hidden_dim: int) -> None:
        check_whole(1, hidden_dim=hidden_dim)
        super().__init__(query_dim, key_dim, projected_dim=hidden_dim)
        self.query_weight = weight_matrix(query_dim, hidden_dim)
        self.key_weight = weight_matrix(key_dim, hidden_dim)
        self.vector = nn.Parameter(weight_matrix(hidden_dim, 1).detach()[:, 0])

    def project(self, memory: Tensor) -> Tensor:
        """Return h U for every memory entry: (b, k, key_dim) -> (b, k, hidden_dim)."""
        check_input(self.key_weight, self.key_dim, "key_dim", memory=memory)
        return memory @ self.key_weight

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Score (b, q, query_dim) queries against projected keys (b, k, hidden_dim): (b, q, k)."""
        return additive_score(query, keys, self.query_weight, None, self.vector)
