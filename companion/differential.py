"""Differential attention: what a second softmax finds, too, is taken away from the first."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from companion.arrays import (
    Array,
    ArrayT,
    cast,
    is_number,
    namespace,
    result_dtype,
    widen,
)
from companion.attention import (
    attention_with_weights,
    scaled_dot_product_attention,
)
from companion.contracts import contract

_SHAPES: dict[str, Any] = {
    "query": "...h q d", "key": "...g k d", "other_query": "...h q d",
    "other_key": "...g k d", "value": "...g k v", "factor": "~...",
    "attn_mask": "mask: ~... ~q k", "offset": "integers: b...", "d": ">= 1",
    "enable_gqa": "g divides h",
}  # fmt: skip


@contract(**_SHAPES)
def differential_attention(
    query: ArrayT,
    key: ArrayT,
    other_query: ArrayT,
    other_key: ArrayT,
    value: ArrayT,
    factor: float | Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
    offset: int | Array = 0,
) -> ArrayT:
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

    Returns:
        (..., h, q, v). A query that may attend to no key gets zeros.

    >>> import numpy as np
    >>> even, key, value = np.zeros((1, 2)), np.array([[9.0, 0.0], [0.0, 0.0]]), np.eye(2)
    >>> differential_attention(np.array([[9.0, 0.0]]), key, even, key, value, 0.5).round(2)
    array([[ 0.75, -0.25]])
    """
    attend = partial(
        scaled_dot_product_attention, attn_mask=attn_mask,
        is_causal=is_causal, scale=scale, enable_gqa=enable_gqa, offset=offset,
    )  # fmt: skip
    arrays = query, key, other_query, other_key, value
    first, other, inside = _both(attend, *arrays)
    blend = first - _for_heads(factor, inside) * other
    return cast(blend, result_dtype(*arrays))


@contract(**_SHAPES)
def differential_attention_with_weights(
    query: ArrayT,
    key: ArrayT,
    other_query: ArrayT,
    other_key: ArrayT,
    value: ArrayT,
    factor: float | Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
    offset: int | Array = 0,
) -> tuple[ArrayT, ArrayT]:
    """Return the output of `differential_attention`, and the weights that made it.

    The arguments are the same.

    Returns:
        Output (..., h, q, v), and weights (..., h, q, k), some of which are negative; a row of
        them sums to 1 - factor.

    >>> import numpy as np
    >>> even, key, value = np.zeros((1, 2)), np.array([[9.0, 0.0], [0.0, 0.0]]), np.eye(2)
    >>> sharp = np.array([[9.0, 0.0]])
    >>> _, weights = differential_attention_with_weights(sharp, key, even, key, value, 0.5)
    >>> weights.round(2)
    array([[ 0.75, -0.25]])
    """
    attend = partial(
        attention_with_weights, attn_mask=attn_mask,
        is_causal=is_causal, scale=scale, enable_gqa=enable_gqa, offset=offset,
    )  # fmt: skip
    arrays = query, key, other_query, other_key, value
    first, other, inside = _both(attend, *arrays)
    dtype, factor = result_dtype(*arrays), _for_heads(factor, inside)
    output, weights = (
        x - factor * y for x, y in zip(first, other, strict=True)
    )
    return cast(output, dtype), cast(weights, dtype)


def _both(attend: Any, *arrays: Any) -> tuple[Any, Any, Any]:
    """Return what the two softmaxes give, in at least float32, and the dtype that this is."""
    wide = widen(namespace(arrays[0]), *arrays)
    query, key, other_query, other_key, value = wide
    first = attend(query, key, value)
    return first, attend(other_query, other_key, value), value.dtype


def _for_heads(factor: Any, dtype: Any) -> Any:
    """Give a factor for each head, (h,), the axes that follow in (b, h, q, d)."""
    return (
        factor if is_number(factor) else cast(factor, dtype)[..., None, None]
    )


@contract(query="... d", key="... d", other_query="... d", other_key="... d")
def differential_factor(
    query: ArrayT,
    key: ArrayT,
    other_query: ArrayT,
    other_key: ArrayT,
    initial: float,
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
    query, key, other_query, other_key = widen(
        xp, query, key, other_query, other_key
    )
    first = xp.sum(query * key, axis=-1)
    other = xp.sum(other_query * other_key, axis=-1)
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
    (wide,) = widen(xp, x)
    mean_square = xp.mean(wide * wide, axis=-1, keepdims=True)
    return cast((1 - initial) * wide / xp.sqrt(mean_square + eps), x.dtype)
