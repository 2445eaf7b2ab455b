"""Self-attention on words that a reader moves: what a word gets stays, unless order is seen."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bookkit.figures._inputs import Numbers, as_labels, as_matrix
from bookkit.playables._numbers import precise, signed
from bookkit.playables.output import LiveOutput, pack
from companion.attention import self_attention

_UNIT, _LABEL, _HEAD = 84, 15, 9
"""Of the drawing: a step of 1, a word's distance from its arrow, an arrowhead."""
_EDGE, _BESIDE, _ABOVE = 10, 62, 32
"""Of the drawing: how far the axes go on, and room beside and above all vectors, for words."""
_LINES = ("weight", "result", "change")


class _Plane(NamedTuple):
    """Where vectors lie in the drawing.

    Attributes:
        low: (2,) the least number of any vector, by axis.
        high: (2,) the largest.
    """

    low: Numbers
    high: Numbers

    @property
    def size(self) -> tuple[float, float]:
        wide, tall = _UNIT * (self.high - self.low) + 2 * np.array([_BESIDE, _ABOVE])
        return float(wide), float(tall)

    def at(self, vector: Numbers) -> tuple[float, float]:
        return (
            float(_UNIT * (vector[0] - self.low[0]) + _BESIDE),
            float(_UNIT * (self.high[1] - vector[1]) + _ABOVE),
        )


def word_order(
    words: Sequence[str],
    vectors: Any,
    query_weight: Any,
    key_weight: Any,
    value_weight: Any,
    *,
    chosen: int = 0,
    caption: str = "",
) -> LiveOutput:
    """Show a layer of self-attention in the plane, and let the reader put its words in any order.

    The table has a column for each word, with the weight that the chosen word puts on it, its
    result, and how far this lies from its result in the order that is given here. A box to tick
    lets every word see itself and the words before it alone.

    Args:
        words: n different words, in their order.
        vectors: (n, 2) what goes in.
        query_weight: (2, d).
        key_weight: (2, d).
        value_weight: (2, 2): results lie in the plane of the words.
        chosen: the word whose weights are shown at first.
        caption: the words below.

    Raises:
        TypeError: an array holds no numbers.
        ValueError: shapes and words disagree, a word occurs twice, or `chosen` is none of them.

    >>> same = [[1.0, 0.0], [0.0, 1.0]]
    >>> word_order(["new", "house"], [[1.0, 1.0], [2.0, 0.0]], same, same, same, chosen=1)
    Self-attention on words to move. Order: new house. Every word sees all words. From house: new \
0.20, house 0.80. Its result is (1.80, 0.20), changed by 0.00. The largest change of any word is \
0.00.
    """
    given = as_matrix(vectors, "vectors")
    names = as_labels(words, "words", len(given), "vector")
    weights = {
        "query_weight": as_matrix(query_weight, "query_weight"),
        "key_weight": as_matrix(key_weight, "key_weight"),
        "value_weight": as_matrix(value_weight, "value_weight"),
    }
    _check(names, given, weights["value_weight"], chosen)
    output, shares = self_attention(given, **weights)
    ends = np.vstack([np.zeros(2), given, given @ weights["value_weight"]])
    plane = _Plane(ends.min(axis=0), ends.max(axis=0))
    finding = _finding(names, chosen, shares[chosen], output[chosen])
    return LiveOutput(
        "word-order",
        drawing=_chart(names, given, plane, output[chosen], chosen, finding)
        + _table(names, chosen, shares[chosen], output),
        data={
            "words": names,
            "vectors": pack(given, "float64"),
            "query": pack(given @ weights["query_weight"], "float64"),
            "key": pack(given @ weights["key_weight"], "float64"),
            "value": pack(given @ weights["value_weight"], "float64"),
            "chosen": chosen,
            "plot": {"unit": _UNIT, "head": _HEAD, "zero": plane.at(np.zeros(2))},
        },
        label="Self-attention on words to move",
        alt=finding,
        caption=caption,
        state=f"{_setting(names)} The word that looks: {names[chosen]}.",
    )


def _check(names: list[str], vectors: Numbers, value_weight: Numbers, chosen: int) -> None:
    if vectors.shape[1] != 2:
        raise ValueError(f"vectors: got shape {vectors.shape}, wanted (n, 2)")
    if value_weight.shape[1] != 2:
        raise ValueError(f"value_weight: got shape {value_weight.shape}, wanted (2, 2)")
    if len(set(names)) < len(names):
        raise ValueError(f"words: got {names}, wanted different ones")
    if not 0 <= chosen < len(names):
        raise ValueError(f"chosen: got {chosen}, wanted 0 to {len(names) - 1}")


