"""The online softmax, one tile at a time: the maximum, the sum and the factor between them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from companion.contracts import contract
from companion.pages.plot._inputs import as_vector
from companion.pages.plot.live._numbers import precise, signed
from companion.pages.plot.live.output import LiveOutput
from companion.tiled import online_softmax

_LEFT, _TOP, _BASE, _WIDE, _HIGH = 36, 30, 164, 480, 212  # of the drawing's plot, in its units
_BAR = 0.8  # of the room that a score has


@contract(tile=">= 1")
def online_softmax_steps(scores: Any, *, tile: int = 3, caption: str = "") -> LiveOutput:
    """Show a row of scores going through an online softmax (Milakov & Gimelshein, 2018).

    Without scripts it shows the tile at which the old bars shrink most, above a table of all tiles.

    Args:
        scores: (k,) scores, two to sixteen.
        tile: scores a tile, to begin with.
        caption: the words below it.

    Raises:
        TypeError: `scores` holds no numbers, or `tile` is not whole.
        ValueError: too few or too many scores, one that is not finite, or a tile without a score or
            with more than there are.

    >>> online_softmax_steps([0.0, 2.0, 1.0, 3.0], tile=2)
    Online softmax, tile by tile. Bars of exp(score - m) for 4 scores in tiles of 2. At tile 2 the \
