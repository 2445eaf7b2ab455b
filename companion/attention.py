"""Attention: scores to weights to a blend of values, for the arrays of any library."""

from __future__ import annotations

import math
from typing import Any

from companion.arrays import (
    Array,
    ArrayT,
    cast,
    finite,
    is_torch,
    namespace,
    result_dtype,
    row_maximum,
    widen,
)
from companion.contracts import contract
from companion.dispatch import accelerated
from companion.heads import offset_beside_heads, repeat_kv
from companion.masks import causal_mask, masked
from companion.scores import scaled_dot_score


@contract(scores="... q k", mask="mask: ~... ~q k", sinks="~...")
def masked_softmax(
    scores: ArrayT, mask: Array | None = None, *, sinks: Array | None = None
) -> ArrayT:
    """Turn scores into weights over the allowed keys; a row without one is all zeros.

    Half precision is widened to float32 inside.

    Args:
        mask: boolean, True = may attend, or floating, added to the scores. None allows every key.
        sinks: logit of each head's sink (Xiao et al., 2024), which joins the denominator and
            nothing else: (h,) for (b, h, q, k).

    Returns:
        Weights (..., q, k). A row sums to 1 less its sink's share.

    >>> import numpy as np
    >>> masked_softmax(np.zeros((2, 2)), np.array([[True, False], [False, False]]))
    array([[1., 0.],
           [0., 0.]])
    """
    xp = namespace(scores)
    (wide,) = widen(xp, scores)
    return cast(softmax(xp, masked(xp, wide, mask), sinks), scores.dtype)


def softmax(xp: Any, scores: Any, sinks: Any = None) -> Any:
    """Return the weights of scores in which masked keys have -inf: zeros in a row without a key.

    >>> import numpy as np
    >>> softmax(np, np.log([[1.0, 3.0]]))
    array([[0.25, 0.75]])
    """
    logits = with_sinks(xp, scores, sinks)
    # At most 1: nothing overflows.
    powers = xp.exp(logits - finite(xp, row_maximum(xp, logits)))
    total = xp.sum(powers, axis=-1, keepdims=True)
    weights = powers / xp.where(total > 0, total, 1.0)  # no key allowed: 0 / 1
    return weights[..., : scores.shape[-1]]


@contract(weights="... q k", value="... k v")
def attend(weights: ArrayT, value: ArrayT) -> ArrayT:
    """Blend values by weights.

    Returns:
        (..., q, v); leading axes broadcast.

    >>> import numpy as np
    >>> attend(np.array([[0.25, 0.75]]), np.array([[0.0], [4.0]]))
    array([[3.]])
    """
    return weights @ value


@contract(
    x="... n e", query_weight="e d", key_weight="e d", value_weight="e v", d=">= 1",
    mask="mask: ~... ~n ~n",
)  # fmt: skip
def self_attention(
    x: ArrayT,
    query_weight: ArrayT,
    key_weight: ArrayT,
    value_weight: ArrayT,
    mask: Array | None = None,
) -> tuple[ArrayT, ArrayT]:
    """Let every word of a sentence look at all its words, in one head (Vaswani et al., 2017).

    Queries, keys and values are made from the same words, by three matrices.

    Args:
        x: the words, one vector each.
        mask: boolean, True = may attend, or floating, added to the scores. None allows every word.

    Returns:
        Outputs (..., n, v), and the weights (..., n, n): a row for the word that looks, a column
        for the word that it looks at.

    >>> import numpy as np
    >>> same, words = np.eye(2), np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> output, weights = self_attention(words, same, same, same)
    >>> weights.round(2)
    array([[0.67, 0.33],
           [0.33, 0.67]])
    """
    query = x @ query_weight  # what each word looks for
    key = x @ key_weight  # what it can be found by
    value = x @ value_weight  # what it hands over
    weights = masked_softmax(scaled_dot_score(query, key), mask)
    return attend(weights, value), weights


_SHAPES: dict[str, Any] = {
    "query": "...h q d", "key": "...g k d", "value": "...g k v",
    "attn_mask": "mask: ~... ~q k", "offset": "integers: b...", "sinks": "~...",
    "d": ">= 1", "dropout_p": ">= 0 and <= 1", "softcap": "> 0",
    "enable_gqa": "g divides h",
}  # fmt: skip


@contract(**_SHAPES)
@accelerated
def scaled_dot_product_attention(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
    offset: int | Array = 0,
    softcap: float | None = None,
    sinks: Array | None = None,
) -> ArrayT:
    """Blend the values by how well their keys answer the queries (Vaswani et al., 2017).

    Half precision accumulates in float32. Where a kernel for torch takes the call, it computes the
    same faster; what is computed is defined here.

    Args:
        attn_mask: boolean, True = may attend, or floating, added to the scores.
        dropout_p: probability of dropping a weight; torch only.
        is_causal: allow key j for query i only if j <= i + offset, on top of `attn_mask`.
        scale: factor on the dot products; None means 1 / sqrt(d).
        enable_gqa: let h / g consecutive query heads share a key head (Ainslie et al., 2023).
        offset: keys before the first query, a number or one a sequence, (b,).
        softcap: bound on the scores, softcap * tanh(scores / softcap), before the mask.
        sinks: logits that join the denominators of their heads, (h,).

    Returns:
        (..., h, q, v). A query that may attend to no key gets zeros.

    >>> import numpy as np
    >>> value = np.array([[1.0], [2.0], [6.0]])
    >>> scaled_dot_product_attention(np.zeros((3, 4)), np.ones((3, 4)), value, is_causal=True)
    array([[1. ],
           [1.5],
           [3. ]])
    """
    xp, dtype = namespace(query), result_dtype(query, key, value)
    query, key, value = widen(xp, query, key, value)
    if enable_gqa:
        key, value = repeat_kv(key, query), repeat_kv(value, query)
    scores = masked_scores(
        xp, query, key, attn_mask, is_causal, scale, offset, softcap
    )
    weights = softmax(xp, scores, sinks)
    return cast(dropout(weights, dropout_p) @ value, dtype)