def _setting(names: Sequence[str]) -> str:
    return f"Order: {' '.join(names)}. Every word sees all words."


def _finding(
    names: Sequence[str],
    chosen: int,
    shares: NDArray[np.float64],
    result: NDArray[np.float64],
) -> str:
    looks = ", ".join(f"{name} {share:.2f}" for name, share in zip(names, shares, strict=True))
    x, y = (signed(float(number), 2) for number in result)
    return (
        f"{_setting(names)} From {names[chosen]}: {looks}. Its result is ({x}, {y}), changed by"
        " 0.00. The largest change of any word is 0.00."
    )


def _chart(
    names: Sequence[str],
    vectors: Numbers,
    plane: _Plane,
    result: NDArray[np.float64],
    chosen: int,
    finding: str,
) -> str:
    wide, tall = plane.size
    x0, y0 = plane.at(np.zeros(2))
    left, top = _BESIDE - _EDGE, _ABOVE - _EDGE
    parts = [
        f'<path class="am-word-order-axis" d="M{left} {y0:g}H{wide - left:g}M{x0:g} {top}'
        f'V{tall - top:g}"/>'
    ]
    for number, (name, vector) in enumerate(zip(names, vectors, strict=True)):
        parts.append(_word(plane, name, vector, chosen=number == chosen))
    x, y = plane.at(result)
    start_x, start_y = plane.at(vectors[chosen])
    parts.append(
        f'<line class="am-word-order-way" x1="{start_x:.1f}" y1="{start_y:.1f}" x2="{x:.1f}"'
        f' y2="{y:.1f}"/>'
        f'<path class="am-word-order-result" d="{_arrow(plane, result)}"/>'
        f'<circle class="am-word-order-home" cx="{x:.1f}" cy="{y:.1f}" r="11"/>'
    )
    return (
        f'<svg class="am-word-order-chart" viewBox="0 0 {wide:g} {tall:g}" role="img"'
        f' aria-label="{escape(finding)}">{"".join(parts)}</svg>'
    )


def _word(plane: _Plane, name: str, vector: Numbers, *, chosen: bool) -> str:
    long = float(np.hypot(*vector)) or 1.0
    x, y = plane.at(vector)
    right, up = vector / long * _LABEL
    anchor = "start" if right > _LABEL / 2 else "end" if right < -_LABEL / 2 else "middle"
    mark = " am-word-order-chosen" if chosen else ""
    return (
        f'<g class="am-word-order-arrow{mark}"><path d="{_arrow(plane, vector)}"/>'
        f'<text x="{x + right:.1f}" y="{y - up + 5:.1f}" text-anchor="{anchor}">{escape(name)}'
        "</text></g>"
    )


def _arrow(plane: _Plane, vector: NDArray[np.float64]) -> str:
    """Return the path of an arrow from the origin, with its head."""
    (x0, y0), (x, y) = plane.at(np.zeros(2)), plane.at(vector)
    long = float(np.hypot(x - x0, y - y0)) or 1.0
    along, across = _HEAD * (x - x0) / long, _HEAD * (y - y0) / long
    left = x - along - across / 2, y - across + along / 2
    right = x - along + across / 2, y - across - along / 2
    return (
        f"M{x0:.1f} {y0:.1f}L{x:.1f} {y:.1f}M{left[0]:.1f} {left[1]:.1f}L{x:.1f} {y:.1f}"
        f"L{right[0]:.1f} {right[1]:.1f}"
    )


def _table(
    names: Sequence[str],
    chosen: int,
    shares: NDArray[np.float64],
    output: NDArray[np.float64],
) -> str:
    heads = "".join(
        f'<th scope="col"{_marked(number == chosen)}>{escape(name)}</th>'
        for number, name in enumerate(names)
    )
    cells = (
        [_share(float(share)) for share in shares],
        [f"<td>{_number('x', row[0])} {_number('y', row[1])}</td>" for row in output],
        [f"<td>{_number('change', 0.0)}</td>" for _ in names],
    )
    body = "".join(
        f'<tr><th scope="row">{said}</th>{"".join(line)}</tr>'
        for said, line in zip(_LINES, cells, strict=True)
    )
    return (
        f'<table class="am-word-order-table"><thead><tr><td></td>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _marked(chosen: bool) -> str:
    return ' class="am-word-order-chosen"' if chosen else ""


def _share(share: float) -> str:
    ink = round(10 * share)  # in tenths: without a script there are classes alone
    return (
        f'<td><span class="am-word-order-bar am-ink-{ink}"></span>{_number("weight", share)}</td>'
    )


def _number(part: str, value: float) -> str:
    return (
        f'<span class="am-word-order-{part}" data-am-value="{precise(float(value))}">'
        f"{signed(float(value), 2)}</span>"
    )
