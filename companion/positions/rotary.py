# mypy: disable-error-code="no-any-return"
# (array namespaces are untyped: whatever they return is Any)
"""Places as rotations of queries and keys, whose products then know distances alone."""

from __future__ import annotations

from typing import Any

from companion.arrays import (
    Array,
    ArrayT,
    accumulation_dtype,
    broadcasts_to,
    check_flag,
    check_floating,
    check_rank,
    check_size,
    check_whole,
    device_of,
    namespace,
    numpy_namespace,
)
from companion.positions.places import (
    angle_dtype,
    angles,
    check_base,
    geometric_frequencies,
    home_of,
)
from companion.positions.scaling import RotaryScaling


def rotary_frequencies(
    width: int,
    *,
    base: float = 10_000.0,
    scaling: RotaryScaling | None = None,
    like: Array | None = None,
) -> Any:
    """Return the angles by which one place turns each pair of features (Su et al., 2021).

    Args:
        width: number of features to rotate, even.
        base: ratio of the highest frequency to the one that would follow the last.
        scaling: a `Linear`, `Dynamic`, `Yarn` or `Llama3` of `companion.positions`, for sequences
            longer than those of the training; None means base^(-2 i / width) as it is.
        like: array that gives the library and the device; None means NumPy.

    Returns:
        (width / 2,) radians a place, falling, in float64 (float32 where the device has no wider).

    Raises:
        TypeError: a width that is not whole, a base that is no number, or another scaling.
        ValueError: a width that is odd or below 2, or a base that is not above 1.

    >>> rotary_frequencies(4, base=100.0)
    array([1. , 0.1])
    """
    check_whole(2, width=width)
    if width % 2:
        raise ValueError(f"width: got {width}, wanted an even number")
    check_base(base)
    if scaling is not None and not isinstance(scaling, RotaryScaling):
        raise TypeError(
            f"scaling: got {type(scaling).__name__}, wanted Linear, Dynamic, Yarn, Llama3 or None"
        )
    home = home_of(like)
    frequencies = geometric_frequencies(home.xp, home.device, width, base)
    return frequencies if scaling is None else scaling.rescale(frequencies, base)


def rotate(
    x: ArrayT, positions: Array, *, frequencies: Array | None = None, interleaved: bool = False
) -> ArrayT:
    """Turn pairs of features by angles that grow with their place (Su et al., 2021).

    A pair (a, b) at place p becomes (a cos - b sin, b cos + a sin) of p times its frequency. The
    product of a rotated query and a rotated key depends on the distance of their places alone.

    Pair i is features (i, i + m) of the first 2 m in the half-split layout of GPT-NeoX and Hugging
    Face's Llama, and (2 i, 2 i + 1) in the interleaved one of the paper and Meta's Llama. Weights
    trained for one are wrong in the other until their features are permuted.

    Args:
        x: (..., n, d) queries or keys, (b, h, n, d) for heads.
        positions: (n,) places, or (b, n), a row a sequence; whole or not. Its leading axes are
            matched with the first axes of x, so that (b, n) serves all heads of (b, h, n, d). With
            a cache, begin at the number of cached keys.
        frequencies: (m,) radians a place, of x's library, or NumPy's, which are moved at every
            call; only the first 2 m features are rotated. None means `rotary_frequencies(d)`.
        interleaved: pair neighbours rather than halves.

    Returns:
        (..., n, d) in the dtype of x. Half precision is widened to float32 inside. Angles are
        taken in float64 (float32 where the device has no wider): up to place 10^6 they are right
        to 1e-9, and add nothing to the rounding of a float32 x.

    Raises:
        TypeError: not floating x and frequencies or numeric positions, or arrays of two libraries.
        ValueError: shapes that do not fit, or an odd d without frequencies.

    >>> import numpy as np
    >>> rotate(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0.0, np.pi / 2])).round(3)
    array([[1., 0.],
           [0., 1.]])
    """
    check_flag(interleaved=interleaved)
    xp = namespace(x=x, positions=positions)
    _check_x_and_positions(xp, x, positions)
    frequencies = _frequencies_for(xp, x, frequencies)
    cosine, sine = _turn(xp, x, positions, frequencies)

    pairs = frequencies.shape[0]
    part = xp.astype(x[..., : 2 * pairs], cosine.dtype, copy=False)
    if interleaved:
        neighbours = xp.reshape(part, (*part.shape[:-1], pairs, 2))
        first, second = neighbours[..., 0], neighbours[..., 1]
    else:
        first, second = part[..., :pairs], part[..., pairs:]
    turned = [first * cosine - second * sine, second * cosine + first * sine]
    if interleaved:
        rotated = xp.reshape(xp.stack(turned, axis=-1), part.shape)
    else:
        rotated = xp.concat(turned, axis=-1)
    rotated = xp.astype(rotated, x.dtype, copy=False)
    if 2 * pairs == x.shape[-1]:
        return rotated
    return xp.concat([rotated, x[..., 2 * pairs :]], axis=-1)


def _turn(xp: Any, x: Array, positions: Any, frequencies: Any) -> tuple[Any, Any]:
    """Return cosine and sine of every angle, (..., n, pairs), in the dtype to rotate in."""
    lead, axes = tuple(x.shape[:-2]), tuple(positions.shape[:-1])
    aligned = axes + (1,) * (len(lead) - len(axes))  # what has a row a sequence serves all heads
    if not broadcasts_to(aligned, lead):
        raise ValueError(
            f"positions: got shape {tuple(positions.shape)}, wanted leading axes that fit "
            f"the first axes of x, {lead}"
        )
    places = xp.reshape(positions, (*aligned, positions.shape[-1]))
    angle = angles(xp, places, frequencies)
    dtype = accumulation_dtype(xp, x)
    return (
        xp.astype(xp.cos(angle), dtype, copy=False),
        xp.astype(xp.sin(angle), dtype, copy=False),
    )


def _frequencies_for(xp: Any, x: Array, frequencies: Any | None) -> Any:
    """Bring the frequencies to x's library and device, and to the dtype of angles."""
    width, device = x.shape[-1], device_of(x)
    if frequencies is None:
        if width < 2 or width % 2:
            raise ValueError(
                f"x: got width {width} in shape {tuple(x.shape)}, wanted an even one above 0, "
                f"or frequencies for a part of it"
            )
        return rotary_frequencies(width, like=x)
    own = namespace(frequencies=frequencies)
    check_floating(own, frequencies=frequencies)
    check_rank(1, "(pairs,)", exactly=True, frequencies=frequencies)
    if 2 * frequencies.shape[0] > width:
        raise ValueError(
            f"frequencies: got {frequencies.shape[0]} in shape {tuple(frequencies.shape)}, "
            f"wanted at most {width // 2}, a pair of features of x each"
        )
    if own is numpy_namespace():
        return xp.asarray(frequencies, dtype=angle_dtype(xp, device), device=device)
    namespace(x=x, frequencies=frequencies)
    return xp.astype(frequencies, angle_dtype(xp, device), copy=False)


def _check_x_and_positions(xp: Any, x: Array, positions: Array) -> None:
    check_floating(xp, x=x)
    if not xp.isdtype(positions.dtype, ("integral", "real floating")):
        raise TypeError(
            f"positions: got dtype {positions.dtype}, wanted an integer or real floating dtype"
        )
    check_rank(2, "(..., n, d)", x=x)
    check_rank(1, "(..., n)", positions=positions)
    check_size(x.shape[-2], "the places of x", -1, positions=positions)