maximum m rises from 2.0 to 3.0 and the bars before it shrink to 0.37 of their height. At the end \
m = 3.0 and the sum is 1.55, as for the whole row at once.
    """
    given = as_vector(scores, "scores")
    if not 2 <= given.size <= 16 or not np.isfinite(given).all():
        raise ValueError(f"scores: got {given.tolist()}, wanted 2 to 16 finite numbers")
    if tile > given.size:
        raise ValueError(f"tile: got {tile}, wanted at most the {given.size} scores")
    steps = _steps(given, tile)
    telling = min(range(len(steps)), key=lambda index: steps[index].factor if index else 1.0)
    return LiveOutput(
        "tiles",
        drawing=_drawing(given, steps, telling) + _table(given, steps),
        data={"scores": given.tolist(), "tile": int(tile)},
        label="Online softmax, tile by tile",
        alt=f"Bars of exp(score - m) for {given.size} scores in tiles of {tile}. "
        f"{_finding(steps, telling)} At the end m = {steps[-1].highest:.1f} and the sum is"
        f" {steps[-1].total:.2f}, as for the whole row at once.",
        caption=caption,
        state=_finding(steps, telling),
    )


class _Step(NamedTuple):
    """What is known after a tile has been taken in.

    Attributes:
        keys: positions of the tile.
        highest: the maximum so far, m.
        factor: what sums shrink by that were made with the maximum before.
        added: the tile's own sum of exp(score - m).
        total: the sum so far.
    """

    keys: range
    highest: float
    factor: float
    added: float
    total: float


def _steps(scores: NDArray[np.float64], tile: int) -> list[_Step]:
    steps: list[_Step] = []
    before = -np.inf
    for start in range(0, scores.size, tile):
        keys = range(start, min(start + tile, scores.size))
        blocks = [scores[None, first : first + tile] for first in range(0, keys.stop, tile)]
        highest, total = (float(part[0]) for part in online_softmax(blocks))
        added = float(np.exp(scores[keys.start : keys.stop] - highest).sum())
        steps.append(_Step(keys, highest, float(np.exp(before - highest)), added, total))
        before = highest
    return steps


def _finding(steps: list[_Step], telling: int) -> str:
    if telling == 0 or steps[telling].factor == 1:
        return "The maximum m stands in the first tile, and no bar shrinks."
    return (
        f"At tile {telling + 1} the maximum m rises from {steps[telling - 1].highest:.1f} to"
        f" {steps[telling].highest:.1f} and the bars before it shrink to"
        f" {steps[telling].factor:.2f} of their height."
    )


def _drawing(scores: NDArray[np.float64], steps: list[_Step], telling: int) -> str:
    step, room = steps[telling], (_WIDE - _LEFT) / scores.size
    known = steps[telling - 1].highest if telling else step.highest
    levels = "".join(
        f'<line class="am-tiles-level" x1="{_LEFT}" x2="{_WIDE}" y1="{_y(level):g}"'
        f' y2="{_y(level):g}"/><text class="am-tiles-axis" x="{_LEFT - 6}"'
        f' y="{_y(level) + 5:g}">{name}</text>'
        for level, name in ((0.0, "0"), (0.5, "½"), (1.0, "1"))
    )
    slots = []
    for j, score in enumerate(scores.tolist()):
        left, middle = _LEFT + room * (j + (1 - _BAR) / 2), _LEFT + room * (j + 0.5)
        height = float(np.exp(score - step.highest)) if j < step.keys.stop else 0.0
        old = float(np.exp(score - known)) if j < step.keys.start and step.factor < 1 else 0.0
        new = " am-tiles-new" if j in step.keys else ""
        later = " am-tiles-unread" if j >= step.keys.stop else ""
        span = f'x="{left:.2f}" width="{room * _BAR:.2f}"'
        slots.append(
            f'<rect class="am-tiles-bar{new}" {span} {_standing(height)}'
            f' data-am-value="{precise(height)}"/>'
            f'<rect class="am-tiles-before" {span} {_standing(old)}'
            f' data-am-value="{precise(old)}"/>'
            f'<line class="am-tiles-whole" x1="{left - 2:.2f}" x2="{left + room * _BAR + 2:.2f}"'
            f' y1="{_BASE}" y2="{_BASE}" visibility="hidden"/>'
            f'<text class="am-tiles-score{later}" x="{middle:.2f}" y="{_BASE + 19}"'
            f' data-am-value="{precise(score)}">{signed(score, 1)}</text>'
        )
    return (
        f'<svg class="am-tiles-chart" viewBox="0 0 {_WIDE} {_HIGH}" role="img"'
        f' aria-label="{_finding(steps, telling)}">'
        f'<text class="am-tiles-title" x="0" y="15">exp(score − m), m = {step.highest:.1f}</text>'
        f"{levels}{''.join(slots)}{_bracket(step.keys, room, telling)}</svg>"
    )


def _y(value: float) -> float:
    return _BASE - (_BASE - _TOP) * value


def _standing(height: float) -> str:
    return f'y="{_y(height):.2f}" height="{_BASE - _y(height):.2f}"'


def _bracket(keys: range, room: float, number: int) -> str:
    """Underline the scores of a tile."""
    left, right = _LEFT + room * keys.start + 3, _LEFT + room * keys.stop - 3
    return (
        f'<line class="am-tiles-bracket" x1="{left:.2f}" x2="{right:.2f}" y1="{_BASE + 27}"'
        f' y2="{_BASE + 27}"/><text class="am-tiles-tile" x="{(left + right) / 2:.2f}"'
        f' y="{_BASE + 44}">tile {number + 1}</text>'
    )


def _table(scores: NDArray[np.float64], steps: list[_Step]) -> str:
    befores = [0.0, *(step.total for step, _ in pairwise(steps))]
    rows = "".join(
        f'<tr><th scope="row">{number}</th>{_cell(step.highest, 1)}'
        f"{_cell(step.factor, 2) if number > 1 else _cell(0.0, None)}"
        f"{_cell(step.factor * before if number > 1 else 0.0, 2)}"
        f"{_cell(step.added, 2)}{_cell(step.total, 2)}</tr>"
        for number, (step, before) in enumerate(zip(steps, befores, strict=True), 1)
    )
    highest = float(scores.max())
    whole = float(np.exp(scores - highest).sum())
    names = ("tile", "m", "factor", "old ℓ × factor", "+ tile", "= ℓ")
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        f'<table class="am-tiles-table"><thead><tr>{heads}</tr></thead>'
        f'<tbody>{rows}</tbody><tfoot><tr><th scope="row">whole row</th>{_cell(highest, 1)}'
        f"{_cell(None, None) * 3}{_cell(whole, 2)}</tr></tfoot></table>"
    )


def _cell(value: float | None, decimals: int | None) -> str:
    exact = "" if value is None else f' data-am-value="{precise(value)}"'
    shown = "–" if value is None or decimals is None else signed(value, decimals)
    return f"<td{exact}>{shown}</td>"
