"""Latent attention: the keys and values of all heads unfold from one short vector a position."""

from __future__ import annotations

from typing import Any

from companion.arrays import (
    Array,
    ArrayT,
    broadcast_shape,
    cast,
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
    "query": "... h q d", "query_rotary": "... h q r", "latent": "... k c",
    "key_rotary": "... k r", "key_weight": "h c d", "value_weight": "h c v",
    "attn_mask": "mask: ~... ~h ~q k", "offset": "integers: b...",
    "sinks": "h", "d": ">= 1",
}  # fmt: skip


@contract(**_SHAPES)
def latent_attention(
    query: ArrayT,
    query_rotary: ArrayT,
    latent: ArrayT,
    key_rotary: ArrayT,
    key_weight: ArrayT,
    value_weight: ArrayT,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    offset: int | Array = 0,
    sinks: Array | None = None,
) -> ArrayT:
    """Unfold the keys and values of every head from a latent, and attend (DeepSeek-AI, 2024).

    A key has two parts. One unfolds from the latent and knows no position; the other is rotated by
    its position, and all heads share it. Half precision accumulates in float32.

    Args:
        query: what meets the unfolded part of the keys.
        query_rotary: what meets the rotated part, rotated itself; r may be 0.
        latent: what the keys and values of a position unfold from.
        key_rotary: the part that all heads share, rotated by its positions already.
        key_weight: a matrix for each head, which unfolds its keys.
        value_weight: the same for its values.
        attn_mask: boolean, True = may attend, or floating, added to the scores.
        is_causal: allow key j for query i only if j <= i + offset, on top of `attn_mask`.
        scale: factor on the dot products; None means 1 / sqrt(d + r).
        offset: keys before the first query, a number or one a sequence, (b,).
        sinks: logits that join the denominators of their heads.

    Returns:
        (..., h, q, v). A query that may attend to no key gets zeros.

    >>> import numpy as np
    >>> query, rotary = np.zeros((1, 2, 3)), np.ones((2, 1))
    >>> latent, unfold = np.array([[1.0, 2.0], [3.0, 6.0]]), np.ones((1, 2, 3))
    >>> latent_attention(query, rotary[None], latent, rotary, unfold, unfold, is_causal=True)
    array([[[3., 3., 3.],
            [6., 6., 6.]]])
    """
    parts = query, query_rotary, latent, key_rotary, key_weight, value_weight
    output = scaled_dot_product_attention(
        *_unfold(*parts), attn_mask,
        is_causal=is_causal, scale=scale, offset=offset, sinks=sinks,
    )  # fmt: skip
    return cast(output, result_dtype(*parts))


@contract(**_SHAPES)
def latent_attention_with_weights(
    query: ArrayT,
    query_rotary: ArrayT,
    latent: ArrayT,
    key_rotary: ArrayT,
    key_weight: ArrayT,
    value_weight: ArrayT,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    offset: int | Array = 0,
    sinks: Array | None = None,
) -> tuple[ArrayT, ArrayT]:
    """Return the output of `latent_attention`, and the weights that made it.

    The arguments are the same.

    Returns:
        Output (..., h, q, v), and weights (..., h, q, k).

    >>> import numpy as np
    >>> query, rotary = np.zeros((1, 2, 3)), np.ones((2, 1))
    >>> latent, unfold = np.array([[1.0, 2.0], [3.0, 6.0]]), np.ones((1, 2, 3))
    >>> _, weights = latent_attention_with_weights(
    ...     query, rotary[None], latent, rotary, unfold, unfold, is_causal=True
    ... )
    >>> weights
    array([[[1. , 0. ],
            [0.5, 0.5]]])
    """
    parts = query, query_rotary, latent, key_rotary, key_weight, value_weight
    output, weights = attention_with_weights(
        *_unfold(*parts), attn_mask,
        is_causal=is_causal, scale=scale, offset=offset, sinks=sinks,
    )  # fmt: skip
    dtype = result_dtype(*parts)
    return cast(output, dtype), cast(weights, dtype)


def _unfold(*parts: Any) -> tuple[Any, Any, Any]:
    """Return whole queries, and the keys and values of every head, in at least float32."""
    xp = namespace(parts[0])
    query, query_rotary, latent, key_rotary, key_weight, value_weight = widen(
        xp, *parts
    )
    # For all heads.
    latent, key_rotary = (latent[..., None, :, :], key_rotary[..., None, :, :])
    key = _beside(xp, latent @ key_weight, key_rotary)
    return _beside(xp, query, query_rotary), key, latent @ value_weight


@contract(**_SHAPES)
def absorbed_latent_attention(
    query: ArrayT,
    query_rotary: ArrayT,
    latent: ArrayT,
    key_rotary: ArrayT,
    key_weight: ArrayT,
    value_weight: ArrayT,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    offset: int | Array = 0,
    sinks: Array | None = None,
) -> ArrayT:
    """Attend to the latents themselves, which are key and value at once (DeepSeek-AI, 2024).

    The numbers are those of `latent_attention`, from other products. The matrix that unfolds the
    keys folds the queries instead, because q (c W)^T = (q W^T) c^T, and the one that unfolds the
    values comes after the blend. This is attention with a single head of keys, and a cache keeps
    that head alone: c + r numbers a position, the rotary part included.

    Args:
        scale: factor on the dot products; None means 1 / sqrt(d + r), although the folded queries
            have the width c + r. All arguments are those of `latent_attention`.

    Returns:
        What `latent_attention` returns, and its weights are those of
        `latent_attention_with_weights`.

    >>> import numpy as np
    >>> query, rotary = np.zeros((1, 2, 3)), np.ones((2, 1))
    >>> latent, fold = np.array([[1.0, 2.0], [3.0, 6.0]]), np.ones((1, 2, 3))
    >>> absorbed_latent_attention(query, rotary[None], latent, rotary, fold, fold, is_causal=True)
    array([[[3., 3., 3.],
            [6., 6., 6.]]])
    """
    xp = namespace(query)
    parts = query, query_rotary, latent, key_rotary, key_weight, value_weight
    dtype = result_dtype(*parts)
    width = query.shape[-1] + query_rotary.shape[-1]
    scale = width**-0.5 if scale is None else scale
    query, query_rotary, latent, key_rotary, key_weight, value_weight = widen(
        xp, *parts
    )
    folded = _beside(xp, query @ key_weight.mT, query_rotary)
    # The one head, for all queries.
    cached = _beside(xp, latent, key_rotary)[..., None, :, :]
    value = cached[..., : latent.shape[-1]]
    blend = scaled_dot_product_attention(
        folded, cached, value, attn_mask,
        is_causal=is_causal, scale=scale, offset=offset, sinks=sinks,
    )  # fmt: skip
    return cast(blend @ value_weight, dtype)


def _beside(xp: Any, first: Any, second: Any) -> Any:
    """Concatenate the features of two parts, whose leading axes broadcast."""
    lead: Any = broadcast_shape(first.shape[:-1], second.shape[:-1])
    parts = [xp.broadcast_to(x, (*lead, x.shape[-1])) for x in (first, second)]
    return xp.concat(parts, axis=-1)
