"""Who may attend to whom. True = may attend; compose masks with `&` and `|`.

The axes before (q, k) are those of `offset`, the lengths or the ids: one number gives (q, k), a
batch (b,) gives (b, q, k), and what is passed as [:, None] leaves room for heads, (b, 1, q, k).
`offset` says where the first query stands among the keys: with a cache, the number of cached keys.
"""

from __future__ import annotations

import math
from typing import Any

from companion.arrays import (
    Array,
    ArrayT,
    cast,
    device_of,
    is_number,
    namespace,
    numpy_namespace,
)
from companion.contracts import contract


@contract(q_len=">= 0", k_len=">= 0", offset="integers: ...", like="any: ...")
def causal_mask(
    q_len: int,
    k_len: int | None = None,
    *,
    offset: int | Array = 0,
    like: Array | None = None,
) -> Any:
    """Allow a query its own position and all before it: key j for query i iff j <= i + offset.

    Args:
        q_len: number of queries.
        k_len: number of keys; None means as many as queries.
        offset: position of the first query among the keys.
        like: array that gives the library and the device; None means NumPy, or those of offset.

    Returns:
        Boolean mask (..., q, k), the leading axes those of offset.

    >>> causal_mask(2, 3, offset=1).astype(int)
    array([[1, 1, 0],
           [1, 1, 1]])
    """
    i, j = _positions(q_len, k_len, offset, like)
    return j <= i


@contract(
    q_len=">= 0",
    k_len=">= 0",
    left=">= 0",
    right=">= 0",
    offset="integers: ...",
    like="any: ...",
)
def sliding_window_mask(
    q_len: int,
    k_len: int | None = None,
    *,
    left: int,
    right: int = 0,
    offset: int | Array = 0,
    like: Array | None = None,
) -> Any:
    """Allow a query its own position, `left` keys before it and `right` after.

    This is the window of Beltagy et al. (2020).

    Args:
        q_len: number of queries.
        k_len: number of keys; None means as many as queries.
        left: keys before the query's own position; a window "of w keys" with itself is left=w - 1.
        right: keys after the query's own position.
        offset: position of the first query among the keys.
        like: array that gives the library and the device; None means NumPy, or those of offset.

    Returns:
        Boolean mask (..., q, k), the leading axes those of offset.

    >>> sliding_window_mask(4, left=1).astype(int)
    array([[1, 0, 0, 0],
           [1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    i, j = _positions(q_len, k_len, offset, like)
    return (i - left <= j) & (j <= i + right)


@contract(lengths="integers: ...", k_len=">= 0")
def padding_mask(lengths: ArrayT, k_len: int) -> ArrayT:
    """Allow the keys of a sequence and none of its padding: key j iff j < its length.

    Args:
        lengths: number of keys of each sequence.
        k_len: number of keys, padding included.

    Returns:
        Boolean mask (..., 1, k); pass lengths[:, None] to leave room for heads, (b, 1, 1, k).

    >>> import numpy as np
    >>> padding_mask(np.array([1, 3]), 3)[:, 0, :].astype(int)
    array([[1, 0, 0],
           [1, 1, 1]])
    """
    xp = namespace(lengths)
    return (
        xp.arange(k_len, device=device_of(lengths)) < lengths[..., None, None]
    )


@contract(query_ids="integers: ... q", key_ids="integers: ... k")
def document_mask(query_ids: ArrayT, key_ids: ArrayT | None = None) -> ArrayT:
    """Allow only keys of the query's own document, in sequences that are packed from several.

    Args:
        query_ids: which document a query belongs to.
        key_ids: the same for keys; None means those of the queries.

    Returns:
        Boolean mask (..., q, k); compose with a causal mask by `&`.

    >>> import numpy as np
    >>> document_mask(np.array([0, 0, 1])).astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [0, 0, 1]])
    """
    key_ids = query_ids if key_ids is None else key_ids
    return query_ids[..., :, None] == key_ids[..., None, :]


@contract(
    prefix_lengths="integers: ...",
    q_len=">= 0",
    k_len=">= 0",
    offset="integers: ...",
)
def prefix_mask(
    prefix_lengths: ArrayT,
    q_len: int,
    k_len: int | None = None,
    *,
    offset: int | ArrayT = 0,
) -> ArrayT:
    """Allow every query the whole prefix, and beyond it what is causal (Raffel et al., 2020).

    Args:
        prefix_lengths: number of keys that all queries may see.
        q_len: number of queries.
        k_len: number of keys; None means as many as queries.
        offset: position of the first query among the keys.

    Returns:
        Boolean mask (..., q, k): key j for query i iff j < prefix length or j <= i + offset.

    >>> import numpy as np
    >>> prefix_mask(np.array(2), 3).astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    prefix = padding_mask(prefix_lengths, q_len if k_len is None else k_len)
    return prefix | causal_mask(
        q_len, k_len, offset=offset, like=prefix_lengths
    )


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
    return scores + cast(mask, scores.dtype)


def _positions(
    q_len: int, k_len: int | None, offset: Any, like: Any
) -> tuple[Any, Any]:
    """Return where queries stand among the keys, (..., q, 1), and where the keys do, (k,)."""
    anchor = offset if like is None and not is_number(offset) else like
    xp = numpy_namespace() if anchor is None else namespace(anchor)
    device = None if anchor is None else device_of(anchor)
    i = xp.arange(q_len, device=device)[:, None]
    j = xp.arange(q_len if k_len is None else k_len, device=device)
    return i + (
        offset if is_number(offset) else cast(offset, i.dtype)[..., None, None]
    ), j
