"""Names of curves where the curves are, instead of in a box beside them."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Annotation
from scipy.optimize import isotonic_regression

from bookkit.figures.colours import letter_color
from bookkit.inputs import as_vector

_NEAR_EDGE = 30  # points


class LineEnd(NamedTuple):
    """Where a curve ends and what it is called."""

    x: float
    y: float
    text: str
    color: str


def label_ends(
    ax: Axes, ends: Iterable[tuple[float, float, str, str]], *, separation: float = 13.0
) -> None:
    """Write each curve's name at its end, in its colour; names that would touch move apart.

    Call it last: the positions are measured on the page.

    Args:
        ax: where the curves are.
        ends: (x, y, text, color) each, as `band` returns them.
        separation: points from one name to the next, at least.

    >>> from matplotlib import pyplot as plt
    >>> _, ax = plt.subplots()
    >>> label_ends(ax, [LineEnd(1.0, 0.5, "additive", "#1d6571")])
    """
    ax.figure.canvas.draw()  # settles the layout
    to_points = 72 / ax.figure.dpi
    edge = ax.get_window_extent().x1
    order = sorted(ends, key=lambda end: end[1])
    points = [ax.transData.transform((x, y)) for x, y, _, _ in order]
    heights = [float(height) * to_points for _, height in points]
    for (x, y, text, color), (right, _), height, moved in zip(
        order, points, heights, _spread(heights, separation), strict=True
    ):
        # A curve that all but reaches the edge has its name outside the axes, as the others have.
        at_edge = 0 <= (edge - float(right)) * to_points < _NEAR_EDGE
        ax.annotate(
            text, (1 if at_edge else x, y), (6, moved - height), textcoords="offset points",
            xycoords=("axes fraction" if at_edge else "data", "data"), color=letter_color(color),
            va="center", weight="bold", annotation_clip=False,
        )  # fmt: skip


def label_along(ax: Axes, x: Any, y: Any, text: str, *, at: float, color: str) -> None:
    """Write a name above a curve, turned to the slope that the curve has on the page.

    Args:
        ax: where the curve is, with any scale.
        x: (n,) positions, rising, n at least 2.
        y: (n,) values.
        text: what to write.
        at: the position along x of the text's middle.
        color: the curve's colour.

    >>> from matplotlib import pyplot as plt
    >>> _, ax = plt.subplots()
    >>> label_along(ax, [1, 2], [1, 4], "quadratic", at=1.5, color="#1d6571")
    """
    along = as_vector(x, "x")
    values = as_vector(y, "y", along.size)
    if not along[0] <= at <= along[-1] or along.size < 2:
        raise ValueError(f"at: got {at}, wanted a position from {along[0]:g} to {along[-1]:g}")
    ax.add_artist(_AlongCurve(ax, np.column_stack([along, values]), text, at, color))


class _AlongCurve(Annotation):
    """A text that takes its angle from the curve each time it is drawn, as the layout moves."""

    def __init__(self, ax: Axes, curve: Any, text: str, at: float, color: str) -> None:
        self._curve_axes, self._curve, self._at = ax, curve, at
        super().__init__(
            text, (at, float(np.interp(at, *curve.T))), (0, 5),
            xycoords="data", textcoords="offset points", color=letter_color(color), weight="bold",
            rotation_mode="anchor", ha="center", va="bottom",
        )  # fmt: skip

    def get_rotation(self) -> float:
        x = self._curve[:, 0]
        right = int(np.clip(np.searchsorted(x, self._at), 1, x.size - 1))
        around = self._curve[right - 1 : right + 1]
        (x0, y0), (x1, y1) = self._curve_axes.transData.transform(around)
        return math.degrees(math.atan2(y1 - y0, x1 - x0))


def _spread(heights: Sequence[float], separation: float) -> list[float]:
    """Move sorted heights at least `separation` apart, by the least sum of squares.

    In the gaps' own frame this is isotonic regression.

    >>> _spread([0.0, 10.0, 11.0], 4.0)
    [0.0, 8.5, 12.5]
    """
    ranks = separation * np.arange(len(heights))
    spread: list[float] = (isotonic_regression(np.asarray(heights) - ranks).x + ranks).tolist()
    return spread
