# mypy: disable-error-code="no-any-return"
# (array namespaces are untyped: whatever they return is Any)
"""Places as sines and cosines, added to what stands there."""

from __future__ import annotations

from typing import Any

from companion.arrays import Array, check_whole
from companion.positions.places import (
    angles,
    check_base,
    geometric_frequencies,
    home_of,
    places_from,
)


def sinusoidal_encoding(
    length: int,
    width: int,
    *,
    base: float = 10_000.0,
    offset: int | Array = 0,
    like: Array | None = None,
) -> Any:
    """Encode places by sines and cosines of falling frequency (Vaswani et al., 2017).

    Features 2 i and 2 i + 1 of place p are sin(p f) and cos(p f) with f = base^(-2 i / width). An
    odd width ends with a sine. Moving by a distance turns every pair by an angle that depends on
    the distance alone, so that the encoding of p + distance is linear in that of p.

    Args:
        length: number of places n.
        width: number of features e.
        base: ratio of the highest frequency to the one that would follow the last.
        offset: the first place, an integer or an integer array (...).
        like: array that gives the library, the device and, if it is floating, the dtype; None
            means NumPy, or those of offset.

    Returns:
        (..., n, e), the leading axes those of offset. Angles are taken in float64 (float32 where
        the device has no wider): up to place 10^6 they are right to 1e-9.

    Raises:
        TypeError: a length, width or offset that is not whole, or arrays of two libraries.
        ValueError: a negative length, a width below 1, or a base that is not above 1.

    >>> sinusoidal_encoding(2, 3).round(3)
    array([[0.   , 1.   , 0.   ],
           [0.841, 0.54 , 0.002]])
    """
    check_whole(0, length=length)
    check_whole(1, width=width)
    check_base(base)
    home = home_of(like, offset)
    xp = home.xp
    frequencies = geometric_frequencies(xp, home.device, width, base)
    angle = angles(xp, places_from(home, length, offset), frequencies)
    waves = xp.stack([xp.sin(angle), xp.cos(angle)], axis=-1)
    encoding = xp.reshape(waves, (*angle.shape[:-1], 2 * angle.shape[-1]))
    return xp.astype(encoding[..., :width], home.dtype, copy=False)
