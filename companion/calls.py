# mypy: disable-error-code="no-any-return"
# (array namespaces are untyped: whatever they return is Any)
"""What a call of attention may look like: one set of checks for every implementation."""

from __future__ import annotations

import math
from typing import Any

from companion.arrays import (
    Array,
    Shape,
    accumulation_dtype,
    broadcast_shape,
    broadcasts_to,
    check_floating,
    check_mask,
    check_number,
    check_rank,
    check_size,
    check_whole,
    is_number,
    namespace,
)


def check_call(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None,
    *,
    scale: float | None,
    enable_gqa: bool,
    offset: Any,
    softcap: float | None,
    sinks: Array | None,
) -> Any:
    """Refuse a wrong call of attention, and return the namespace of a right one.

    Raises:
        TypeError: not floating arrays of one library, or a mask that is neither kind.
        ValueError: shapes that do not fit, or numbers out of range.

    >>> import numpy as np
    >>> nothing = dict(scale=None, enable_gqa=False, offset=0, softcap=None, sinks=None)
    >>> check_call(np.ones((5, 3)), np.ones((7, 4)), np.ones((7, 4)), None, **nothing)
    Traceback (most recent call last):
    ValueError: key: got 4 on axis -1 of shape (7, 4), wanted 3, the width of query
    """
    xp = namespace(query=query, key=key, value=value, attn_mask=attn_mask, sinks=sinks)
    check_floating(xp, query=query, key=key, value=value, sinks=sinks)
    scores_shape = _scores_shape(query, key, value, enable_gqa)
    if query.shape[-1] == 0:
        raise ValueError(f"query: got width 0 in shape {tuple(query.shape)}, wanted at least 1")
    check_mask(xp, scores_shape, attn_mask=attn_mask)
    check_sinks(sinks, scores_shape[:-2])
    check_number(scale=scale, softcap=softcap)
    if offset is None or is_number(offset):
        check_whole(offset=offset)
    if softcap is not None and not softcap > 0:
        raise ValueError(f"softcap: got {softcap}, wanted a number above 0, or None")
    return xp


def check_sinks(sinks: Array | None, lead: Shape) -> None:
    """Refuse sinks that do not fit the axes before (q, k); None passes.

    Raises:
        ValueError: a shape that does not broadcast to theirs.

    >>> import numpy as np
    >>> check_sinks(np.ones(3), (2, 5))
    Traceback (most recent call last):
    ValueError: sinks: got shape (3,), wanted one that broadcasts to (2, 5), the axes before (q, k)
    """
    if sinks is not None and not broadcasts_to(sinks.shape, lead):
        raise ValueError(
            f"sinks: got shape {tuple(sinks.shape)}, wanted one that broadcasts to {lead}, "
            f"the axes before (q, k)"
        )


def aligned(offset: Any, query: Array) -> Any:
    """Give offsets (b,) the axes that follow in query's (b, h, q, d), so that b meets b.

    Raises:
        ValueError: a shape that does not fit the first axes of query.

    >>> import numpy as np
    >>> aligned(np.array([3, 5]), np.ones((2, 6, 7, 4))).shape
    (2, 1)
    """
    if is_number(offset):
        return offset
    xp, lead = namespace(query=query, offset=offset), query.shape[:-2]
    shape = tuple(offset.shape) + (1,) * (len(lead) - offset.ndim)
    if not broadcasts_to(shape, lead):
        raise ValueError(
            f"offset: got shape {tuple(offset.shape)}, wanted one that fits "
            f"the first axes of query, {lead}"
        )
    return xp.reshape(offset, shape)


def widen(xp: Any, *arrays: Array) -> Any:
    """Return the arrays in the dtype in which to add their products, at least float32.

    >>> import numpy as np
    >>> [array.dtype.name for array in widen(np, np.ones(2, np.float16))]
    ['float32']
    """
    dtype = accumulation_dtype(xp, *arrays)
    return tuple(xp.astype(array, dtype, copy=False) for array in arrays)


def masked(xp: Any, scores: Any, mask: Array | None) -> Any:
    """Put -inf where a boolean mask says False, or add a floating one; None allows all.

    >>> import numpy as np
    >>> masked(np, np.ones(2), np.array([True, False]))
    array([  1., -inf])
    """
    if mask is None:
        return scores
    if xp.isdtype(mask.dtype, "bool"):
        return xp.where(mask, scores, -math.inf)
    return scores + xp.astype(mask, scores.dtype, copy=False)


def _scores_shape(query: Array, key: Array, value: Array, enable_gqa: bool) -> Shape:
    """Return (..., h, q, k), or refuse shapes that do not fit together."""
    rank = 3 if enable_gqa else 2
    check_rank(rank, "(..., h, q, d)", query=query)
    check_rank(rank, "(..., g, k, d)", key=key)
    check_rank(rank, "(..., g, k, v)", value=value)
    check_size(query.shape[-1], "the width of query", -1, key=key)
    check_size(key.shape[-2], "the keys of key", -2, value=value)
    if enable_gqa:
        _check_groups(query, key, value)
    lead = _joined_lead(tuple(query.shape[:-2]), enable_gqa, key=key)
    _joined_lead(lead, enable_gqa, value=value)
    return (*lead, query.shape[-2], key.shape[-2])


def _joined_lead(lead: Shape, enable_gqa: bool, **memory: Array) -> Shape:
    """Return the leading axes (..., h) that a key or value shares with what came before it."""
    ((name, array),) = memory.items()
    axes = tuple(array.shape[:-2])
    joined = broadcast_shape(lead, (*axes[:-1], lead[-1]) if enable_gqa else axes)
    if joined is None:
        hint = "" if enable_gqa else "; fewer heads than query's need enable_gqa=True"
        raise ValueError(
            f"{name}: got leading axes {axes}, wanted ones that broadcast with {lead}"
            + (hint if axes[-1] != lead[-1] else "")
        )
    return joined


def _check_groups(query: Array, key: Array, value: Array) -> None:
    heads, groups = query.shape[-3], key.shape[-3]
    check_size(groups, "the heads of key", -3, value=value)
    if groups == 0 or heads % groups:
        raise ValueError(
            f"key: got {groups} heads in shape {tuple(key.shape)}, "
            f"wanted a divisor of the {heads} heads of query"
        )
