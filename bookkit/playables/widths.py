"""Width and scale to touch: what they do to weights, and to the gradient that reaches a query."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bookkit.figures._inputs import as_matrix, as_numbers
from bookkit.playables._numbers import precise
from bookkit.playables.output import LiveOutput, pack
from companion.attention import masked_softmax

_WIDE, _HIGH, _LEFT = 480, 306, 30
_TOP, _BASE, _TITLE = 30, 124, 160
_FIRST_LANE, _LANE, _LANES = 182, 8, 9
_AXIS = 258
_DECADES = (-4, 1)
_PLOT = {
    "left": _LEFT,
    "right": _WIDE - 14,
    "top": _TOP,
    "base": _BASE,
    "low": _DECADES[0],
    "high": _DECADES[1],
}
_READINGS = (
    "largest weight of the marked query",
    "gradient at the typical query (median)",
    "the same with scores divided by √d",
    "queries that get less than that",
)


def width_explorer(
    widths: Sequence[int],
    scores: Any,
    lengths: Any,
    *,
    marked: int,
    width: int = 64,
    divided: bool = False,
    caption: str = "",
) -> LiveOutput:
    """Show the weights of one query, and how much gradient reaches many, by width and scale.

    Args:
        widths: (w,) the widths d to choose from, rising.
        scores: (w, k) dot products of the marked query with its keys at each width, not divided.
        lengths: (2, w, n) how long the gradient at each of n queries is at each width: first for
            scores that are not divided, then for scores divided by sqrt(d).
        marked: the number of the query that `scores` belongs to.
        width: the width to begin with, one of `widths`.
        divided: begin with scores that are divided by sqrt(d).
        caption: the words below it.

    Raises:
        TypeError: `scores` or `lengths` hold no numbers.
        ValueError: shapes disagree, a length is negative, or a setting is none of the controls'.

    >>> width_explorer([4, 16], [[2.0, 0.0], [8.0, 0.0]], [[[0.5], [0.1]], [[0.2], [0.3]]],
    ...                marked=0, width=16)
    Width, scale and gradient. Width 16, not divided: largest weight of the marked query 1.000, \
