"""Rotary positions: a query and a key whose pairs of features turn with their positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bookkit.figures._inputs import as_vector
from bookkit.playables._numbers import signed
from bookkit.playables.output import LiveOutput, pack
from companion.positions import rotary_frequencies, rotate
from companion.scores import scaled_dot_score

_RADIUS = 52  # of a dial, in its own units, which are pixels
_BOX = 68  # half of a dial's side
_WIDTH, _HEIGHT = 520, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 12, 508, 22, 150  # of the curve


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
) -> LiveOutput:
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
    Rotary positions as angles. Query at position 5, key at position 5: score 0.71 at distance 0.
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

    turned_query, turned_key = (
        rotate(vector[None], np.array([position]), frequencies=speeds)[0]
        for vector, position in zip((asked, given), positions, strict=True)
    )
    distances = np.arange(-longest, longest + 1)
    every = rotate(np.repeat(given[None], distances.size, 0), distances, frequencies=speeds)
    curve = scaled_dot_score(asked[None], every)[0]
    score = _product(turned_query, turned_key, width=asked.size)
    distance = positions[1] - positions[0]
    alt = (
        f"Query at position {positions[0]}, key at position {positions[1]}: "
        f"score {signed(score, 2)} at distance {signed(distance, 0)}."
    )
    return LiveOutput(
        "rotary-angles",
        drawing=_dials(turned_query, turned_key, speeds)
        + _score(positions, score)
        + _curve(curve, distance),
        data={
            "query": pack(asked, "float64"),
            "key": pack(given, "float64"),
            "frequencies": pack(speeds, "float64"),
            "positions": [int(position) for position in positions],
            "longest": int(longest),
        },
        label=label,
        alt=alt,
        caption=caption,
    )


def _product(query: NDArray[np.float64], key: NDArray[np.float64], *, width: int) -> float:
    """Return what some features of vectors of `width` give to the scaled score."""
    return float(query @ key) / math.sqrt(width)


def _dials(
    query: NDArray[np.float64], key: NDArray[np.float64], frequencies: NDArray[np.float64]
) -> str:
    pairs = frequencies.size
    scale = _RADIUS / max(np.hypot(vector[:pairs], vector[pairs:]).max() for vector in (query, key))
    dials = []
    for pair, frequency in enumerate(frequencies):
        ends = [vector[[pair, pair + pairs]] for vector in (query, key)]
        hands = "".join(
            _hand(kind, *(scale * end))
            for kind, end in zip(("key", "query"), reversed(ends), strict=True)
        )
        part = _product(ends[0], ends[1], width=query.size)
        dials.append(
            f'<div class="am-rotary-dial"><svg width="{2 * _BOX}" height="{2 * _BOX}"'
            f' viewBox="-{_BOX} -{_BOX} {2 * _BOX} {2 * _BOX}" role="img"'
            f' aria-label="Dial of pair {pair}: query and key as hands">'
            f'<circle class="am-rotary-ring" r="{_RADIUS}"/>{hands}</svg>'
            f"<div>pair {pair}, f = {frequency:.3g}<br>adds "
            f'<b class="am-rotary-part">{signed(part, 2)}</b></div></div>'
        )
    return f'<div class="am-rotary-dials" data-am-scale="{scale:.6g}">{"".join(dials)}</div>'


def _hand(kind: str, x: float, y: float) -> str:
    radius = 5 if kind == "query" else 8.5  # both show where they lie on each other
    return (
        f'<g class="am-rotary-{kind}"><line x2="{x:.2f}" y2="{-y:.2f}"/>'
        f'<circle cx="{x:.2f}" cy="{-y:.2f}" r="{radius}"/></g>'
    )


def _score(positions: Sequence[int], score: float) -> str:
    said = {
        "i": str(positions[0]),
        "j": str(positions[1]),
        "distance": signed(positions[1] - positions[0], 0),
        "sum": signed(score, 2),
    }
    i, j, distance, total = (f'<b class="am-rotary-{name}">{n}</b>' for name, n in said.items())
    return (
        f'<p class="am-rotary-score">Query at position {i}, key at position {j}, '
        f"distance {distance}: score {total}</p>"
    )


def _curve(scores: NDArray[np.float64], distance: int) -> str:
    longest = (scores.size - 1) // 2
    low, high = min(0.0, float(scores.min())), max(0.0, float(scores.max()))
    across = np.linspace(_LEFT, _RIGHT, scores.size)
    down = _BOTTOM - (_BOTTOM - _TOP) * (scores - low) / (high - low)
    zero = _BOTTOM - (_BOTTOM - _TOP) * (0 - low) / (high - low)
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=True))
    here = longest + distance
    ticks = "".join(
        f'<text x="{across[longest + tick]:.1f}" y="176" text-anchor="{anchor}">{signed(tick, 0)}'
        "</text>"
        for tick, anchor in ((-longest, "start"), (0, "middle"), (longest, "end"))
    )
    words = (
        f"Score over the distance from {-longest} to {longest}: at 0 {scores[longest]:.2f}, "
        f"lowest {scores.min():.2f}, highest {scores.max():.2f}."
    )
    return (
        f'<svg class="am-rotary-curve" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"'
        f' aria-label="{escape(words)}"><path class="am-rotary-axis" d="M{_LEFT} {zero:.1f}'
        f'H{_RIGHT}M{across[longest]:.1f} {_TOP}V{_BOTTOM}"/><polyline points="{points}"/>'
        f'<circle class="am-rotary-here" cx="{across[here]:.1f}" cy="{down[here]:.1f}" r="7"/>'
        f'<text x="{_LEFT}" y="14">score, from {signed(scores.min(), 2)} to'
        f" {signed(scores.max(), 2)}</text>{ticks}"
        '<text x="390" y="176" text-anchor="middle">distance j − i →</text></svg>'
    )
