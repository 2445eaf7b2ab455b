"""Luong's attention: three scores, over the whole memory or a window of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, overload

import torch
from torch import Tensor, nn

from companion.arrays import check_mask, check_whole, namespace
from companion.attention import attend, masked_softmax
from companion.layers._checks import check_input
from companion.layers._masks import narrow
from companion.layers.memory import MemoryAttention, weight_matrix
from companion.masks import sliding_window_mask
from companion.scores import additive_score, dot_score

Score = Literal["dot", "general", "concat"]


class LuongAttention(MemoryAttention):
    """Luong's attention, global or local (Luong et al., 2015).

    The score of a query s and a memory entry h is

    - "dot": s . h, which has no weights and wants equal widths;
    - "general": s W . h, the bilinear score;
    - "concat": v . tanh([s; h] W). It is the additive score, W its two matrices on one another.

    Global attention looks at the whole memory. Local attention looks at the places from p - D to
    p + D around an aligned place p, counted from 0, as far as they exist:

    - monotonic (local-m): p is the place of the query in its own sequence. The softmax runs over
      the window. Past the end of the memory by more than D there is nothing, and the context is 0.
    - predictive (local-p): p = S * sigmoid(v . tanh(s W)), a real number, with weights of its own.
      S is the length of the memory: the number of entries that `mask` allows. The softmax over the
      window is multiplied by exp(-(place - p)^2 / (2 sigma^2)), sigma = D / 2, through which
      gradients reach the prediction, and not normalised again: a row sums to less than 1.

    Args:
        query_dim: width of a query s.
        key_dim: width of a memory entry h.
        score: "dot", "general" or "concat".
        hidden_dim: width of v in "concat"; None means query_dim.
        window: D, entries on either side of p; None means global attention.
        predictive: predict p (local-p), instead of taking the query's own place (local-m).

    Raises:
        TypeError: a width that is not whole.
        ValueError: a width below 1, widths that differ under "dot", another score, a hidden_dim
            that the score does not have, a negative window, or a prediction without a window.

    >>> import torch
    >>> attention = LuongAttention(query_dim=5, key_dim=5, score="dot", window=1)
    >>> memory = torch.eye(5)[None]
    >>> query = torch.zeros(1, 1, 5)
    >>> attention(query, attention.project(memory), memory, offset=4)
    tensor([[[0.0000, 0.0000, 0.0000, 0.5000, 0.5000]]])
    """

    def __init__(
        self,
        query_dim: int,
        key_dim: int,
        *,
        score: Score = "general",
        hidden_dim: int | None = None,
        window: int | None = None,
        predictive: bool = False,
    ) -> None:
        _check_options(query_dim, key_dim, score, hidden_dim, window, predictive)
        hidden_dim = query_dim if hidden_dim is None else hidden_dim
        super().__init__(query_dim, key_dim, hidden_dim)
        self.window = window
        self.weight: nn.Parameter | None = None
        self.vector: nn.Parameter | None = None
        self.place_weight: nn.Parameter | None = None
        self.place_vector: nn.Parameter | None = None
        if score == "general":
            self.weight = weight_matrix(query_dim, key_dim)
        elif score == "concat":
            self.weight = weight_matrix(query_dim + key_dim, hidden_dim)
            self.vector = nn.Parameter(weight_matrix(hidden_dim, 1).detach()[:, 0])
        if predictive:
            self.place_weight = weight_matrix(query_dim, query_dim)
            self.place_vector = nn.Parameter(weight_matrix(query_dim, 1).detach()[:, 0])

    def project(self, memory: Tensor) -> Tensor:
        """Return what queries are compared with: h for "dot", W h for "general", h W for "concat".

        (b, k, key_dim) -> (b, k, query_dim), or (b, k, hidden_dim) for "concat", where W stands
        for the rows of the matrix that meet h.
        """
        check_input(
            memory if self.weight is None else self.weight, self.key_dim, "key_dim", memory=memory
        )
        if self.weight is None:
            return memory
        if self.vector is None:
            return memory @ self.weight.mT
        return memory @ self.weight[self.query_dim :]

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Score (b, q, query_dim) queries against projected keys: (b, q, k)."""
        if self.weight is None or self.vector is None:
            return dot_score(query, keys)
        return additive_score(query, keys, self.weight[: self.query_dim], None, self.vector)

    def place(self, query: Tensor, lengths: Tensor | float) -> Tensor:
        """Predict where in the memory to look: p = S * sigmoid(v . tanh(s W)) (local-p).

        Args:
            query: (b, q, query_dim).
            lengths: lengths S of the memories, broadcast to (b, q).

        Returns:
            (b, q) places from 0 to S, in at least float32.

        Raises:
            TypeError: the layer does not predict.
        """
        if self.place_weight is None or self.place_vector is None:
            raise TypeError("predictive: got False, wanted a layer that was made with True")
        logit = torch.tanh(query @ self.place_weight) @ self.place_vector
        # bfloat16 cannot tell the places 256 and 257 apart.
        return lengths * torch.sigmoid(logit.to(torch.promote_types(logit.dtype, torch.float32)))

    @overload
    def forward(
        self,
        query: Tensor,
        keys: Tensor,
        memory: Tensor,
        *,
        mask: Tensor | None = None,
        offset: int | Tensor = 0,
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
        offset: int | Tensor = 0,
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
        offset: int | Tensor = 0,
        need_weights: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]: ...
    def forward(
        self,
        query: Tensor,
        keys: Tensor,
        memory: Tensor,
        *,
        mask: Tensor | None = None,
        offset: int | Tensor = 0,
        need_weights: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Blend the memory, or a window of it, for every query.

        Args:
            query: (b, q, query_dim) what is looked for.
            keys: (b, k, .) what `project` made of the memory, once a sentence.
            memory: (b, k, v) what is blended.
            mask: boolean, broadcast to (b, q, k), True = may attend.
            offset: place of the first query in its sequence, a number or integers (b,); a decoder
                that goes word by word gives the number of words before. Only local-m reads it.
            need_weights: also return the weights.

        Returns:
            (b, q, v) contexts; with `need_weights` also the (b, q, k) weights.

        Raises:
            TypeError: no tensors, or dtypes that are not the layer's.
            ValueError: shapes that do not fit.
        """
        self._check_call(query, keys, memory)
        scores = self.score(query, keys)
        check_mask(namespace(query=query, mask=mask), tuple(scores.shape), mask=mask)
        if self.window is None:
            weights = masked_softmax(scores, mask)
        elif self.place_weight is None:
            q_len, k_len = scores.shape[-2:]
            near = sliding_window_mask(
                q_len, k_len, left=self.window, right=self.window, offset=offset, like=scores
            )
            weights = masked_softmax(scores, narrow(mask, near))
        else:
            weights = self._predicted(query, scores, mask, self.window)
        context = attend(weights, memory)
        return (context, weights) if need_weights else context

    if TYPE_CHECKING:
        __call__ = forward

    def _predicted(self, query: Tensor, scores: Tensor, mask: Tensor | None, window: int) -> Tensor:
        distance = torch.arange(scores.shape[-1], device=scores.device)
        distance = distance - self.place(query, _lengths(scores, mask))[..., None]
        weights = masked_softmax(scores, narrow(mask, distance.abs() <= window))
        sigma = window / 2
        return weights * torch.exp(-distance.square() / (2 * sigma**2)).to(weights.dtype)


def _lengths(scores: Tensor, mask: Tensor | None) -> Tensor | int:
    """Return how many entries of the memory each query may attend to, broadcast to (b, q)."""
    if mask is None:
        return scores.shape[-1]
    return (mask if mask.dtype == torch.bool else mask > -math.inf).sum(-1)


def _check_options(
    query_dim: int,
    key_dim: int,
    score: Score,
    hidden_dim: int | None,
    window: int | None,
    predictive: bool,
) -> None:
    check_whole(1, query_dim=query_dim, key_dim=key_dim)
    if score not in ("dot", "general", "concat"):
        raise ValueError(f"score: got {score!r}, wanted 'dot', 'general' or 'concat'")
    if score == "dot" and query_dim != key_dim:
        raise ValueError(
            f"key_dim: got {key_dim}, wanted query_dim, {query_dim}, for the dot score"
        )
    if hidden_dim is not None:
        check_whole(1, hidden_dim=hidden_dim)
        if score != "concat":
            raise ValueError(f"hidden_dim: got {hidden_dim}, wanted None for the {score} score")
    if window is not None:
        check_whole(1 if predictive else 0, window=window)
    elif predictive:
        raise ValueError("window: got None, wanted a number of places for a prediction")
