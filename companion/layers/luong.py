"""Luong's attention: three scores, over the whole memory or a window of it."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from companion.attention import attend, masked_softmax
from companion.contracts import contract
from companion.layers._masks import narrow
from companion.layers.attended import Attended
from companion.layers.memory import MemoryAttention, draw_weight
from companion.masks import sliding_window_mask
from companion.scores import additive_score, dot_score

Score = Literal["dot", "general", "concat"]


@contract(hidden_dim=">= 1", window=">= 0")
class LuongAttention(MemoryAttention):
    """Luong's attention, global or local (Luong et al., 2015).

    The score of a query s and a memory entry h is

    - "dot": s . h, which has no weights and wants equal widths;
    - "general": s W . h, the bilinear score;
    - "concat": v . tanh([s; h] W). It is the additive score, W its two matrices on one another.

    Global attention looks at the whole memory. Local attention looks at the entries from p - D to
    p + D around an aligned position p, counted from 0, as far as they exist:

    - monotonic (local-m): p is the position of the query in its own sequence. The softmax runs over
      the window. Past the end of the memory by more than D there is nothing, and the context is 0.
    - predictive (local-p): p = S * sigmoid(v . tanh(s W)), a real number, with weights of its own.
      S is the length of the memory: the number of entries that `mask` allows. The softmax over the
      window is multiplied by exp(-(j - p)^2 / (2 sigma^2)) at position j, sigma = D / 2, through
      which gradients reach the prediction, and not normalised again: a row sums to less than 1.

    Args:
        query_dim: width of a query s.
        key_dim: width of a memory entry h.
        score: "dot", "general" or "concat".
        hidden_dim: width of v in "concat" alone; None means query_dim.
        window: D, entries on either side of p; None means global attention.
        predictive: predict p (local-p), instead of taking the query's own position (local-m); this
            needs a window of 1 or more.

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
        if score == "dot" and query_dim != key_dim:
            wanted = f"query_dim, {query_dim}, for the dot score"
            raise ValueError(f"key_dim: got {key_dim}, wanted {wanted}")
        if score != "concat" and hidden_dim is not None:
            raise ValueError(
                f"hidden_dim: got {hidden_dim}, wanted None for the {score} score"
            )
        if predictive and not window:
            raise ValueError(
                f"window: got {window}, wanted at least 1 for a predicted position"
            )
        hidden_dim = query_dim if hidden_dim is None else hidden_dim
        super().__init__(query_dim, key_dim, hidden_dim)
        self.window = window
        self.weight: nn.Parameter | None = None
        self.vector: nn.Parameter | None = None
        self.place_weight: nn.Parameter | None = None
        self.place_vector: nn.Parameter | None = None
        if score == "general":
            self.weight = draw_weight(query_dim, key_dim)
        elif score == "concat":
            self.weight = draw_weight(query_dim + key_dim, hidden_dim)
            self.vector = draw_weight(hidden_dim)
        if predictive:
            self.place_weight = draw_weight(query_dim, query_dim)
            self.place_vector = draw_weight(query_dim)

    @contract(matching="weight", memory="... k key_dim")
    def project(self, memory: Tensor) -> Tensor:
        """Return what queries are compared with: h for "dot", W h for "general", h W for "concat".

        (b, k, key_dim) -> (b, k, query_dim), or (b, k, hidden_dim) for "concat", where W stands
        for the rows of the matrix that meet h.
        """
        if self.weight is None:
            return memory
        if self.vector is None:
            return memory @ self.weight.mT
        return memory @ self.weight[self.query_dim :]

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Score (b, q, query_dim) queries against projected keys: (b, q, k)."""
        if self.weight is None or self.vector is None:
            return dot_score(query, keys)
        return additive_score(
            query, keys, self.weight[: self.query_dim], None, self.vector
        )

    def aligned_position(
        self, query: Tensor, lengths: Tensor | float
    ) -> Tensor:
        """Predict where in the memory to look: p = S * sigmoid(v . tanh(s W)) (local-p).

        Args:
            query: (b, q, query_dim).
            lengths: lengths S of the memories, broadcast to (b, q).

        Returns:
            (b, q) positions from 0 to S, in at least float32.

        Raises:
            TypeError: the layer does not predict.
        """
        if self.place_weight is None or self.place_vector is None:
            raise TypeError(
                "predictive: got False, wanted a layer that was made with True"
            )
        logit = torch.tanh(query @ self.place_weight) @ self.place_vector
        # bfloat16 cannot tell the positions 256 and 257 apart.
        wide = torch.promote_types(logit.dtype, torch.float32)
        return lengths * torch.sigmoid(logit.to(wide))

    @contract(
        matching="first_weight", query="b q query_dim", keys="b k projected_dim", memory="b k v",
        mask="mask: ~b ~q ~k", offset="integers: ~b",
    )  # fmt: skip
    def forward(
        self,
        query: Tensor,
        keys: Tensor,
        memory: Tensor,
        *,
        mask: Tensor | None = None,
        offset: int | Tensor = 0,
        need_weights: bool = False,
    ) -> Tensor | Attended:
        """Blend the memory, or a window of it, for every query.

        Args:
            query: what is looked for.
            keys: what `project` made of the memory, once a sentence.
            memory: what is blended.
            mask: boolean, True = may attend; or added to the scores.
            offset: position of the first query in its sequence, a number or one a sentence; a
                decoder that goes word by word gives the number of words before. Only local-m reads
                it.
            need_weights: also return the weights.

        Returns:
            (b, q, v) contexts; with `need_weights`, `Attended`: the contexts, and the weights
            (b, q, k).
        """
        scores = self.score(query, keys)
        if self.window is None:
            weights = masked_softmax(scores, mask)
        elif self.place_weight is None:
            (q_len, k_len), w = scores.shape[-2:], self.window
            near = sliding_window_mask(
                q_len, k_len, left=w, right=w, offset=offset, like=scores
            )
            weights = masked_softmax(scores, narrow(mask, near))
        else:
            position = self.aligned_position(query, _lengths(scores, mask))
            places = torch.arange(keys.shape[-2], device=keys.device)
            distance = places - position[..., None]
            near = distance.abs() <= self.window
            weights = masked_softmax(scores, narrow(mask, near))
            sigma = self.window / 2
            bell = torch.exp(-distance.square() / (2 * sigma**2))
            weights = weights * bell.to(weights.dtype)
        context = attend(weights, memory)
        return Attended(context, weights) if need_weights else context


def _lengths(scores: Tensor, mask: Tensor | None) -> Tensor | int:
    """Return how many entries of the memory each query may attend to, broadcast to (b, q)."""
    if mask is None:
        return scores.shape[-1]
    return (mask if mask.dtype == torch.bool else mask > -math.inf).sum(-1)
