"""Positions as sines and cosines, added to what stands there."""

from __future__ import annotations

from typing import Any

from companion.arrays import Array, cast
from companion.contracts import contract
from companion.positions.angles import (
    angles,
    geometric_frequencies,
    library_like,
    positions_from,
)


@contract(
    length=">= 0",
    width=">= 1",
    base="> 1",
    offset="integers: ...",
    like="any: ...",
)
def sinusoidal_encoding(
    length: int,
    width: int,
    *,
    base: float = 10_000.0,
    offset: int | Array = 0,
    like: Array | None = None,
) -> Any:
    """Encode positions by sines and cosines of falling frequency (Vaswani et al., 2017).

    Features 2 i and 2 i + 1 of position p are sin(p f) and cos(p f) with f = base^(-2 i / width).
    An odd width ends with a sine. Moving by a distance rotates every pair by an angle that depends
    on the distance alone, so that the encoding of p + distance is linear in that of p.

    Args:
        length: number of positions n.
        width: number of features e.
        base: ratio of the highest frequency to the one that would follow the last.
        offset: the first position.
        like: array that gives the library, the device and, if it is floating, the dtype; None
            means NumPy, or those of offset.

    Returns:
        (..., n, e), the leading axes those of offset. Angles are taken in float64 (float32 where
        the device has no wider): up to position 10^6 they are right to 1e-9.

    >>> sinusoidal_encoding(2, 3).round(3)
    array([[0.   , 1.   , 0.   ],
           [0.841, 0.54 , 0.002]])
    """
    xp, device, dtype = library_like(like, offset)
    positions = positions_from(offset, length, xp, device)
    angle = angles(positions, geometric_frequencies(xp, device, width, base))
    waves = xp.stack([xp.sin(angle), xp.cos(angle)], axis=-1)
    encoding = xp.reshape(waves, (*angle.shape[:-1], 2 * angle.shape[-1]))
    return cast(encoding[..., :width], dtype)