def masked_scores(
    xp: Any,
    query: Any,
    key: Any,
    attn_mask: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
    offset: Any = 0,
    softcap: float | None = None,
) -> Any:
    """Return what the softmax of attention gets, (..., h, q, k): -inf where a key is forbidden.

    >>> import numpy as np
    >>> masked_scores(np, np.ones((2, 4)), np.ones((2, 4)), is_causal=True)
    array([[  2., -inf],
           [  2.,   2.]])
    """
    scores = scaled_dot_score(query, key, scale=scale)
    if softcap is not None:
        scores = softcap * xp.tanh(scores / softcap)
    scores = masked(xp, scores, attn_mask)
    if is_causal:
        offset = offset_beside_heads(offset, query, key)
        causal = causal_mask(*scores.shape[-2:], offset=offset, like=query)
        scores = masked(xp, scores, causal)
    return scores


@contract(**_SHAPES)
def attention_with_weights(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
    offset: int | Array = 0,
    softcap: float | None = None,
    sinks: Array | None = None,
) -> tuple[ArrayT, ArrayT]:
    """Return the output of `scaled_dot_product_attention`, and the weights that made it.

    The arguments are the same.

    Returns:
        Output (..., h, q, v), and weights (..., h, q, k), from before the dropout. A query that
        may attend to no key gets zeros.

    >>> import numpy as np
    >>> x = np.eye(2)
    >>> output, weights = attention_with_weights(x, x, x, is_causal=True)
    >>> weights.round(2)
    array([[1.  , 0.  ],
           [0.33, 0.67]])
    """
    xp, dtype = namespace(query), result_dtype(query, key, value)
    query, key, value = widen(xp, query, key, value)
    if enable_gqa:
        key, value = repeat_kv(key, query), repeat_kv(value, query)
    scores = masked_scores(
        xp, query, key, attn_mask, is_causal, scale, offset, softcap
    )
    weights = softmax(xp, scores, sinks)
    output = dropout(weights, dropout_p) @ value
    return cast(output, dtype), cast(weights, dtype)


@contract(**_SHAPES)
def attention_with_lse(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
    offset: int | Array = 0,
    softcap: float | None = None,
    sinks: Array | None = None,
) -> tuple[ArrayT, ArrayT]:
    """Return the output of `scaled_dot_product_attention`, and the log-sum-exp of its scores.

    The arguments are the same. With it the attention to two halves of the keys can be merged, and
    a row of weights can be had afterwards.

    Returns:
        Output (..., h, q, v), and log(sum(exp(scores))) of every row (..., h, q), natural, with
        the sinks, in at least float32; -inf where there is nothing to sum.

    >>> import numpy as np
    >>> _, lse = attention_with_lse(np.zeros((1, 4)), np.ones((3, 4)), np.ones((3, 1)))
    >>> np.exp(lse).round(3)
    array([3.])
    """
    xp, dtype = namespace(query), result_dtype(query, key, value)
    query, key, value = widen(xp, query, key, value)
    if enable_gqa:
        key, value = repeat_kv(key, query), repeat_kv(value, query)
    scores = masked_scores(
        xp, query, key, attn_mask, is_causal, scale, offset, softcap
    )
    output = dropout(softmax(xp, scores, sinks), dropout_p) @ value
    return cast(output, dtype), log_sum_exp(xp, scores, sinks)


def with_sinks(xp: Any, scores: Any, sinks: Any) -> Any:
    """Append the logit of each head's sink to its rows: one more key, whose value nobody blends.

    >>> import numpy as np
    >>> with_sinks(np, np.zeros((1, 2, 3)), np.array([5.0]))[0, 0]
    array([0., 0., 0., 5.])
    """
    if sinks is None:
        return scores
    column = cast(sinks, scores.dtype)[..., None, None]
    return xp.concat(
        [scores, xp.broadcast_to(column, (*scores.shape[:-1], 1))], axis=-1
    )


def log_sum_exp(xp: Any, scores: Any, sinks: Any = None) -> Any:
    """Return log(sum(exp(scores))) of every row, (..., q); -inf where there is nothing to sum.

    >>> import numpy as np
    >>> log_sum_exp(np, np.log([[1.0, 2.0], [3.0, 5.0]])).round(3)
    array([1.099, 2.079])
    """
    (wide,) = widen(xp, scores)
    logits = with_sinks(xp, wide, sinks)
    highest = finite(xp, row_maximum(xp, logits))
    total = xp.sum(xp.exp(logits - highest), axis=-1, keepdims=True)
    logarithm = highest + xp.log(xp.where(total > 0, total, 1.0))
    return xp.where(total > 0, logarithm, -math.inf)[..., 0]


def dropout(weights: Any, probability: float) -> Any:
    """Drop weights with some probability, and scale up the others to make up for them.

    >>> import numpy as np
    >>> dropout(np.ones(2), 0.0)
    array([1., 1.])
    """
    if probability == 0:
        return weights
    if not is_torch(weights):
        raise ValueError(
            f"dropout_p: got {probability}, wanted 0.0 without torch"
        )
    import torch.nn.functional as F

    return F.dropout(weights, probability)
