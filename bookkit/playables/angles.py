"""Rotary positions: a query and a key whose pairs of features turn with their positions."""

from typing import Any

from bookkit.inputs import FINITE, as_vector, in_span
from bookkit.playables.playable import Playable, playable
from companion.positions import rotary_frequencies

_CAPTION = (
    "The score depends on the distance alone. Each dial is one pair of features: the query (solid, "
    "with a dot) and the key (dashed, with a ring), turned by f radians a position. The score is "
    "the sum of what the pairs add. The curve shows it at every distance; its level line is 0."
)


def rotary_angles(
    query: Any,
    key: Any,
    *,
    frequencies: Any | None = None,
    positions: tuple[int, int] = (3, 7),
    longest: int = 32,
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

    >>> rotary_angles([1.0, 0.0], [1.0, 0.0], positions=(5, 5))
    Rotary positions as angles: a drawing to play with.
    """
    asked = as_vector(query, "query", within=FINITE)
    given = as_vector(key, "key", asked.size, within=FINITE)
    if asked.size % 2 or asked.size > 16:
        raise ValueError(f"query: got width {asked.size}, wanted an even one, at most 16")
    rates = rotary_frequencies(asked.size) if frequencies is None else frequencies
    speeds = as_vector(rates, "frequencies", asked.size // 2, within=FINITE)
    if not (asked.any() or given.any()):
        raise ValueError("query: got zeros, as key is, wanted a number to turn")
    if longest < 1:
        raise ValueError(f"longest: got {longest}, wanted at least 1")
    for position in positions:
        in_span(position, "positions", 0, longest)
    return playable(
        "rotary-angles",
        "Rotary positions as angles",
        caption=_CAPTION,
        query=asked,
        key=given,
        frequencies=speeds,
        positions=[int(position) for position in positions],
        longest=int(longest),
    )
