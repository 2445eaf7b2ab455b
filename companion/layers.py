"""Attention as layers with weights to learn."""

from __future__ import annotations

import math
from typing import Literal, overload

import torch
from torch import Tensor, nn

from companion.attention import attend, masked_softmax
from companion.scores import additive_score, dot_score


class _Attention(nn.Module):
    """Attention over a memory whose keys are projected once: score, softmax, weighted sum."""

    def project(self, memory: Tensor) -> Tensor:
        """Make of the memory what queries are compared with; call it once a sentence."""
        raise NotImplementedError

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Score (b, q, d) queries against projected keys: (b, q, k)."""
        raise NotImplementedError

    @overload
    def forward(
        self,
        query: Tensor,
        keys: Tensor,
        memory: Tensor,
        *,
        mask: Tensor | None = None,
        need_weights: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def forward(
        self,
        query: Tensor,
        keys: Tensor,
        memory: Tensor,
        *,
        mask: Tensor | None = None,
        need_weights: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...
    def forward(
        self,
        query: Tensor,
        keys: Tensor,
        memory: Tensor,
        *,
        mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Blend the memory for every query.

        Args:
            query: (b, q, d) what is looked for.
            keys: (b, k, .) what `project` made of the memory, once a sentence.
            memory: (b, k, v) what is blended.
            mask: boolean, broadcast to (b, q, k), True = may attend.
            need_weights: also return the weights.

        Returns:
            (b, q, v) contexts; with `need_weights` also the (b, q, k) weights.
        """
        weights = masked_softmax(self.score(query, keys), mask)
        context = attend(weights, memory)
        return (context, weights) if need_weights else context


class AdditiveAttention(_Attention):
    """Bahdanau's attention: score(s, h) = v . tanh(s W + h U) (Bahdanau et al., 2015).

    Args:
        query_dim: width of a query s.
        key_dim: width of a memory entry h.
        hidden_dim: width of v.

    Raises:
        ValueError: a width below 1.

    >>> attention = AdditiveAttention(query_dim=3, key_dim=5, hidden_dim=7)
    >>> memory = torch.ones(1, 4, 5)
    >>> attention(torch.ones(1, 2, 3), attention.project(memory), memory).shape
    torch.Size([1, 2, 5])
    """

    def __init__(self, query_dim: int, key_dim: int, hidden_dim: int) -> None:
        super().__init__()
        _check_widths(query_dim=query_dim, key_dim=key_dim, hidden_dim=hidden_dim)
        self.query_weight = _matrix(query_dim, hidden_dim)
        self.key_weight = _matrix(key_dim, hidden_dim)
        self.vector = nn.Parameter(_matrix(hidden_dim, 1).detach()[:, 0])

    def project(self, memory: Tensor) -> Tensor:
        """Return h U for every memory entry: (b, k, v) -> (b, k, hidden_dim)."""
        return memory @ self.key_weight

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Score (b, q, d) queries against projected keys (b, k, hidden_dim): (b, q, k)."""
        return additive_score(query, keys, self.query_weight, None, self.vector)


class LuongAttention(_Attention):
    """Luong's attention: score(s, h) = s . h, or s W . h (Luong et al., 2015).

    Args:
        query_dim: width of a query s.
        key_dim: width of a memory entry h.
        score: "dot", which has no weights and wants equal widths, or "general", the bilinear
            score.

    Raises:
        ValueError: a width below 1, widths that differ under "dot", or another score.

    >>> attention = LuongAttention(query_dim=5, key_dim=5, score="dot")
    >>> memory = torch.ones(1, 4, 5)
    >>> attention(torch.ones(1, 2, 5), attention.project(memory), memory).shape
    torch.Size([1, 2, 5])
    """

    def __init__(
        self, query_dim: int, key_dim: int, *, score: Literal["dot", "general"] = "general"
    ) -> None:
        super().__init__()
        _check_widths(query_dim=query_dim, key_dim=key_dim)
        if score not in ("dot", "general"):
            raise ValueError(f"score: got {score!r}, wanted 'dot' or 'general'")
        if score == "dot" and query_dim != key_dim:
            raise ValueError(
                f"key_dim: got {key_dim}, wanted query_dim, {query_dim}, for the dot score"
            )
        self.weight = _matrix(query_dim, key_dim) if score == "general" else None

    def project(self, memory: Tensor) -> Tensor:
        """Return W h for every memory entry: (b, k, v) -> (b, k, query_dim); h itself for "dot"."""
        return memory if self.weight is None else memory @ self.weight.mT

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Score (b, q, d) queries against projected keys (b, k, d): (b, q, k)."""
        return dot_score(query, keys)


def _matrix(rows: int, columns: int) -> nn.Parameter:
    """Draw a weight uniformly within 1 / sqrt(rows), as torch's linear layer does."""
    return nn.Parameter(torch.empty(rows, columns).uniform_(-1, 1) / math.sqrt(rows))


def _check_widths(**widths: int) -> None:
    for name, width in widths.items():
        if width < 1:
            raise ValueError(f"{name}: got {width}, wanted at least 1")
