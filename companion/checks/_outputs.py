"""What all checks do with a function: call it, read its numbers, compare them by places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.arrays import Array, check_rank, device_of, is_torch, namespace

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
Function = Callable[..., Any]

TOLERANCE = 1e-5
"""Changes up to this, relative to the largest number of an output, are rounding."""


def plain_numbers(output: Any) -> Numbers:
    """Return an output of any library as NumPy numbers.

    Raises:
        TypeError: it is no array.
    """
    if is_torch(output):
        output = output.detach().cpu().double().numpy()
    if isinstance(output, tuple | list | dict) or output is None:
        raise TypeError(f"function: gave a {type(output).__name__}, wanted one array")
    found: Numbers = np.asarray(output, dtype=np.float64)
    return found


def outputs_of(function: Function, *given: Any) -> Numbers:
    """Call a function; what it gives has to be finite."""
    found = plain_numbers(function(*given))
    if not np.isfinite(found).all():
        raise AssertionError(
            "an output is NaN or infinite: has a row nothing that it may attend to?"
        )
    return found


def steady_outputs(function: Function, *given: Any) -> Numbers:
    """Call a function twice: it has to give the same."""
    first, second = outputs_of(function, *given), outputs_of(function, *given)
    if first.shape != second.shape or changed_numbers(first, second).any():
        raise AssertionError(
            "two calls with the same input give two outputs: is dropout on? Call .eval() first; "
            "or does something keep a state from one call to the next?"
        )
    return first


def changed_numbers(before: Numbers, after: Numbers) -> Flags:
    """Say which numbers differ by more than rounding."""
    scale = max(1.0, float(np.abs(before).max(initial=0.0)))
    return np.asarray(np.abs(before - after) > TOLERANCE * scale)


def changed_places(before: Numbers, after: Numbers) -> Flags:
    """Say which places (axis 1) differ, in any sequence and any feature: (n,)."""
    by_place = np.moveaxis(changed_numbers(before, after), 1, 0)
    return np.asarray(by_place.reshape(before.shape[1], -1).any(1))


def check_inputs(x: Array, other: Array) -> None:
    """Refuse two inputs that could not show a change.

    Raises:
        TypeError: no arrays of one library.
        ValueError: other shapes, fewer than two places, or a place at which both are the same.
    """
    namespace(x=x, other=other)
    check_rank(2, "(b, n, ...)", x=x)
    if tuple(x.shape) != tuple(other.shape):
        raise ValueError(
            f"other: got shape {tuple(other.shape)}, wanted that of x, {tuple(x.shape)}"
        )
    if x.shape[1] < 2:
        raise ValueError(f"x: got shape {tuple(x.shape)}, wanted (b, n, ...), n at least 2")
    differs = (
        np.moveaxis(plain_numbers(x) != plain_numbers(other), 1, 0).reshape(x.shape[1], -1).any(1)
    )
    if not differs.all():
        place = int(np.flatnonzero(~differs)[0])
        raise ValueError(f"other: is as x at place {place}, wanted something else at every place")


def with_places(x: Any, other: Any, start: int, stop: int) -> Any:
    """Return x with the places from start to stop of other."""
    return namespace(x, other).concat([x[:, :start], other[:, start:stop], x[:, stop:]], axis=1)


def mask_like(mask: Flags, x: Array) -> Any:
    """Return a mask in the library and on the device of x."""
    return namespace(x).asarray(mask, device=device_of(x))
