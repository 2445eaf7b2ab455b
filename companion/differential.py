"""Differential attention: what a second softmax finds, too, is taken away from the first."""

from __future__ import annotations

import math
from typing import Any, Literal, TypedDict, Unpack, overload

from companion.arrays import Array, ArrayT, cast, is_number, namespace, result_dtype, widen
from companion.attention import scaled_dot_product_attention
from companion.contracts import contract


class _Options(TypedDict, total=False):
    scale: float | None
    enable_gqa: bool
    offset: int | Array


# fmt: off
@overload
def differential_attention(
    query: ArrayT, key: ArrayT, other_query: ArrayT, other_key: ArrayT, value: ArrayT,
    factor: float | Array, attn_mask: Array | None = None, is_causal: bool = False, *,
    need_weights: Literal[False] = False, **options: Unpack[_Options],
) -> ArrayT: ...
@overload
def differential_attention(
    query: ArrayT, key: ArrayT, other_query: ArrayT, other_key: ArrayT, value: ArrayT,
    factor: float | Array, attn_mask: Array | None = None, is_causal: bool = False, *,
    need_weights: Literal[True], **options: Unpack[_Options],
) -> tuple[ArrayT, ArrayT]: ...
@overload
def differential_attention(
    query: ArrayT, key: ArrayT, other_query: ArrayT, other_key: ArrayT, value: ArrayT,
    factor: float | Array, attn_mask: Array | None = None, is_causal: bool = False, *,
    need_weights: bool = False, **options: Unpack[_Options],
) -> ArrayT | tuple[ArrayT, ...]: ...
@contract(
    query="...h q d", key="...g k d", other_query="...h q d", other_key="...g k d",
    value="...g k v", factor="~...", attn_mask="mask: ~... ~q k", offset="integers: b...",
    d=">= 1", enable_gqa="g divides h",
)
def differential_attention(
    query: ArrayT, key: ArrayT, other_query: ArrayT, other_key: ArrayT, value: ArrayT,
    factor: float | Array, attn_mask: Array | None = None, is_causal: bool = False, *,
    scale: float | None = None, enable_gqa: bool = False, offset: int | Array = 0,
    need_weights: bool = False,
) -> ArrayT | tuple[ArrayT, ...]:
    """Subtract one softmax from another, and blend the values by the difference (Ye et al., 2024).

    (softmax(Q1 K1^T) - factor softmax(Q2 K2^T)) V, each scaled. Half precision accumulates in
    float32.

    Args:
        query: Q1.
        key: K1.
        other_query: Q2.
        other_key: K2.
        value: V, which both softmaxes blend; the paper's has v = 2 d.
        factor: the paper's lambda, one number or one a head, (h,); `differential_factor` learns it.
        attn_mask: boolean, True = may attend, or floating, added to the scores of both.
        is_causal: allow key j for query i only if j <= i + offset, on top of `attn_mask`.
        scale: factor on the dot products; None means 1 / sqrt(d).
        enable_gqa: let h / g consecutive query heads share a key head.
        offset: keys before the first query, a number or one a sequence, (b,).
        need_weights: also return the weights (..., h, q, k), some of which are negative.

    Returns:
        (..., h, q, v), then the weights, if asked for; a row of them sums to 1 - factor. A query
        that may attend to no key gets zeros.

    >>> import numpy as np
    >>> even, key, value = np.zeros((1, 2)), np.array([[9.0, 0.0], [0.0, 0.0]]), np.eye(2)
    >>> differential_attention(np.array([[9.0, 0.0]]), key, even, key, value, 0.5).round(2)
    array([[ 0.75, -0.25]])
    """
    dtype = result_dtype(query, key, other_query, other_key, value)
    query, key, other_query, other_key, value = widen(query, key, other_query, other_key, value)
    options: Any = {
        "is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa, "offset": offset,
        "need_weights": need_weights,
    }
    first: Any = scaled_dot_product_attention(query, key, value, attn_mask, **options)
    other: Any = scaled_dot_product_attention(other_query, other_key, value, attn_mask, **options)

    if not is_number(factor):
        factor = cast(factor, value.dtype)[..., None, None]
    if not need_weights:
        return cast(first - factor * other, dtype)
    return tuple(cast(x - factor * y, dtype) for x, y in zip(first, other, strict=True))
# fmt: on


@contract(query="... d", key="... d", other_query="... d", other_key="... d")
def differential_factor(
    query: ArrayT, key: ArrayT, other_query: ArrayT, other_key: ArrayT, initial: float
) -> ArrayT:
    """Return exp(query . key) - exp(other_query . other_key) + initial (Ye et al., 2024).

    It is the factor of `differential_attention`, learned through four vectors.

    Args:
        initial: what it is where all vectors are zero; see `initial_factor`.

    Returns:
        (...), one number for vectors without leading axes, in at least float32.

    >>> import numpy as np
    >>> one, none = np.array([1.0, 0.0]), np.zeros(2)
    >>> differential_factor(one, one, none, one, 0.2).round(3)
    np.float64(1.918)
    """
    xp = namespace(query)
    query, key, other_query, other_key = widen(query, key, other_query, other_key)
    first, other = xp.sum(query * key, axis=-1), xp.sum(other_query * other_key, axis=-1)
    return xp.exp(first) - xp.exp(other) + initial


@contract(layer=">= 0")
def initial_factor(layer: int) -> float:
    """Return what a layer's factor begins with: 0.8 - 0.6 exp(-0.3 layer) (Ye et al., 2024).

    Args:
        layer: number of the layer, from 0. The paper counts from 1.

    >>> initial_factor(0), round(initial_factor(9), 3)
    (0.20000000000000007, 0.76)
    """
    return 0.8 - 0.6 * math.exp(-0.3 * layer)


@contract(x="... v", initial=">= 0 and <= 1", eps=">= 0", v=">= 1")
def headwise_norm(x: ArrayT, initial: float, *, eps: float = 1e-5) -> ArrayT:
    """Bring every head's output to the root mean square 1 - initial (Ye et al., 2024).

    Args:
        x: outputs of the heads, each normalised on its own.
        initial: what the layer's factor begins with.
        eps: added to the mean square.

    Returns:
        (..., v) in the dtype of x. Half precision is widened to float32 inside.

    >>> import numpy as np
    >>> headwise_norm(np.array([[3.0, -3.0], [0.1, 0.1]]), 0.2, eps=0.0)
    array([[ 0.8, -0.8],
           [ 0.8,  0.8]])
    """
    xp = namespace(x)
    (wide,) = widen(x)
    mean_square = xp.mean(wide * wide, axis=-1, keepdims=True)
    return cast((1 - initial) * wide / xp.sqrt(mean_square + eps), x.dtype)
