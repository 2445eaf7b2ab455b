"""Causal attention when queries and keys are not equally many, and when a text grows."""

from __future__ import annotations

from typing import Any

import numpy as np

from companion.arrays import Array
from companion.conformance._outputs import (
    Function,
    changed_numbers,
    check_positions,
    constant_like,
    differ,
    fail_if,
    outputs_of,
    steady_outputs,
)
from companion.contracts import contract


@contract(offset=">= 0")
def check_offset(attention: Function, *, like: Array, offset: int = 0) -> None:
    """Check which keys a causal query sees when queries and keys are not equally many.

    Query i is to see the keys 0 to i + offset, as in PyTorch, where the mask begins at the first
    key. Some libraries let it end at the last key instead, which is an offset of k - q.

    Args:
        attention: causal `attention(query, key, value)` from (1, 1, q, d), (1, 1, k, d) and
            (1, 1, k, v) to (1, 1, q, v).
        like: array that gives the library, the device and the dtype.
        offset: number of keys before the first query that the function was told of.

    Raises:
        AssertionError: a query sees others; the message hints at the cause.

    >>> from companion.attention import scaled_dot_product_attention as attention
    >>> check_offset(lambda *qkv: attention(*qkv, is_causal=True), like=np.ones(1))
    >>> check_offset(lambda *qkv: attention(*qkv, is_causal=True, offset=2), like=np.ones(1))
    Traceback (most recent call last):
    AssertionError: 3 queries and 5 keys: the first query sees 3 keys, wanted 1: the mask ends at \
the last key instead of beginning at the first
    """
    for q, k in ((3, 5), (5, 3), (4, 4)):
        query, key, value = np.zeros((q, 8)), np.ones((k, 8)), np.eye(k, 8)
        given = (
            constant_like(like, array[None, None])
            for array in (query, key, value)
        )
        seen = outputs_of(attention, *given)[0, 0, :, :k] > 0
        if np.array_equal(seen, np.tri(q, k, offset, dtype=bool)):
            continue
        sizes = f"{q} queries and {k} keys"
        counted = f"the first query sees {seen[0].sum()} keys, wanted {min(offset + 1, k)}"
        fail_if(
            q != k and np.array_equal(seen, np.tri(q, k, k - q, dtype=bool)),
            f"{sizes}: {counted}: the mask ends at the last key instead of beginning at the first",
        )
        fail_if(
            offset and np.array_equal(seen, np.tri(q, k, dtype=bool)),
            f"{sizes}, offset {offset}: {counted}: the offset changes nothing",
        )
        raise AssertionError(
            f"{sizes}, offset {offset}: {counted}, or a later query sees others"
        )


@contract()
def check_prefixes(function: Function, x: Array) -> None:
    """Check that a longer text leaves the outputs of its beginning as they were.

    A causal function may pass `check_causal`, which changes later positions, and yet depend on how
    many there are: by a sort that breaks ties differently in a longer row, or by an average.

    Args:
        function: causal, from (b, n, ...) to (b, n, ...).
        x: (b, n, ...) ids or features, n at least 3.

    Raises:
        AssertionError: an output changes; the message says where first.
        ValueError: fewer than three positions.

    >>> x = np.array([[1.0, 2.0, 4.0]])
    >>> check_prefixes(lambda x: x.cumsum(axis=1), x)
    >>> check_prefixes(lambda x: x.cumsum(axis=1) / x.shape[1], x)
    Traceback (most recent call last):
    AssertionError: output 0 of 1 positions is another when there are 3: does a sum run over all \
positions, or does a choice among equal scores depend on how many there are?
    """
    check_positions(3, x)
    whole: Any = steady_outputs(function, x)
    for length in range(1, x.shape[1]):
        outputs = outputs_of(function, x[:, :length])
        if differ(whole[:, :length], outputs):
            first = int(
                np.argwhere(changed_numbers(whole[:, :length], outputs))[
                    :, 1
                ].min()
            )
            raise AssertionError(
                f"output {first} of {length} positions is another when there are {x.shape[1]}: "
                f"does a sum run over all positions, or does a choice among equal scores depend "
                f"on how many there are?"
            )