gradient at the typical query 0.100, with scores divided by √d 0.300.
    """
    table, reach = as_matrix(scores, "scores"), as_numbers(lengths, "lengths")
    _check(widths, table, reach, marked, width)
    at = list(widths).index(width)
    view = _view(table[at] / (math.sqrt(width) if divided else 1), reach[:, at], divided)
    chosen = f"Width {width}, {'' if divided else 'not '}divided"
    finding = f"{chosen}: {_finding(view)}"
    return LiveOutput(
        "width-scale",
        drawing=_chart(view, marked, finding) + _table(view),
        data={
            "widths": [int(one) for one in widths],
            "scores": pack(table),
            "lengths": pack(reach),
            "width": at,
            "divided": bool(divided),
            "plot": _PLOT,
        },
        label="Width, scale and gradient",
        alt=finding,
        caption=caption,
        state=f"Width d = {width}, scores {'' if divided else 'not '}divided by √d.",
    )


class _View(NamedTuple):
    """What is drawn at one width.

    Attributes:
        weights: (k,) of the marked query.
        lengths: (n,) of the gradient at each query.
        scaled: the median of these lengths if scores are divided by sqrt(d).
    """

    weights: NDArray[np.float64]
    lengths: NDArray[np.float64]
    scaled: float

    @property
    def readings(self) -> tuple[float, float, float, int]:
        """The numbers of the table, in its order."""
        fewer = int((self.lengths < self.scaled).sum())
        return float(self.weights.max()), float(np.median(self.lengths)), self.scaled, fewer


def _check(
    widths: Sequence[int],
    scores: NDArray[np.float64],
    lengths: NDArray[np.float64],
    marked: int,
    width: int,
) -> None:
    w = len(widths)
    if w < 2 or list(widths) != sorted(set(widths)) or widths[0] < 1:
        raise ValueError(f"widths: got {list(widths)}, wanted two or more that rise")
    if len(scores) != w or not np.isfinite(scores).all():
        raise ValueError(f"scores: got shape {scores.shape}, wanted ({w}, k) finite numbers")
    if lengths.ndim != 3 or lengths.shape[:2] != (2, w) or not lengths.size:
        raise ValueError(f"lengths: got shape {lengths.shape}, wanted (2, {w}, n)")
    if not (np.isfinite(lengths).all() and (lengths >= 0).all()):
        raise ValueError("lengths: got one that is no length, wanted finite numbers from 0 on")
    if not 0 <= marked < lengths.shape[-1]:
        raise ValueError(f"marked: got {marked}, wanted 0 to {lengths.shape[-1] - 1}")
    if width not in widths:
        raise ValueError(f"width: got {width!r}, wanted one of {', '.join(map(str, widths))}")


def _view(scores: NDArray[np.float64], lengths: NDArray[np.float64], divided: bool) -> _View:
    weights = masked_softmax(scores[None])[0]
    return _View(weights, lengths[int(divided)], float(np.median(lengths[1])))


def _finding(view: _View) -> str:
    largest, typical, scaled, _ = view.readings
    return (
        f"largest weight of the marked query {largest:.3f}, gradient at the typical query"
        f" {typical:.3f}, with scores divided by √d {scaled:.3f}."
    )


def _x(length: float) -> float:
    """Return where a length stands on the logarithmic axis; what is too short stands at its end."""
    low, high = _DECADES
    place = min(max(math.log10(max(length, 10.0 ** (low - 1))), low), high)
    return _LEFT + (place - low) / (high - low) * (_PLOT["right"] - _LEFT)


def _chart(view: _View, marked: int, finding: str) -> str:
    return (
        f'<svg class="am-width-scale-chart" viewBox="0 0 {_WIDE} {_HIGH}" role="img"'
        f' aria-label="{escape(finding)}">{_bars(view)}{_dots(view, marked)}</svg>'
    )


def _bars(view: _View) -> str:
    step = (_PLOT["right"] - _LEFT) / len(view.weights)
    bars = "".join(
        f'<rect class="am-width-scale-bar" x="{_LEFT + step * (key + 0.12):.1f}"'
        f' width="{0.76 * step:.1f}" y="{_BASE - (_BASE - _TOP) * weight:.2f}"'
        f' height="{(_BASE - _TOP) * weight:.2f}" data-am-value="{precise(weight)}"/>'
        for key, weight in enumerate(view.weights)
    )
    lines = "".join(
        f'<line class="am-width-scale-axis" x1="{_LEFT}" x2="{_PLOT["right"]}" y1="{y}" y2="{y}"/>'
        f'<text class="am-width-scale-tick am-width-scale-left" x="{_LEFT - 6}" y="{y + 5}">{said}'
        "</text>"
        for y, said in ((_TOP, "1"), (_BASE, "0"))
    )
    return (
        f'<text class="am-width-scale-title" x="{_LEFT}" y="18">weights of one query over'
        f" {len(view.weights)} keys</text>{lines}{bars}"
    )


def _dots(view: _View, marked: int) -> str:
    low, high = _DECADES
    ticks = "".join(
        f'<text class="am-width-scale-tick" x="{_x(10.0**power):.1f}" y="{_AXIS + 20}">'
        f"{10.0**power:g}</text>"
        f'<line class="am-width-scale-axis" x1="{_x(10.0**power):.1f}" x2="{_x(10.0**power):.1f}"'
        f' y1="{_AXIS}" y2="{_AXIS + 5}"/>'
        for power in range(low, high + 1)
    )
    dots = "".join(
        f'<circle class="am-width-scale-dot{" am-width-scale-marked" if one == marked else ""}"'
        f' cx="{_x(length):.2f}" cy="{_FIRST_LANE + _LANE * (7 * one % _LANES)}"'
        f' r="{6 if one == marked else 4.5}" data-am-value="{precise(length)}"/>'
        for one, length in enumerate(view.lengths)
    )
    _, typical, scaled, _ = view.readings
    medians = "".join(
        f'<line class="am-width-scale-{name}" x1="{_x(value):.2f}" x2="{_x(value):.2f}"'
        f' y1="{_FIRST_LANE - 12}" y2="{_AXIS}"/>'
        for name, value in (("scaled", scaled), ("typical", typical))
    )
    return (
        f'<text class="am-width-scale-title" x="{_LEFT}" y="{_TITLE}">gradient that reaches each of'
        f' {len(view.lengths)} queries</text><line class="am-width-scale-axis" x1="{_LEFT}"'
        f' x2="{_PLOT["right"]}" y1="{_AXIS}" y2="{_AXIS}"/>{ticks}{medians}{dots}'
    )


def _table(view: _View) -> str:
    rows = "".join(
        f'<tr><th scope="row">{name}</th><td class="am-width-scale-reading"'
        f' data-am-value="{precise(value)}">{_short(value)}</td></tr>'
        for name, value in zip(_READINGS, view.readings, strict=True)
    )
    return f'<table class="am-width-scale-readings"><tbody>{rows}</tbody></table>'


def _short(number: float) -> str:
    """Write a count as it is, and any other number with three digits after the point."""
    return str(number) if isinstance(number, int) else f"{number:.3f}"
