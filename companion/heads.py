"""How query heads and the heads of keys, and offsets and heads, come together."""

from __future__ import annotations

from typing import Any

from companion.arrays import is_number, namespace


def repeat_kv(memory: Any, query: Any) -> Any:
    """Repeat every key head for its consecutive query heads: [g0, g0, g1, g1].

    >>> import numpy as np
    >>> repeat_kv(np.array([[[1.0]], [[2.0]]]), np.zeros((4, 1, 1)))[:, 0, 0]
    array([1., 1., 2., 2.])
    """
    times = query.shape[-3] // memory.shape[-3]
    return namespace(memory).repeat(memory, times, axis=-3)


def offset_beside_heads(offset: Any, *arrays: Any) -> Any:
    """Give offsets (b,) the axes that follow in (b, h, q, d), so that b meets b.

    >>> import numpy as np
    >>> offset_beside_heads(np.array([3, 5]), np.ones((2, 6, 7, 4))).shape
    (2, 1)
    """
    if is_number(offset):
        return offset
    missing = max(array.ndim for array in arrays) - 2 - offset.ndim
    return namespace(offset).reshape(offset, (*offset.shape, *(1,) * missing))
