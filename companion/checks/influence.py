"""Which places of the input an output depends on, found by changing them one after another."""

from __future__ import annotations

from typing import Any

import numpy as np

from companion.arrays import Array, check_whole
from companion.checks._outputs import (
    Flags,
    Function,
    changed_places,
    check_inputs,
    mask_like,
    outputs_of,
    steady_outputs,
    with_places,
)


def influence(function: Function, x: Array, other: Array) -> Flags:
    """Find which places of its input each output of a function depends on.

    Place j of x is replaced by that of `other`; the outputs that change depend on it. A function
    is called n + 2 times. A change below 1e-5 of the largest output counts as rounding.

    Args:
        function: from (b, n, ...) to (b, m, ...), as a model with its dropout off.
        x: (b, n, ...) ids or features, of NumPy, PyTorch or another array library.
        other: as x, with something else at every place.

    Returns:
        (m, n) NumPy booleans: row i has True at the places that output i depends on.

    Raises:
        AssertionError: the function gives NaN, or two outputs for one input.
        TypeError: what is given or comes back is no array.
        ValueError: x and other cannot show a change at every place.

    >>> x = np.array([[1.0, 2.0, 4.0]])
    >>> influence(lambda x: np.cumsum(x, axis=1), x, -x).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    check_inputs(x, other)
    before = steady_outputs(function, x)
    columns = [
        changed_places(before, outputs_of(function, with_places(x, other, j, j + 1)))
        for j in range(x.shape[1])
    ]
    return np.stack(columns, axis=1)


def check_influence(function: Function, x: Array, other: Array, allowed: Any) -> None:
    """Check that outputs depend on exactly the places that they may depend on.

    Args:
        function: from (b, n, ...) to (b, m, ...).
        x: (b, n, ...) ids or features.
        other: as x, with something else at every place.
        allowed: (m, n) booleans, True where output i may, and has to, depend on place j.

    Raises:
        AssertionError: it depends on others; the message hints at the cause.
        ValueError: x and other cannot show a change at every place, or a mask of another shape.

    >>> x = np.array([[1.0, 2.0, 4.0]])
    >>> check_influence(lambda x: np.cumsum(x, axis=1), x, -x, np.tri(3, dtype=bool))
    >>> check_influence(lambda x: x + x.sum(), x, -x, np.tri(3, dtype=bool))
    Traceback (most recent call last):
    AssertionError: output 0 depends on place 1, which it must not (3 such pairs)
    """
    found, wanted = influence(function, x, other), np.asarray(allowed, dtype=bool)
    if wanted.shape != found.shape:
        raise ValueError(f"allowed: got shape {wanted.shape}, wanted {found.shape}")
    _compare(found, wanted)


def check_causal(function: Function, x: Array, other: Array) -> None:
    """Check that no output depends on a place after its own: the future does not leak.

    A language model's function goes from ids to logits, a decoder's from its inputs to its outputs
    while the source stays. That an output reads its past is not asked for.

    Args:
        function: from (b, n, ...) to (b, n, ...).
        x: (b, n, ...) ids or features, n at least 3.
        other: as x, with something else at every place.

    Raises:
        AssertionError: something leaks; the message hints at the cause.
        ValueError: x and other cannot show a change at every place.

    >>> x = np.array([[1.0, 2.0, 4.0]])
    >>> check_causal(lambda x: np.cumsum(x, axis=1), x, -x)
    >>> check_causal(lambda x: np.cumsum(x[:, ::-1], axis=1)[:, ::-1], x, -x)
    Traceback (most recent call last):
    AssertionError: outputs depend on later places and on no earlier one: the mask is upside down
    """
    found, n = influence(function, x, other), x.shape[1]
    if found.shape != (n, n):
        raise ValueError(
            f"function: gave {len(found)} places for {n}, wanted (b, n, ...) to (b, n, ...)"
        )
    leaks = found & ~np.tri(n, dtype=bool)
    if not found.any():
        raise AssertionError("no output depends on any place: is the input read at all?")
    if not leaks.any():
        return
    if found.all():
        raise AssertionError("every output depends on every place: the causal mask is missing")
    if not (found & np.tri(n, k=-1, dtype=bool)).any():
        raise AssertionError(
            "outputs depend on later places and on no earlier one: the mask is upside down"
        )
    next_one = np.eye(n, k=1, dtype=bool)
    if np.array_equal(leaks, next_one):
        raise AssertionError(
            "every output depends on the place after its own: the mask begins one place too late, "
            "or the decoder is fed the words that it has to say"
        )
    i, j = np.argwhere(leaks)[0]
    raise AssertionError(f"output {i} depends on place {j}, its future ({leaks.sum()} such pairs)")


def check_reach(function: Function, x: Array, other: Array, size: int) -> None:
    """Check a causal window: an output depends on its own place and the size - 1 before it.

    Args:
        function: one layer, from (b, n, ...) to (b, n, ...); a stack of layers reaches further.
        x: (b, n, ...) features, n at least size + 2.
        other: as x, with something else at every place.
        size: number of places in the window, the own one among them.

    Raises:
        AssertionError: the reach is another; the message hints at the cause.
        ValueError: x and other cannot show a change at every place, or are too short.

    >>> x = np.arange(1.0, 6.0)[None]
    >>> check_reach(lambda x: x + np.pad(x, ((0, 0), (1, 0)))[:, :-1], x, -x, size=2)
    >>> check_reach(lambda x: x + np.pad(x, ((0, 0), (1, 0)))[:, :-1], x, -x, size=1)
    Traceback (most recent call last):
    AssertionError: outputs reach 2 places, wanted 1: the own place is one of the window's
    """
    check_whole(1, size=size)
    if x.shape[1] < size + 2:
        raise ValueError(f"x: got {x.shape[1]} places, wanted at least {size + 2}, size + 2")
    found = influence(function, x, other)
    for off in (1, -1):
        if size + off > 0 and np.array_equal(found, _band(len(found), size + off)):
            raise AssertionError(
                f"outputs reach {size + off} places, wanted {size}: "
                f"the own place is one of the window's"
            )
    _compare(found, _band(len(found), size))


def check_mask(function: Function, x: Array, other: Array) -> None:
    """Check that a mask is read as "True = may attend", and that it is read at all.

    Hand a library's layer to it, before you hand a mask to the layer. A residual path is allowed.

    Args:
        function: `function(x, mask)`, from (b, n, ...) and (n, n) booleans to (b, n, ...).
        x: (b, n, ...) features, n at least 3.
        other: as x, with something else at every place.

    Raises:
        AssertionError: the mask means something else; the message hints at the cause.
        ValueError: x and other cannot show a change at every place.

    >>> x = np.array([[1.0, 2.0, 4.0, 8.0]])
    >>> check_mask(lambda x, mask: x @ mask.T, x, -x)
    >>> check_mask(lambda x, mask: x @ ~mask.T, x, -x)
    Traceback (most recent call last):
    AssertionError: the mask is read upside down: here True means must not attend; hand over ~mask
    """
    places = np.arange(x.shape[1])
    sums, own = places[:, None] + places, np.eye(x.shape[1], dtype=bool)
    # Neither these masks nor their opposites leave a row with nothing.
    for mask in (own | (sums % 2 == 0), own | (sums % 3 != 1)):
        given = mask_like(mask, x)
        found = influence(lambda x, given=given: function(x, given), x, other)
        if np.array_equal(found | own, ~mask | own):
            raise AssertionError(
                "the mask is read upside down: here True means must not attend; hand over ~mask"
            )
        if found.all():
            raise AssertionError("the mask changes nothing: every output depends on every place")
        _compare(found | own, mask)


def _compare(found: Flags, wanted: Flags) -> None:
    if np.array_equal(found, wanted):
        return
    if not found.any():
        raise AssertionError("no output depends on any place: is the input read at all?")
    if np.array_equal(found, ~wanted):
        raise AssertionError("outputs depend on exactly the places that are forbidden: upside down")
    extra, missing = found & ~wanted, wanted & ~found
    if extra.any():
        i, j = np.argwhere(extra)[0]
        raise AssertionError(
            f"output {i} depends on place {j}, which it must not ({extra.sum()} such pairs)"
        )
    i, j = np.argwhere(missing)[0]
    raise AssertionError(
        f"output {i} does not depend on place {j}, which it may read ({missing.sum()} such pairs)"
    )


def _band(n: int, size: int) -> Flags:
    band: Flags = np.tri(n, dtype=bool) & ~np.tri(n, k=-size, dtype=bool)
    return band
