"""Positions as rotations of queries and keys, whose products then know distances alone."""

from __future__ import annotations

from typing import Any

from companion.arrays import (
    Array,
    ArrayT,
    cast,
    device_of,
    is_numpy,
    namespace,
    widen,
)
from companion.contracts import contract
from companion.positions.angles import (
    angle_dtype,
    angles,
    geometric_frequencies,
    library_like,
)
from companion.positions.scaling import RotaryScaling


@contract(width=">= 2 and even", base="> 1", like="any: ...")
def rotary_frequencies(
    width: int,
    *,
    base: float = 10_000.0,
    scaling: RotaryScaling | None = None,
    like: Array | None = None,
) -> Any:
    """Return the angles by which one step rotates each pair of features (Su et al., 2021).

    Args:
        width: number of features to rotate.
        base: ratio of the highest frequency to the one that would follow the last.
        scaling: a `Linear`, `Dynamic`, `Yarn` or `Llama3` of `companion.positions`, for sequences
            longer than those of the training; None means base^(-2 i / width) as it is.
        like: array that gives the library and the device; None means NumPy.

    Returns:
        (width / 2,) radians a position, falling, in float64 (float32 where the device has no
        wider).

    >>> rotary_frequencies(4, base=100.0)
    array([1. , 0.1])
    """
    xp, device, _ = library_like(like)
    frequencies = geometric_frequencies(xp, device, width, base)
    return (
        frequencies if scaling is None else scaling.rescale(frequencies, base)
    )


def _check_features(x: Array, frequencies: Array | None) -> None:
    """Refuse an odd width, or frequencies for more pairs than there are."""
    width = x.shape[-1]
    if frequencies is None and (width < 2 or width % 2):
        raise ValueError(
            f"x: got width {width} in shape {tuple(x.shape)}, wanted an even one above 0, "
            f"or frequencies for a part of it"
        )
    if frequencies is not None and 2 * frequencies.shape[0] > width:
        raise ValueError(
            f"frequencies: got {frequencies.shape[0]} in shape {tuple(frequencies.shape)}, "
            f"wanted at most {width // 2}, a pair of features of x each"
        )


@contract(x="... n d", positions="numbers: b... n", frequencies="constants: m")
def rotate(
    x: ArrayT,
    positions: Array,
    *,
    frequencies: Array | None = None,
    interleaved: bool = False,
) -> ArrayT:
    """Rotate pairs of features by angles that grow with their position (Su et al., 2021).

    A pair (a, b) at position p becomes (a cos - b sin, b cos + a sin) of p times its frequency.
    The product of a rotated query and a rotated key depends on the distance of their positions
    alone.

    Pair i is features (i, i + m) of the first 2 m in the half-split layout of GPT-NeoX and Hugging
    Face's Llama, and (2 i, 2 i + 1) in the interleaved one of the paper and Meta's Llama. Weights
    trained for one are wrong in the other until their features are permuted.

    Args:
        x: queries or keys, (b, h, n, d) for heads.
        positions: one row for all, or one for each sequence; whole numbers or not. Leading axes
            are matched with the first axes of x, so that (b, n) serves all heads of (b, h, n, d).
            With a cache, begin at the number of cached keys.
        frequencies: (m,) radians a position, of x's library, or NumPy's, which are moved at every
            call; only the first 2 m features are rotated. None means `rotary_frequencies(d)`.
        interleaved: pair neighbours rather than halves.

    Returns:
        (..., n, d) in the dtype of x. Half precision is widened to float32 inside. Angles are
        taken in float64 (float32 where the device has no wider): up to position 10^6 they are
        right to 1e-9, and add nothing to the rounding of a float32 x.

    Raises:
        ValueError: an odd d without frequencies, or frequencies for more than d features.

    >>> import numpy as np
    >>> rotate(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0.0, np.pi / 2])).round(3)
    array([[1., 0.],
           [0., 1.]])
    """
    _check_features(x, frequencies)
    xp = namespace(x)
    frequencies = _frequencies_like(xp, x, frequencies)
    pairs = frequencies.shape[0]
    (part,) = widen(xp, x[..., : 2 * pairs])
    if interleaved:
        neighbours = xp.reshape(part, (*part.shape[:-1], pairs, 2))
        a, b = neighbours[..., 0], neighbours[..., 1]
    else:
        a, b = part[..., :pairs], part[..., pairs:]

    angle = angles(_beside_heads(xp, positions, x), frequencies)
    cosine, sine = (
        cast(xp.cos(angle), part.dtype),
        cast(xp.sin(angle), part.dtype),
    )
    rotated = [a * cosine - b * sine, b * cosine + a * sine]

    if interleaved:
        rotated = xp.reshape(xp.stack(rotated, axis=-1), part.shape)
    else:
        rotated = xp.concat(rotated, axis=-1)
    rotated, rest = cast(rotated, x.dtype), x[..., 2 * pairs :]
    return xp.concat([rotated, rest], axis=-1) if rest.shape[-1] else rotated


def _frequencies_like(xp: Any, x: Array, frequencies: Any | None) -> Any:
    """Return the frequencies in x's library, on its device and in the dtype of angles."""
    if frequencies is None:
        return rotary_frequencies(x.shape[-1], like=x)
    device = device_of(x)
    dtype = angle_dtype(xp, device)
    if is_numpy(frequencies):
        return xp.asarray(frequencies, dtype=dtype, device=device)
    return cast(frequencies, dtype)


def _beside_heads(xp: Any, positions: Array, x: Array) -> Any:
    """Give positions (b, n) the axes between, (b, 1, n) for x (b, h, n, d), so that b meets b."""
    *first, n = positions.shape
    between = [1] * (x.ndim - 1 - positions.ndim) if first else []
    return xp.reshape(positions, (*first, *between, n))
