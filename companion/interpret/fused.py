"""Weights of a fused kernel: it keeps none, but gives the log-sum-exp of every row."""

from __future__ import annotations

from companion.arrays import Array, ArrayT, cast, finite, namespace, widen
from companion.contracts import contract
from companion.heads import repeat_kv
from companion.masks import masked
from companion.scores import scaled_dot_score


@contract(
    query="...h q d",
    key="...g k d",
    lse="... q",
    mask="mask: ~... ~q k",
    softcap="> 0",
    enable_gqa="g divides h",
)
def weights_of_rows(
    query: ArrayT,
    key: ArrayT,
    lse: Array,
    mask: Array | None = None,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
    softcap: float | None = None,
) -> ArrayT:
    """Compute the weights of some queries from the log-sum-exp that a fused kernel gave for them.

    A weight is exp(score - lse): the maximum and the sum of the row are both in its lse (Dao et
    al., 2022). So one row costs as much as its own products, and no (q, k) matrix is made for the
    others. Half precision is widened to float32 inside.

    Args:
        query: the queries whose weights are wanted, perhaps one; and all keys.
        lse: natural log-sum-exp of their rows, as `tiled_attention_with_lse` or a kernel
            of another library gives it, its sinks included.
        mask: what these queries may attend to, causality included: boolean, True = may attend, or
            floating, added to the scores. None allows every key.
        scale: factor on the dot products; None means 1 / sqrt(d).
        enable_gqa: let h / g consecutive query heads share a key head.
        softcap: bound on the scores, before the mask.

    Returns:
        Weights (..., h, q, k). A row sums to 1 less its sink's share, or to 0 if its lse is -inf.

    >>> import numpy as np
    >>> from companion.tiled import tiled_attention_with_lse
    >>> x = np.eye(3)
    >>> _, lse = tiled_attention_with_lse(x, x, x)
    >>> weights_of_rows(x[1:2], x, lse[1:2]).round(2)
    array([[0.26, 0.47, 0.26]])
    """
    xp, dtype = namespace(query), query.dtype
    query, key = widen(xp, query, key)
    if enable_gqa:
        key = repeat_kv(key, query)
    scores = scaled_dot_score(query, key, scale=scale)
    if softcap is not None:
        scores = softcap * xp.tanh(scores / softcap)
    scores = masked(xp, scores, mask)
    lse = finite(xp, cast(lse, scores.dtype)[..., None])
    weights: ArrayT = cast(xp.exp(scores - lse), dtype)
    return weights
