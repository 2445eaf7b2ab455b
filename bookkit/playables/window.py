"""A window to move: what local attention sees of a sentence, and what its Gaussian is for."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bookkit.figures._inputs import as_labels, as_matrix
from bookkit.playables._numbers import precise, signed
from bookkit.playables.output import LiveOutput, pack
from companion.attention import masked_softmax

STEPS = 10
"""Steps of the slider from one word to the next."""
HALF_WIDTHS = (1, 2, 3, 4, 5)
_COLUMN, _BAR = 100, 44
_TOP, _BASE, _HIGH = 14, 184, 262
_EDGES = ("hard edge", "Gaussian")


def local_window(
    source: Sequence[str],
    target: Sequence[str],
    scores: Any,
    links: Sequence[int],
    *,
    row: int = 0,
    position: float = 0.0,
    half_width: int = 2,
    soft: bool = True,
    caption: str = "",
) -> LiveOutput:
    """Show the weights of one target word through a window that the reader moves and widens.

    The softmax runs over the words from p - D to p + D, which are counted from 0. With the
    Gaussian it is multiplied by exp(-(j - p)^2 / (2 sigma^2)) at word j, sigma = D / 2, as
    `LuongAttention` does for a predicted position. Dotted outlines show the weights without a
    window.

    Args:
        source: k words to look at.
        target: q words, of which one is written.
        scores: (q, k) scores of the target words for the source words.
        links: (q,) for every target word the place of the source word that it translates.
        row: the target word to begin with.
        position: p to begin with, in tenths from 0 to k - 1.
        half_width: D to begin with, one of `HALF_WIDTHS`.
        soft: begin with the Gaussian.
        caption: the words below it.

    Raises:
        TypeError: `scores` holds no numbers.
        ValueError: words, links and scores disagree, or a setting is none of the controls'.

    >>> local_window(["new", "house"], ["casa", "nueva"], [[0.0, 2.0], [1.0, 0.0]], [1, 0],
    ...              position=1.0, half_width=1)
    A window around a predicted position. Writing casa with p = 1.0 and D = 1, Gaussian: house has \
