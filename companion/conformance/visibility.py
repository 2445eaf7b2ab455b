"""Which positions of the input an output depends on: change one after another, and look."""

from __future__ import annotations

from typing import Any

import numpy as np

from companion.arrays import Array
from companion.conformance._outputs import (
    Flags,
    Function,
    any_by_position,
    as_heads,
    changed_numbers,
    check_positions,
    fail_if,
    mask_like,
    outputs_of,
    steady_outputs,
    with_positions,
)
from companion.contracts import contract


@contract()
def influence(function: Function, x: Array, other: Array) -> Flags:
    """Find which positions of its input each output of a function depends on.

    Position j of x is replaced by that of `other`; the outputs that change depend on it. A
    function is called n + 2 times. A change below 1e-5 of the largest output counts as rounding.

    Args:
        function: from (b, n, ...) to (b, m, ...), as a model with its dropout off.
        x: (b, n, ...) ids or features, of NumPy, PyTorch or another array library.
        other: as x, with something else at every position.

    Returns:
        (m, n) NumPy booleans: row i has True at the positions that output i depends on.

    >>> x = np.array([[1.0, 2.0, 4.0]])
    >>> influence(lambda x: np.cumsum(x, axis=1), x, -x).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    check_positions(2, x, other)
    before, columns = steady_outputs(function, x), []
    for j in range(x.shape[1]):
        after = outputs_of(function, with_positions(x, other, j, j + 1))
        columns.append(any_by_position(changed_numbers(before, after)))
    return np.stack(columns, axis=1)


@contract()
def check_influence(
    function: Function, x: Array, other: Array, allowed: Any
) -> None:
    """Check that outputs depend on exactly the positions that they may depend on.

    Args:
        function: from (b, n, ...) to (b, m, ...).
        x: (b, n, ...) ids or features.
        other: as x, with something else at every position.
        allowed: (m, n) booleans, True where output i may, and has to, depend on j.

    >>> x = np.array([[1.0, 2.0, 4.0]])
    >>> check_influence(lambda x: np.cumsum(x, axis=1), x, -x, np.tri(3, dtype=bool))
    >>> check_influence(lambda x: x + x.sum(), x, -x, np.tri(3, dtype=bool))
    Traceback (most recent call last):
    AssertionError: output 0 depends on position 1, which it must not (3 such pairs)
    """
    wanted = np.asarray(allowed, dtype=bool)
    seen = influence(function, x, other)
    if wanted.shape != seen.shape:
        raise ValueError(
            f"allowed: got shape {wanted.shape}, wanted {seen.shape}"
        )
    _compare(seen, wanted)


@contract()
def check_causal(function: Function, x: Array, other: Array) -> None:
    """Check that no output depends on a position after its own: the future does not leak.

    A language model's function goes from ids to logits, a decoder's from its inputs to its outputs
    while the source stays. That an output reads its past is not asked for.

    Args:
        function: from (b, n, ...) to (b, n, ...).
        x: (b, n, ...) ids or features, n at least 3.
        other: as x, with something else at every position.

    >>> x = np.array([[1.0, 2.0, 4.0]])
    >>> check_causal(lambda x: np.cumsum(x, axis=1), x, -x)
    >>> check_causal(lambda x: np.cumsum(x[:, ::-1], axis=1)[:, ::-1], x, -x)
    Traceback (most recent call last):
    AssertionError: outputs depend on later positions and on no earlier one: the mask is upside down
    """
    seen, n = influence(function, x, other), x.shape[1]
    if seen.shape != (n, n):
        raise ValueError(
            f"function: gave {len(seen)} positions for {n}, wanted (b, n, ...) to (b, n, ...)"
        )
    leaks = seen & ~np.tri(n, dtype=bool)
    fail_if(not seen.any(), _NOTHING_READ)
    if not leaks.any():
        return
    fail_if(
        seen.all(),
        "every output depends on every position: the causal mask is missing",
    )
    fail_if(
        not (seen & np.tri(n, k=-1, dtype=bool)).any(),
        "outputs depend on later positions and on no earlier one: the mask is upside down",
    )
    fail_if(
        np.array_equal(leaks, np.eye(n, k=1, dtype=bool)),
        "every output depends on the position after its own: the mask begins one position too "
        "late, or the decoder is fed the words that it has to say",
    )
    _fail_at(leaks, "output {} depends on position {}, its future")


@contract(size=">= 1")
def check_reach(function: Function, x: Array, other: Array, size: int) -> None:
    """Check a causal window: an output depends on its own position and the size - 1 before it.

    Args:
        function: one layer, from (b, n, ...) to (b, n, ...); a stack of layers reaches further.
        x: (b, n, ...) features, n at least size + 2.
        other: as x, with something else at every position.
        size: number of positions in the window, the own one among them.

    >>> x = np.arange(1.0, 6.0)[None]
    >>> check_reach(lambda x: x + np.pad(x, ((0, 0), (1, 0)))[:, :-1], x, -x, size=2)
    >>> check_reach(lambda x: x + np.pad(x, ((0, 0), (1, 0)))[:, :-1], x, -x, size=1)
    Traceback (most recent call last):
    AssertionError: outputs reach 2 positions, wanted 1: the own position is one of the window's
    """
    check_positions(size + 2, x, other)
    seen = influence(function, x, other)
    for reach in (size + 1, size - 1):
        fail_if(
            reach > 0 and np.array_equal(seen, _band(len(seen), reach)),
            f"outputs reach {reach} positions, wanted {size}: the own position is one of the "
            f"window's",
        )
    _compare(seen, _band(len(seen), size))


@contract()
def check_mask(function: Function, x: Array, other: Array) -> None:
    """Check that a mask is read as "True = may attend", and that it is read at all.

    Hand a library's layer to it, before you hand a mask to the layer. A residual path is allowed.

    Args:
        function: `function(x, mask)`, from (b, n, ...) and (n, n) booleans to (b, n, ...).
        x: (b, n, ...) features, n at least 3.
        other: as x, with something else at every position.

    >>> x = np.array([[1.0, 2.0, 4.0, 8.0]])
    >>> check_mask(lambda x, mask: x @ mask.T, x, -x)
    >>> check_mask(lambda x, mask: x @ ~mask.T, x, -x)
    Traceback (most recent call last):
    AssertionError: the mask is read upside down: here True means must not attend; hand over ~mask
    """
    check_positions(3, x, other)
    positions, own = np.arange(x.shape[1]), np.eye(x.shape[1], dtype=bool)
    sums = positions[:, None] + positions
    # Neither these masks nor their opposites leave a row with nothing.
    for mask in (own | (sums % 2 == 0), own | (sums % 3 != 1)):
        given = mask_like(mask, x)
        seen = influence(lambda x, given=given: function(x, given), x, other)
        fail_if(
            np.array_equal(seen | own, ~mask | own),
            "the mask is read upside down: here True means must not attend; hand over ~mask",
        )
        fail_if(
            seen.all(),
            "the mask changes nothing: every output depends on every position",
        )
        _compare(seen | own, mask)


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

    >>> from companion.attention import scaled_dot_product_attention as attention
    >>> check_offset(lambda *qkv: attention(*qkv, is_causal=True), like=np.ones(1))
    >>> check_offset(lambda *qkv: attention(*qkv, is_causal=True, offset=2), like=np.ones(1))
    Traceback (most recent call last):
    AssertionError: 3 queries and 5 keys: the first query sees 3 keys, wanted 1: the mask ends at \
the last key instead of beginning at the first
    """
    for q, k in ((3, 5), (5, 3), (4, 4), (1, 5)):
        query, key, value = np.zeros((q, 8)), np.ones((k, 8)), np.eye(k, 8)
        given = as_heads(like, query, key, value)
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


_NOTHING_READ = "no output depends on any position: is the input read at all?"


def _compare(seen: Flags, wanted: Flags) -> None:
    if np.array_equal(seen, wanted):
        return
    fail_if(not seen.any(), _NOTHING_READ)
    fail_if(
        np.array_equal(seen, ~wanted),
        "outputs depend on exactly the positions that are forbidden: upside down",
    )
    must_not = "output {} depends on position {}, which it must not"
    may = "output {} does not depend on position {}, which it may read"
    _fail_at(seen & ~wanted, must_not)
    _fail_at(wanted & ~seen, may)


def _fail_at(mistakes: Flags, hint: str) -> None:
    """Name the first mistaken pair of an output and a position, if there is one."""
    for i, j in np.argwhere(mistakes):
        told = hint.format(i, j)
        raise AssertionError(f"{told} ({mistakes.sum()} such pairs)")


def _band(n: int, size: int) -> Flags:
    band: Flags = np.tri(n, dtype=bool) & ~np.tri(n, k=-size, dtype=bool)
    return band
