"""Bahdanau's attention."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from companion.arrays import check_rank, check_size, check_whole
from companion.attention import masked_softmax
from companion.kernels import turns
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

    def in_turn(
        self, keys: Tensor, memory: Tensor, *, mask: Tensor | None = None
    ) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
        """Return what takes one query a sentence after another, as a decoder has them.

        It computes what `forward` does. Its gradients take less time and memory, because all
        queries add theirs to the same tensors; they can be taken once, not differentiated again.

        Args:
            keys: (b, k, hidden_dim) what `project` made of the memory.
            memory: (b, k, v) what is blended.
            mask: boolean, broadcast to (b, 1, k), True = may attend.

        Returns:
            A function of a query (b, 1, query_dim), whose results are the context (b, 1, v) and
            the weights (b, 1, k). A query that does not fit raises what `forward` does.

        Raises:
            TypeError: no tensors, or dtypes that are not the layer's.
            ValueError: shapes that do not fit.

        >>> import torch
        >>> attention, memory = AdditiveAttention(3, 5, 7), torch.ones(2, 4, 5)
        >>> look = attention.in_turn(attention.project(memory), memory)
        >>> [look(query)[0].shape for query in torch.ones(2, 2, 1, 3)]
        [torch.Size([2, 1, 5]), torch.Size([2, 1, 5])]
        """
        self._check_memory(self.query_weight, keys, memory)
        check_rank(3, "(b, k, .)", exactly=True, keys=keys, memory=memory)
        check_size(len(keys), "the sentences of keys", -3, memory=memory)
        return _InTurn(self, keys, memory, mask)


class _InTurn:
    """Keys and memory on their way from query to query."""

    def __init__(
        self, attention: AdditiveAttention, keys: Tensor, memory: Tensor, mask: Tensor | None
    ) -> None:
        self.keys, self.memory, self.mask = keys, memory, mask
        self.query_weight: Tensor = attention.query_weight
        self.vector = attention.vector
        self.query_shape = (len(keys), 1, attention.query_dim)

    def __call__(self, query: Tensor) -> tuple[Tensor, Tensor]:
        check_input(self.vector, self.query_shape[-1], "query_dim", query=query)
        if query.shape != self.query_shape:
            raise ValueError(
                f"query: got shape {tuple(query.shape)}, wanted {self.query_shape}, one a sentence"
            )
        projected, self.query_weight = turns.product(query.squeeze(1), self.query_weight)
        scores, self.keys = turns.additive_score(projected[:, None], self.keys, self.vector)
        weights = masked_softmax(scores, self.mask)
        context, self.memory = turns.product(weights, self.memory)
        return context, weights
