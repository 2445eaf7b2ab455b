"""Attention: scores to weights to a blend of values, for the arrays of any library."""

from __future__ import annotations

import math
from typing import Any, Literal, TypedDict, Unpack, overload

from companion.arrays import (
    Array,
    ArrayT,
    cast,
    finite,
    is_number,
    is_torch,
    namespace,
    result_dtype,
    row_maximum,
    widen,
)
from companion.contracts import contract
from companion.dispatch import accelerated
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
    (wide,) = widen(scores)
    logits = with_sinks(masked(wide, mask), sinks)
    powers = xp.exp(logits - finite(row_maximum(logits)))  # at most 1: nothing overflows
    total = xp.sum(powers, axis=-1, keepdims=True)
    weights = powers / xp.where(total > 0, total, 1.0)  # no key allowed: 0 / 1
    return cast(weights[..., : scores.shape[-1]], scores.dtype)


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
    x: ArrayT, query_weight: ArrayT, key_weight: ArrayT, value_weight: ArrayT,
    mask: Array | None = None,
) -> tuple[ArrayT, ArrayT]:  # fmt: skip
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


class _Options(TypedDict, total=False):
    scale: float | None
    enable_gqa: bool
    offset: int | Array
    softcap: float | None
    sinks: Array | None


# fmt: off
@overload
def scaled_dot_product_attention(
    query: ArrayT, key: ArrayT, value: ArrayT, attn_mask: Array | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, *, need_weights: Literal[False] = False,
    need_lse: Literal[False] = False, **options: Unpack[_Options],
) -> ArrayT: ...
@overload
def scaled_dot_product_attention(
    query: ArrayT, key: ArrayT, value: ArrayT, attn_mask: Array | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, *, need_weights: Literal[True],
    need_lse: Literal[False] = False, **options: Unpack[_Options],
) -> tuple[ArrayT, ArrayT]: ...
@overload
def scaled_dot_product_attention(
    query: ArrayT, key: ArrayT, value: ArrayT, attn_mask: Array | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, *, need_weights: Literal[False] = False,
    need_lse: Literal[True], **options: Unpack[_Options],
) -> tuple[ArrayT, ArrayT]: ...
@overload
def scaled_dot_product_attention(
    query: ArrayT, key: ArrayT, value: ArrayT, attn_mask: Array | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, *, need_weights: Literal[True],
    need_lse: Literal[True], **options: Unpack[_Options],
) -> tuple[ArrayT, ArrayT, ArrayT]: ...
@overload
def scaled_dot_product_attention(
    query: ArrayT, key: ArrayT, value: ArrayT, attn_mask: Array | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, *, need_weights: bool = False,
    need_lse: bool = False, **options: Unpack[_Options],
) -> ArrayT | tuple[ArrayT, ...]: ...
@contract(
    query="...h q d", key="...g k d", value="...g k v", attn_mask="mask: ~... ~q k",
    offset="integers: b...", sinks="~...", d=">= 1", dropout_p=">= 0 and <= 1", softcap="> 0",
    enable_gqa="g divides h",
)
@accelerated
def scaled_dot_product_attention(
    query: ArrayT, key: ArrayT, value: ArrayT, attn_mask: Array | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, *, scale: float | None = None,
    enable_gqa: bool = False, offset: int | Array = 0, softcap: float | None = None,
    sinks: Array | None = None, need_weights: bool = False, need_lse: bool = False,
) -> ArrayT | tuple[ArrayT, ...]:
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
        need_weights: also return the weights (..., h, q, k), before dropout.
        need_lse: also return the log-sum-exp of the rows (..., h, q), natural and with the sinks,
            in at least float32; -inf where there is nothing to sum.

    Returns:
        (..., h, q, v), then the weights, then the log-sum-exp, if asked for. A query that may
        attend to no key gets zeros.

    >>> import numpy as np
    >>> value = np.array([[1.0], [2.0], [6.0]])
    >>> scaled_dot_product_attention(np.zeros((3, 4)), np.ones((3, 4)), value, is_causal=True)
    array([[1. ],
           [1.5],
           [3. ]])
    """
    xp, dtype = namespace(query), result_dtype(query, key, value)
    query, key, value = widen(query, key, value)
    if enable_gqa:
        key, value = share_heads(key, query), share_heads(value, query)

    scores = scaled_dot_score(query, key, scale=scale)
    if softcap is not None:
        scores = softcap * xp.tanh(scores / softcap)
    scores = masked(scores, attn_mask)
    if is_causal:
        offset = beside_heads(offset, query, key)
        scores = masked(scores, causal_mask(*scores.shape[-2:], offset=offset, like=query))
    weights = masked_softmax(scores, sinks=sinks)
    output = attend(dropout(weights, dropout_p), value)

    results = [cast(output, dtype)]
    results += [cast(weights, dtype)] if need_weights else []
    results += [log_sum_exp(scores, sinks)] if need_lse else []
    return tuple(results) if len(results) > 1 else results[0]
# fmt: on


def with_sinks(scores: Any, sinks: Any) -> Any:
    """Append the logit of each head's sink to its rows: one more key, whose value nobody blends.

    >>> import numpy as np
    >>> with_sinks(np.zeros((1, 2, 3)), np.array([5.0]))[0, 0]
    array([0., 0., 0., 5.])
    """
    if sinks is None:
        return scores
    xp = namespace(scores)
    column = cast(sinks, scores.dtype)[..., None, None]
    return xp.concat([scores, xp.broadcast_to(column, (*scores.shape[:-1], 1))], axis=-1)


def log_sum_exp(scores: Any, sinks: Any = None) -> Any:
    """Return log(sum(exp(scores))) of every row, (..., q); -inf where there is nothing to sum.

    >>> import numpy as np
    >>> log_sum_exp(np.log([[1.0, 2.0], [3.0, 5.0]])).round(3)
    array([1.099, 2.079])
    """
    xp = namespace(scores)
    (wide,) = widen(scores)
    logits = with_sinks(wide, sinks)
    highest = finite(row_maximum(logits))
    total = xp.sum(xp.exp(logits - highest), axis=-1, keepdims=True)
    logarithm = highest + xp.log(xp.where(total > 0, total, 1.0))
    return xp.where(total > 0, logarithm, -math.inf)[..., 0]


def share_heads(memory: Any, query: Any) -> Any:
    """Repeat every key head for its consecutive query heads: [g0, g0, g1, g1].

    >>> import numpy as np
    >>> share_heads(np.array([[[1.0]], [[2.0]]]), np.zeros((4, 1, 1)))[:, 0, 0]
    array([1., 1., 2., 2.])
    """
    return namespace(memory).repeat(memory, query.shape[-3] // memory.shape[-3], axis=-3)


def beside_heads(offset: Any, *arrays: Any) -> Any:
    """Give offsets (b,) the axes that follow in (b, h, q, d), so that b meets b.

    >>> import numpy as np
    >>> beside_heads(np.array([3, 5]), np.ones((2, 6, 7, 4))).shape
    (2, 1)
    """
    if is_number(offset):
        return offset
    missing = max(array.ndim for array in arrays) - 2 - offset.ndim
    return namespace(offset).reshape(offset, (*offset.shape, *(1,) * missing))


def dropout(weights: Any, probability: float) -> Any:
    """Drop weights with some probability, and scale up the others to make up for them.

    >>> import numpy as np
    >>> dropout(np.ones(2), 0.0)
    array([1., 1.])
    """
    if probability == 0:
        return weights
    if not is_torch(weights):
        raise ValueError(f"dropout_p: got {probability}, wanted 0.0 without torch")
    import torch.nn.functional as F

    return F.dropout(weights, probability)
