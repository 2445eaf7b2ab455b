"""Rotary positions: a query and a key whose pairs of features turn with their positions."""

from typing import Any

import numpy as np

from bookkit.inputs import as_vector
from bookkit.playables.playable import Playable, playable
from companion.positions import rotary_frequencies


def rotary_angles(
    query: Any,
    key: Any,
    *,
    frequencies: Any | None = None,
    positions: tuple[int, int] = (3, 7),
    longest: int = 32,
    label: str = "Rotary positions as angles",
    caption: str = "The score depends on the distance alone. Each dial is one pair of features: "
    "the query (solid, with a dot) and the key (dashed, with a ring), turned by f radians a "
    "position. What the pairs add up to is the score. Below, the score at every distance; the "
    "level line is 0.",
) -> Playable:
    """Show a query and a key turned by their positions; the reader moves both.

    Every pair of features is a dial, in the half-split layout of `rotate`. Sliders set the
    positions, one at a time or both together; the score, scaled by 1 / sqrt(d), is a point of one
    curve over the distance, whatever the positions. Without scripts it shows `positions`.

    Args:
        query: (d,) features of the query, at position 0.
        key: (d,) features of the key, at position 0.
        frequencies: (d / 2,) radians a position; by default `rotary_frequencies(d)`.
        positions: of the query and of the key, at first.
        longest: the last position of the sliders.
        label: what is shown, in a few words.
        caption: the words below.

    Raises:
        TypeError: query, key or frequencies hold no numbers.
        ValueError: shapes do not agree, d is odd or above 16, a number is not finite, both vectors
            are zero, or a position is not from 0 to `longest`.

    >>> rotary_angles([1.0, 0.0], [1.0, 0.0], positions=(5, 5))
    Rotary positions as angles: a drawing to play with.
    """
    asked = as_vector(query, "query")
    given = as_vector(key, "key", asked.size)
    if asked.size % 2 or asked.size > 16:
        raise ValueError(f"query: got width {asked.size}, wanted an even one, at most 16")
    rates = rotary_frequencies(asked.size) if frequencies is None else frequencies
    speeds = as_vector(rates, "frequencies", asked.size // 2)
    for name, vector in (("query", asked), ("key", given), ("frequencies", speeds)):
        if not np.isfinite(vector).all():
            raise ValueError(f"{name}: got {vector.tolist()}, wanted finite numbers")
    if not (asked.any() or given.any()):
        raise ValueError("query: got zeros, as key is, wanted a number to turn")
    if longest < 1:
        raise ValueError(f"longest: got {longest}, wanted at least 1")
    if len(positions) != 2 or not all(0 <= position <= longest for position in positions):
        raise ValueError(f"positions: got {positions}, wanted two from 0 to {longest}")

    return playable(
        "rotary-angles",
        label,
        caption=caption,
        query=asked,
        key=given,
        frequencies=speeds,
        positions=[int(position) for position in positions],
        longest=int(longest),
    )
