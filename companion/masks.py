# mypy: disable-error-code="no-any-return"
# (array namespaces are untyped: whatever they return is Any)
"""Who may attend to whom. True = may attend; compose masks with `&` and `|`.

The axes before (q, k) are those of `offset`, the lengths or the ids: one number gives (q, k), a
batch (b,) gives (b, q, k), and what is passed as [:, None] leaves room for heads, (b, 1, q, k).
`offset` is the place of the first query among the keys: with a cache, the number of cached keys.
"""

from __future__ import annotations

from typing import Any

from companion.arrays import (
    Array,
    ArrayT,
    check_integer,
    check_rank,
    check_whole,
    device_of,
    is_number,
    namespace,
    numpy_namespace,
)


def causal_mask(
    q_len: int, k_len: int | None = None, *, offset: int | Array = 0, like: Array | None = None
) -> Any:
    """Allow a query its own place and all before it: key j for query i iff j <= i + offset.

    Args:
        q_len: number of queries.
        k_len: number of keys; None means as many as queries.
        offset: place of the first query among the keys, an integer or an integer array (...).
        like: array that gives the library and the device; None means NumPy, or those of offset.

    Returns:
        Boolean mask (..., q, k), the leading axes those of offset.

    Raises:
        TypeError: a length or offset that is not whole, or arrays of two libraries.
        ValueError: a negative length.

    >>> causal_mask(2, 3, offset=1).astype(int)
    array([[1, 1, 0],
           [1, 1, 1]])
    """
    place, key_place = _places(q_len, k_len, offset, like)
    return key_place <= place


def sliding_window_mask(
    q_len: int,
    k_len: int | None = None,
    *,
    left: int,
    right: int = 0,
    offset: int | Array = 0,
    like: Array | None = None,
) -> Any:
    """Allow a query its own place, `left` keys before it and `right` after (Beltagy et al., 2020).

    Args:
        q_len: number of queries.
        k_len: number of keys; None means as many as queries.
        left: keys before the query's own place; a window "of w keys" with itself is left=w - 1.
        right: keys after the query's own place.
        offset: place of the first query among the keys, an integer or an integer array (...).
        like: array that gives the library and the device; None means NumPy, or those of offset.

    Returns:
        Boolean mask (..., q, k), the leading axes those of offset.

    Raises:
        TypeError: a length, width or offset that is not whole, or arrays of two libraries.
        ValueError: a negative length or width.

    >>> sliding_window_mask(4, left=1).astype(int)
    array([[1, 0, 0, 0],
           [1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    check_whole(0, left=left, right=right)
    place, key_place = _places(q_len, k_len, offset, like)
    return (place - left <= key_place) & (key_place <= place + right)


def padding_mask(lengths: ArrayT, k_len: int) -> ArrayT:
    """Allow the keys of a sequence and none of its padding: key j iff j < its length.

    Args:
        lengths: (...) number of keys of each sequence, integers.
        k_len: number of keys, padding included.

    Returns:
        Boolean mask (..., 1, k); pass lengths[:, None] to leave room for heads, (b, 1, 1, k).

    Raises:
        TypeError: lengths that are no integer array, or a k_len that is not whole.
        ValueError: a negative k_len.

    >>> import numpy as np
    >>> padding_mask(np.array([1, 3]), 3)[:, 0, :].astype(int)
    array([[1, 0, 0],
           [1, 1, 1]])
    """
    xp = namespace(lengths=lengths)
    check_integer(xp, lengths=lengths)
    check_whole(0, k_len=k_len)
    return xp.arange(k_len, device=device_of(lengths)) < lengths[..., None, None]


def document_mask(query_ids: ArrayT, key_ids: ArrayT | None = None) -> ArrayT:
    """Allow only keys of the query's own document, in sequences that are packed from several.

    Args:
        query_ids: (..., q) which document a query belongs to, integers.
        key_ids: (..., k) the same for keys; None means those of the queries.

    Returns:
        Boolean mask (..., q, k); compose with a causal mask by `&`.

    Raises:
        TypeError: ids that are no integer arrays of one library.
        ValueError: ids without an axis.

    >>> import numpy as np
    >>> document_mask(np.array([0, 0, 1])).astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [0, 0, 1]])
    """
    xp = namespace(query_ids=query_ids, key_ids=key_ids)
    check_integer(xp, query_ids=query_ids, key_ids=key_ids)
    key_ids = query_ids if key_ids is None else key_ids
    check_rank(1, "(..., q)", query_ids=query_ids)
    check_rank(1, "(..., k)", key_ids=key_ids)
    return query_ids[..., :, None] == key_ids[..., None, :]


def prefix_mask(
    prefix_lengths: ArrayT, q_len: int, k_len: int | None = None, *, offset: int | ArrayT = 0
) -> ArrayT:
    """Allow every query the whole prefix, and beyond it what is causal (Raffel et al., 2020).

    Args:
        prefix_lengths: (...) number of keys that all queries may see, integers.
        q_len: number of queries.
        k_len: number of keys; None means as many as queries.
        offset: place of the first query among the keys, an integer or an integer array (...).

    Returns:
        Boolean mask (..., q, k): key j for query i iff j < prefix length or j <= i + offset.

    Raises:
        TypeError: lengths or offset that are not whole, or arrays of two libraries.
        ValueError: a negative length.

    >>> import numpy as np
    >>> prefix_mask(np.array(2), 3).astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    check_integer(namespace(prefix_lengths=prefix_lengths), prefix_lengths=prefix_lengths)
    check_whole(0, q_len=q_len)
    k_len = q_len if k_len is None else k_len
    prefix = padding_mask(prefix_lengths, k_len)
    return prefix | causal_mask(q_len, k_len, offset=offset, like=prefix_lengths)


def _places(q_len: int, k_len: int | None, offset: Any, like: Array | None) -> tuple[Any, Any]:
    """Return the places of the queries among the keys (..., q, 1), and those of the keys (k,)."""
    k_len = q_len if k_len is None else k_len
    check_whole(0, q_len=q_len, k_len=k_len)
    anchors = {"like": like, "offset": None if is_number(offset) else offset}
    given = [array for array in anchors.values() if array is not None]
    xp = namespace(**anchors) if given else numpy_namespace()
    device = device_of(given[0]) if given else None
    places = xp.arange(q_len, device=device)[:, None]
    return places + _offset_column(xp, offset, places.dtype), xp.arange(k_len, device=device)


def _offset_column(xp: Any, offset: Any, dtype: Any) -> Any:
    if is_number(offset):
        check_whole(offset=offset)
        return offset
    check_integer(xp, offset=offset)
    return xp.astype(offset, dtype, copy=False)[..., None, None]
