"""What all checks do with a function: call it, read its numbers, compare them by positions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.arrays import Array, device_of, is_torch, namespace
from companion.contracts import contract

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
Function = Callable[..., Any]

TOLERANCE = 1e-5
"""Changes up to this, relative to the largest number of an output, are rounding."""


def plain_numbers(output: Any) -> Numbers:
    """Return an output of any library as NumPy numbers."""
    if is_torch(output):
        output = output.detach().cpu().double().numpy()
    if isinstance(output, tuple | list | dict) or output is None:
        raise TypeError(
            f"function: gave a {type(output).__name__}, wanted one array"
        )
    return np.asarray(output, dtype=np.float64)


def fail_if(mistaken: object, hint: str) -> None:
    """Raise an `AssertionError` with the hint if a mistake was seen."""
    if mistaken:
        raise AssertionError(hint)


def fail_at_shape(
    outputs: Any, wanted: tuple[int, ...], what: str = ""
) -> None:
    """Raise an `AssertionError` that names the shape if it is another."""
    came = tuple(outputs.shape)
    fail_if(came != wanted, f"{what}gave the shape {came}, wanted {wanted}")


def outputs_of(function: Function, *given: Any) -> Numbers:
    """Call a function, whose outputs have to be finite."""
    outputs = plain_numbers(function(*given))
    fail_if(
        not np.isfinite(outputs).all(),
        "an output is NaN or infinite: has a row nothing that it may attend to?",
    )
    return outputs


def steady_outputs(function: Function, *given: Any) -> Numbers:
    """Call a function twice: it has to give the same."""
    first, second = outputs_of(function, *given), outputs_of(function, *given)
    fail_if(
        differ(first, second),
        "two calls with the same input give two outputs: is dropout on? Call .eval() first; "
        "or does something keep a state from one call to the next?",
    )
    return first


def changed_numbers(before: Numbers, after: Numbers) -> Flags:
    """Say which numbers differ by more than rounding."""
    scale = max(1.0, float(np.abs(before).max(initial=0.0)))
    return np.asarray(np.abs(before - after) > TOLERANCE * scale)


def differ(before: Numbers, after: Numbers) -> bool:
    """Say whether two outputs differ, in shape or by more than rounding; NaN always does."""
    return farthest(before, after) > TOLERANCE


def farthest(wanted: Numbers, came: Numbers) -> float:
    """Return the largest difference in units of the largest number; NaN is infinitely far."""
    if wanted.shape != came.shape:
        return math.inf
    unit = max(1.0, float(np.abs(wanted).max(initial=0.0)))
    far = float(np.abs(wanted - came).max(initial=0.0)) / unit
    return far if math.isfinite(far) else math.inf


def first_change(before: Numbers, after: Numbers) -> int:
    """Return the first position (axis 1) at which two outputs differ."""
    return int(any_by_position(changed_numbers(before, after)).argmax())


def any_by_position(flags: Flags) -> Flags:
    """Say at which positions (axis 1) a flag is True, in any sequence and any feature: (n,)."""
    by_position = np.moveaxis(flags, 1, 0)
    return np.asarray(by_position.reshape(flags.shape[1], -1).any(1))


@contract(x="any: ...", other="any: ...")
def check_positions(least: int, x: Array, other: Array | None = None) -> None:
    """Refuse an x, and an other, that are too short or too much alike to show a change.

    >>> check_positions(3, np.ones((1, 2)))
    Traceback (most recent call last):
    ValueError: x: got shape (1, 2), wanted (b, n, ...), n at least 3
    """
    shape = tuple(x.shape)
    if len(shape) < 2 or shape[1] < least:
        raise ValueError(
            f"x: got shape {shape}, wanted (b, n, ...), n at least {least}"
        )
    if other is None:
        return
    if tuple(other.shape) != shape:
        raise ValueError(
            f"other: got shape {tuple(other.shape)}, wanted that of x, {shape}"
        )
    differs = any_by_position(plain_numbers(x) != plain_numbers(other))
    if not differs.all():
        raise ValueError(
            f"other: is as x at position {int(np.argmin(differs))}, "
            f"wanted something else at every position"
        )


@contract(like="any: ...")
def constant_like(like: Array, numbers: Any) -> Any:
    """Return NumPy numbers in the library, the dtype and on the device of an array."""
    alike = {"dtype": like.dtype, "device": device_of(like)}
    return namespace(like).asarray(numbers, **alike)


def as_heads(like: Array, *rows: Any) -> list[Any]:
    """Return NumPy's rows, (n, d) or (h, n, d), as arrays (1, h, n, d) of another library."""
    return [constant_like(like, np.array(row, ndmin=4)) for row in rows]


def mask_like(mask: Flags, x: Array) -> Any:
    """Return a mask in the library and on the device of x."""
    return namespace(x).asarray(mask, device=device_of(x))


def as_library(like: Any, what: Any) -> Any:
    """Return a NumPy array in another library, booleans as booleans; the rest as it came."""
    if not isinstance(what, np.ndarray):
        return what
    flags, own = what.dtype == np.bool_, what.copy()
    return mask_like(own, like) if flags else constant_like(like, own)


def with_positions(x: Any, other: Any, start: int, stop: int) -> Any:
    """Return x with the positions from start to stop of other."""
    parts = [x[:, :start], other[:, start:stop], x[:, stop:]]
    return namespace(x).concat(parts, axis=1)
