"""Attention over a memory whose keys are projected once a sentence."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from companion.attention import attend, masked_softmax
from companion.contracts import contract
from companion.layers.attended import Attended


@contract(query_dim=">= 1", key_dim=">= 1", projected_dim=">= 1")
class MemoryAttention(nn.Module):
    """Score, softmax, weighted sum: what attention over a memory shares, whatever its score.

    A subclass says what it makes of the memory, once a sentence, and how it scores that.

    Args:
        query_dim: width of a query s.
        key_dim: width of a memory entry h.
        projected_dim: width of what `project` returns.
    """

    def __init__(
        self, query_dim: int, key_dim: int, projected_dim: int
    ) -> None:
        super().__init__()
        self.query_dim = query_dim
        self.key_dim = key_dim
        self.projected_dim = projected_dim

    def project(self, memory: Tensor) -> Tensor:
        """Make of the memory (b, k, key_dim) what queries are compared with."""
        raise NotImplementedError

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Score (b, q, query_dim) queries against projected keys: (b, q, k)."""
        raise NotImplementedError

    @contract(
        matching="first_weight", query="b q query_dim", keys="b k projected_dim", memory="b k v",
        mask="mask: ~b ~q ~k",
    )  # fmt: skip
    def forward(
        self,
        query: Tensor,
        keys: Tensor,
        memory: Tensor,
        *,
        mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> Tensor | Attended:
        """Blend the memory for every query.

        Args:
            query: what is looked for.
            keys: what `project` made of the memory, once a sentence.
            memory: what is blended.
            mask: boolean, True = may attend; or added to the scores.
            need_weights: also return the weights.

        Returns:
            (b, q, v) contexts; with `need_weights`, `Attended`: the contexts, and the weights
            (b, q, k).
        """
        weights = masked_softmax(self.score(query, keys), mask)
        context = attend(weights, memory)
        return Attended(context, weights) if need_weights else context

    @property
    def first_weight(self) -> Tensor | None:
        """A weight that has the dtype and the device of the layer; the dot score has none."""
        return next(self.parameters(), None)


def draw_weight(*shape: int) -> nn.Parameter:
    """Draw a weight uniformly within 1 / sqrt(rows), as torch's linear layer does."""
    uniform = torch.empty(shape).uniform_(-1, 1)
    return nn.Parameter(uniform / math.sqrt(shape[0]))
