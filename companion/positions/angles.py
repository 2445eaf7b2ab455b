"""What the encodings share: whole positions, frequencies, and the angles that they give."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from companion.arrays import Array, cast, device_of, namespace, numpy_namespace


def library_like(like: Array | None, offset: Any = 0) -> tuple[Any, Any, Any]:
    """Return the namespace, device and floating dtype of a result that is to be like `like`.

    Without `like` they are those of an offset that is an array, else NumPy's. An array that is not
    floating stands for its library's default dtype.

    >>> import numpy as np
    >>> library_like(np.ones(1, dtype=np.float32))[1:]
    ('cpu', dtype('float32'))
    """
    given: Any = like
    if like is None and not isinstance(offset, Integral):
        given = offset
    xp = numpy_namespace() if given is None else namespace(given)
    device = None if given is None else device_of(given)
    floating = given is not None and xp.isdtype(given.dtype, "real floating")
    dtype = given.dtype if floating else xp.empty(0, device=device).dtype
    return xp, device, dtype


def positions_from(offset: Any, length: int, xp: Any, device: Any) -> Any:
    """Return offset, offset + 1, ...: (..., length), the leading axes those of the offset.

    >>> import numpy as np
    >>> positions_from(np.array([0, 7]), 3, np, "cpu")
    array([[0, 1, 2],
           [7, 8, 9]])
    """
    steps = xp.arange(length, device=device)
    if isinstance(offset, Integral):
        # A NumPy number would not do for every library.
        return steps + int(offset)
    return steps + cast(offset, steps.dtype)[..., None]


def angle_dtype(xp: Any, device: Any) -> Any:
    """Return float64, or float32 on a device that has nothing wider.

    Far positions need it: at position 10^6 a float32 angle is wrong by hundredths of a radian.
    """
    floats = xp.__array_namespace_info__().dtypes(
        device=device, kind="real floating"
    )
    return floats.get("float64", xp.float32)


def geometric_frequencies(
    xp: Any, device: Any, width: int, base: float
) -> Any:
    """Return base^(-2 i / width), one for every pair of features; an odd one out counts."""
    pairs = xp.arange(
        (width + 1) // 2, dtype=angle_dtype(xp, device), device=device
    )
    return float(base) ** (pairs * (-2 / width))


def angles(positions: Any, frequencies: Any) -> Any:
    """Return position times frequency, (..., n, pairs), in the dtype of the frequencies."""
    return cast(positions, frequencies.dtype)[..., None] * frequencies