weight 0.88, without a window 0.88. All weights add up to 0.90. Moving p by a whole word would \
change the weight of house by 0.00, if it went on as it begins.
    """
    matrix = as_matrix(scores, "scores").astype(np.float64)
    below = as_labels(target, "target", matrix.shape[0], "row")
    above = as_labels(source, "source", matrix.shape[1], "column")
    _check(matrix, list(links), row, position, half_width)
    view = _view(matrix[row], position, half_width, soft, links[row])
    chosen = f"Writing {below[row]} with p = {position:.1f} and D = {half_width}, {_EDGES[soft]}"
    finding = f"{chosen}: {_finding(above[links[row]], view)}"
    return LiveOutput(
        "local-window",
        drawing=_chart(above, view, position, half_width, soft, finding)
        + _table(above[links[row]], view),
        data={
            "source": above,
            "target": below,
            "scores": pack(matrix, "float64"),
            "links": [int(place) for place in links],
            "halves": HALF_WIDTHS,
            "steps": STEPS,
            "edges": _EDGES,
            "row": row,
            "step": round(position * STEPS),
            "half": HALF_WIDTHS.index(half_width),
            "soft": int(soft),
            "plot": {"column": _COLUMN, "bar": _BAR, "top": _TOP, "base": _BASE},
        },
        label="A window around a predicted position",
        alt=finding,
        caption=caption,
        state=f"{chosen}.",
    )


class _View(NamedTuple):
    """What one query sees.

    Attributes:
        weights: (k,) through the window.
        whole: (k,) without a window.
        wanted: the place of the word that is translated.
        slope: of that word's weight along p.
    """

    weights: NDArray[np.float64]
    whole: NDArray[np.float64]
    wanted: int
    slope: float


def _check(
    matrix: NDArray[np.float64], links: list[int], row: int, position: float, half_width: int
) -> None:
    q, k = matrix.shape
    if not np.isfinite(matrix).all():
        raise ValueError("scores: got one that is not finite, wanted finite numbers")
    if len(links) != q or not all(0 <= place < k for place in links):
        raise ValueError(f"links: got {links}, wanted {q} places from 0 to {k - 1}")
    if not 0 <= row < q:
        raise ValueError(f"row: got {row}, wanted 0 to {q - 1}")
    if not 0 <= position <= k - 1 or position != round(position * STEPS) / STEPS:
        raise ValueError(f"position: got {position}, wanted tenths from 0 to {k - 1}")
    if half_width not in HALF_WIDTHS:
        raise ValueError(f"half_width: got {half_width}, wanted one of {HALF_WIDTHS}")


def _view(
    scores: NDArray[np.float64], position: float, half_width: int, soft: bool, wanted: int
) -> _View:
    distance = np.arange(len(scores)) - position
    weights = masked_softmax(scores[None], (np.abs(distance) <= half_width)[None])[0]
    slope = 0.0
    if soft:
        weights = weights * _gaussian(distance, half_width)
        slope = float(weights[wanted] * distance[wanted] / (half_width / 2) ** 2)
    return _View(weights, masked_softmax(scores[None])[0], wanted, slope)


def _gaussian(distance: NDArray[np.floating[Any]], half_width: int) -> NDArray[np.float64]:
    bell: NDArray[np.float64] = np.exp(-np.square(distance) / (2 * (half_width / 2) ** 2))
    return bell


def _finding(word: str, view: _View) -> str:
    return (
        f"{word} has weight {view.weights[view.wanted]:.2f}, without a window"
        f" {view.whole[view.wanted]:.2f}. All weights add up to {view.weights.sum():.2f}. Moving p"
        f" by a whole word would change the weight of {word} by {signed(view.slope, 2)}, if it went"
        " on as it begins."
    )


def _x(place: float) -> float:
    return _COLUMN * (place + 0.5)


def _y(weight: float) -> float:
    return _BASE - (_BASE - _TOP) * weight


def _chart(
    words: Sequence[str], view: _View, position: float, half_width: int, soft: bool, finding: str
) -> str:
    wide = _COLUMN * len(words)
    left, right = _x(position - half_width), _x(position + half_width)
    parts = [
        f'<rect class="am-local-window-sight" x="{left:.1f}" width="{right - left:.1f}" y="{_TOP}"'
        f' height="{_BASE - _TOP}"/>',
        f'<line class="am-local-window-axis" x1="0" x2="{wide}" y1="{_BASE}" y2="{_BASE}"/>',
    ]
    for place, word in enumerate(words):
        parts.append(_column(place, word, view))
    parts.append(
        f'<path class="am-local-window-bell" d="{_bell(position, half_width, soft)}"/>'
        f'<line class="am-local-window-aim" x1="{_x(position):.1f}" x2="{_x(position):.1f}"'
        f' y1="{_TOP}" y2="{_BASE}"/>'
    )
    return (
        f'<svg class="am-local-window-chart" viewBox="0 0 {wide} {_HIGH}" role="img"'
        f' aria-label="{escape(finding)}">{"".join(parts)}</svg>'
    )


def _column(place: int, word: str, view: _View) -> str:
    left, weight, whole = _x(place) - _BAR / 2, view.weights[place], view.whole[place]
    wanted = " am-local-window-wanted" if place == view.wanted else ""
    return (
        f'<rect class="am-local-window-bar" x="{left:g}" width="{_BAR}" y="{_y(weight):.2f}"'
        f' height="{_BASE - _y(weight):.2f}"/>'
        f'<rect class="am-local-window-whole" x="{left:g}" width="{_BAR}" y="{_y(whole):.2f}"'
        f' height="{_BASE - _y(whole):.2f}"/>'
        f'<text class="am-local-window-number" x="{_x(place):g}" y="{_BASE + 21}">{place}</text>'
        f'<text class="am-local-window-word{wanted}" x="{_x(place):g}" y="{_BASE + 46}">'
        f"{escape(word)}</text>"
        f'<text class="am-local-window-weight" x="{_x(place):g}" y="{_BASE + 71}"'
        f' data-am-value="{precise(weight)}">{weight:.2f}</text>'
    )


def _bell(position: float, half_width: int, soft: bool) -> str:
    """Return the path of the factor inside the window: a Gaussian, or 1 with a hard edge."""
    distance = np.linspace(-half_width, half_width, 41)
    height = _gaussian(distance, half_width) if soft else np.ones_like(distance)
    points = (
        f"{_x(position + far):.1f} {_y(tall):.1f}"
        for far, tall in zip(distance, height, strict=True)
    )
    return "M" + "L".join(points)


def _table(word: str, view: _View) -> str:
    readings = (
        (f"weight of {word}", view.weights[view.wanted]),
        (f"weight of {word} without a window", view.whole[view.wanted]),
        ("all weights together", view.weights.sum()),
        (f"slope of the weight of {word} along p", view.slope),
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(said)}</th><td class="am-local-window-reading"'
        f' data-am-value="{precise(value)}">{signed(value, 2)}</td></tr>'
        for said, value in readings
    )
    return f'<table class="am-local-window-readings"><tbody>{rows}</tbody></table>'
