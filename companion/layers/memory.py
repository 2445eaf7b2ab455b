"""Attention over a memory whose keys are projected once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, overload

import torch
from torch import Tensor, nn

from companion.arrays import broadcast_shape, check_rank, check_size, check_whole
from companion.attention import attend, masked_softmax
from companion.layers._checks import check_input, check_tensors


class MemoryAttention(nn.Module):
    """Score, softmax, weighted sum: what attention over a memory shares, whatever its score.

    A subclass says what it makes of the memory, once a sentence, and how it scores that.

    Args:
        query_dim: width of a query s.
        key_dim: width of a memory entry h.
        projected_dim: width of what `project` returns.

    Raises:
        TypeError: a width that is not whole.
        ValueError: a width below 1.
    """

    def __init__(self, query_dim: int, key_dim: int, projected_dim: int) -> None:
        super().__init__()
        self.query_dim, self.key_dim, self.projected_dim = query_dim, key_dim, projected_dim
        check_whole(1, query_dim=query_dim, key_dim=key_dim)

    def project(self, memory: Tensor) -> Tensor:
        """Make of the memory (..., k, key_dim) what queries are compared with."""
        raise NotImplementedError

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Score (..., q, query_dim) queries against projected keys: (..., q, k)."""
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
    @overload
    def forward(
        self,
        query: Tensor,
        keys: Tensor,
        memory: Tensor,
        *,
        mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]: ...
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
            query: (b, q, query_dim) what is looked for.
            keys: (b, k, .) what `project` made of the memory, once a sentence.
            memory: (b, k, v) what is blended.
            mask: boolean, broadcast to (b, q, k), True = may attend.
            need_weights: also return the weights.

        Returns:
            (b, q, v) contexts; with `need_weights` also the (b, q, k) weights.

        Raises:
            TypeError: no tensors, or dtypes that are not the layer's.
            ValueError: shapes that do not fit.
        """
        self._check_call(query, keys, memory)
        weights = masked_softmax(self.score(query, keys), mask)
        context = attend(weights, memory)
        return (context, weights) if need_weights else context

    if TYPE_CHECKING:
        __call__ = forward

    def _check_call(self, query: Tensor, keys: Tensor, memory: Tensor) -> None:
        weight = next(self.parameters(), query)
        check_input(weight, self.query_dim, "query_dim", query=query)
        self._check_memory(weight, keys, memory)
        if query.ndim < keys.ndim:  # one query a sentence would count as many of each
            raise ValueError(
                f"query: got shape {tuple(query.shape)}, wanted as many axes as keys have, "
                f"{keys.ndim}: (b, q, query_dim)"
            )
        for name, tensor in (("keys", keys), ("memory", memory)):
            lead, wanted = tuple(tensor.shape[:-2]), tuple(query.shape[:-2])
            if broadcast_shape(lead, wanted) is None:
                raise ValueError(
                    f"{name}: got leading axes {lead}, wanted ones that broadcast with {wanted}"
                )

    def _check_memory(self, weight: Tensor, keys: Tensor, memory: Tensor) -> None:
        check_tensors(weight, keys=keys, memory=memory)
        check_input(weight, self.projected_dim, "the width that `project` gives", keys=keys)
        check_rank(2, "(..., k, v)", memory=memory)
        check_size(keys.shape[-2], "the keys of keys", -2, memory=memory)


def weight_matrix(rows: int, columns: int) -> nn.Parameter:
    """Draw a weight uniformly within 1 / sqrt(rows), as torch's linear layer does."""
    return nn.Parameter(torch.empty(rows, columns).uniform_(-1, 1) / math.sqrt(rows))
