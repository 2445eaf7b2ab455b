"""Query, keys and blend as arrows in the plane: a soft lookup that the reader turns by hand."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bookkit.figures._inputs import as_labels, as_matrix
from bookkit.playables._numbers import precise, signed
from bookkit.playables.output import LiveOutput
from companion.attention import attend, masked_softmax
from companion.scores import dot_score

SCORES = ("dot product", "Gaussian")
TEMPERATURES = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 50, 100)
STEPS = 10
"""Steps of the query, and of the length of a key, from one whole number to the next."""
REACH = ((-2.0, 4.0), (-2.0, 2.0))
"""How far the query goes, in each of the two directions."""
LENGTHS = (0.5, 3.5)
_UNIT, _LEFT, _TOP = 50, -2.2, 2.5
_WIDE, _HIGH = 350, 250
_HEAD, _BESIDE = 9, 20

Plane = NDArray[np.float64]


def arrow_lookup(
    words: Sequence[str],
    vectors: Any,
    *,
    query: tuple[float, float] = (1.0, 1.0),
    temperature: float = 1,
    stretched: str,
    length: float,
    score: str = "dot product",
    caption: str = "",
) -> LiveOutput:
    """Show a soft lookup among arrows; the reader drags the query and turns what it depends on.

    The vectors are keys and values in one, but for one word: its key has the length that the
    reader sets, and its value stays what it is. The Gaussian score is -|q - k|^2 / 2.

    Args:
        words: k words.
        vectors: (k, 2) one vector for each, none of them zero.
        query: to begin with, in tenths within `REACH`.
        temperature: by which scores are divided, to begin with; one of `TEMPERATURES`.
        stretched: the word whose key can be made longer and shorter.
        length: of that key to begin with, in tenths within `LENGTHS`.
        score: to begin with, one of `SCORES`.
        caption: the words below it.

    Raises:
        TypeError: `vectors` holds no numbers.
        ValueError: words and vectors disagree, or a setting is none of the controls'.

    >>> arrow_lookup(["the", "new", "house"], [[0, 1], [1, 1], [2, 0]],
    ...              stretched="house", length=2.0)
    A soft lookup among arrows. Query (1.0, 1.0), dot product, temperature 1, house has length \
2.0: new and house have the largest weight, 0.42. The blend is (1.27, 0.58).
    """
    value = as_matrix(vectors, "vectors").astype(np.float64)
    names = as_labels(words, "words", value.shape[0], "row")
    _check(value, names, stretched)
    _check_settings(query, temperature, length, score)
    place = names.index(stretched)
    key = value.copy()
    key[place] *= length / np.linalg.norm(value[place])
    view = _look(np.array(query), key, value, temperature, score)
    chosen = (
        f"Query ({signed(query[0], 1)}, {signed(query[1], 1)}), {score}, temperature"
        f" {temperature:g}, {stretched} has length {length:.1f}"
    )
    finding = f"{chosen}: {_finding(names, view)}"
    return LiveOutput(
        "arrow-lookup",
        drawing=_plane(names, np.array(query), key, value, view, finding) + _bars(names, view),
        data={
            "words": names,
            "values": value.tolist(),
            "stretched": place,
            "scores": SCORES,
            "temperatures": TEMPERATURES,
            "steps": STEPS,
            "reach": REACH,
            "lengths": [round(end * STEPS) for end in LENGTHS],
            "query": [round(number * STEPS) for number in query],
            "temperature": TEMPERATURES.index(temperature),
            "length": round(length * STEPS),
            "score": SCORES.index(score),
            "plot": {
                "unit": _UNIT, "left": _LEFT, "top": _TOP, "head": _HEAD, "beside": _BESIDE,
            },
        },
        label="A soft lookup among arrows",
        alt=finding,
        caption=caption,
        state=f"{chosen}.",
    )  # fmt: skip


class _View(NamedTuple):
    """What one query finds.

    Attributes:
        scores: (k,) before they are divided by the temperature.
        weights: (k,) which sum to 1.
        blend: (2,) the values, blended.
    """

    scores: Plane
    weights: Plane
    blend: Plane


def _check(value: Plane, names: Sequence[str], stretched: str) -> None:
    if value.shape[1] != 2 or not np.isfinite(value).all():
        raise ValueError(f"vectors: got shape {value.shape}, wanted (k, 2) finite numbers")
    if not np.linalg.norm(value, axis=1).all():
        raise ValueError("vectors: got one of length 0, wanted arrows that point somewhere")
    if stretched not in names:
        raise ValueError(f"stretched: got {stretched!r}, wanted one of {', '.join(names)}")


def _check_settings(
    query: tuple[float, float], temperature: float, length: float, score: str
) -> None:
    for name, number, (low, high) in (
        ("query", query[0], REACH[0]),
        ("query", query[1], REACH[1]),
        ("length", length, LENGTHS),
    ):
        if not low <= number <= high or number != round(number * STEPS) / STEPS:
            raise ValueError(f"{name}: got {number}, wanted tenths from {low:g} to {high:g}")
    if temperature not in TEMPERATURES:
        raise ValueError(f"temperature: got {temperature}, wanted one of {TEMPERATURES}")
    if score not in SCORES:
        raise ValueError(f"score: got {score!r}, wanted one of {SCORES}")


def _look(query: Plane, key: Plane, value: Plane, temperature: float, score: str) -> _View:
    if score == "Gaussian":
        scores = -np.square(query - key).sum(-1)[None] / 2
    else:
        scores = dot_score(query[None], key)
    weights = masked_softmax(scores / temperature)
    return _View(scores[0], weights[0], attend(weights, value)[0])


def _finding(names: Sequence[str], view: _View) -> str:
    most = float(view.weights.max())
    best = [name for name, weight in zip(names, view.weights, strict=True) if most - weight < 1e-9]
    verb = "has" if len(best) == 1 else "have"
    x, y = (signed(float(number), 2) for number in view.blend)
    return f"{' and '.join(best)} {verb} the largest weight, {most:.2f}. The blend is ({x}, {y})."


def _place(point: Plane) -> tuple[float, float]:
    """Return where a point of the plane is drawn."""
    return _UNIT * (float(point[0]) - _LEFT), _UNIT * (_TOP - float(point[1]))


def _plane(
    names: Sequence[str], query: Plane, key: Plane, value: Plane, view: _View, finding: str
) -> str:
    x, y = _place(query)
    blend = _place(view.blend)
    corners = " ".join("{:.1f},{:.1f}".format(*_place(value[at])) for at in _hull(value))
    parts = [
        f'<polygon class="am-arrow-lookup-hull" points="{corners}"/>',
        *(
            f'<path class="am-arrow-lookup-key" d="{_arrow(one)}" stroke-width="{_thick(weight)}"/>'
            for one, weight in zip(key, view.weights, strict=True)
        ),
        *(
            '<circle class="am-arrow-lookup-value" cx="{:g}" cy="{:g}" r="3.5"/>'.format(
                *_place(one)
            )
            for one in value
        ),
        *(_word(name, one) for name, one in zip(names, key, strict=True)),
        f'<path class="am-arrow-lookup-query" d="{_arrow(query)}"/>',
        f'<path class="am-arrow-lookup-blend" d="{_arrow(view.blend)}"/>',
        f'<text class="am-arrow-lookup-blend-name" x="{blend[0]:.1f}" y="{blend[1] + 18:.1f}">'
        "blend</text>",
        f'<g class="am-arrow-lookup-handle"><circle class="am-arrow-lookup-hit" cx="{x:g}"'
        f' cy="{y:g}" r="18"/><circle class="am-arrow-lookup-knob" cx="{x:g}" cy="{y:g}" r="11"/>'
        f'<text x="{x:g}" y="{y + 5:g}">q</text></g>',
    ]
    return (
        f'<svg class="am-arrow-lookup-plane" viewBox="0 0 {_WIDE} {_HIGH}" role="group"'
        f' aria-label="{escape(finding)}">{_axes()}{"".join(parts)}</svg>'
    )


def _axes() -> str:
    x, y = _place(np.zeros(2))
    return (
        f'<line class="am-arrow-lookup-axis" x1="0" x2="{_WIDE}" y1="{y:g}" y2="{y:g}"/>'
        f'<line class="am-arrow-lookup-axis" x1="{x:g}" x2="{x:g}" y1="0" y2="{_HIGH}"/>'
    )


def _hull(value: Plane) -> list[int]:
    """Return the corners of the convex hull, in order; all vectors where there is no area."""
    if np.linalg.matrix_rank(value - value[0]) < 2:
        return list(range(len(value)))
    from scipy.spatial import ConvexHull

    return [int(corner) for corner in ConvexHull(value).vertices]


def _arrow(tip: Plane) -> str:
    """Return the path of an arrow from the origin, with a head unless it is too short for one."""
    (x0, y0), (x, y) = _place(np.zeros(2)), _place(tip)
    shaft = f"M{x0:.1f} {y0:.1f}L{x:.1f} {y:.1f}"
    if np.hypot(x - x0, y - y0) < _HEAD:
        return shaft
    angle = np.arctan2(y - y0, x - x0)
    ends = (
        (x - _HEAD * np.cos(angle + side), y - _HEAD * np.sin(angle + side)) for side in (-0.5, 0.5)
    )
    (x1, y1), (x2, y2) = ends
    return f"{shaft}M{x1:.1f} {y1:.1f}L{x:.1f} {y:.1f}L{x2:.1f} {y2:.1f}"


def _thick(weight: float) -> str:
    return f"{1.5 + 6 * weight:.2f}"


def _word(name: str, key: Plane) -> str:
    (x, y), far = _place(key), key / np.linalg.norm(key)
    anchor = "start" if far[0] > 0.5 else "end" if far[0] < -0.5 else "middle"
    return (
        f'<text class="am-arrow-lookup-word" x="{x + _BESIDE * far[0]:.1f}"'
        f' y="{y - _BESIDE * far[1] + 5:.1f}" text-anchor="{anchor}">{escape(name)}</text>'
    )


def _bars(names: Sequence[str], view: _View) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{_number("score", score)}'
        '<td><svg class="am-arrow-lookup-room" viewBox="0 0 100 12" preserveAspectRatio="none"'
        f' aria-hidden="true"><rect class="am-arrow-lookup-bar" width="{100 * weight:.2f}"'
        f' height="12"/></svg></td>{_number("weight", weight)}</tr>'
        for name, score, weight in zip(
            names, view.scores.tolist(), view.weights.tolist(), strict=True
        )
    )
    x, y = (
        f'<span class="am-arrow-lookup-found" data-am-value="{precise(number)}">'
        f"{signed(number, 2)}</span>"
        for number in view.blend.tolist()
    )
    return (
        '<div class="am-arrow-lookup-side"><table class="am-arrow-lookup-bars"><thead><tr>'
        '<th scope="col">key</th><th scope="col">score</th><th scope="colgroup" colspan="2">weight'
        f"</th></tr></thead><tbody>{rows}</tbody></table>"
        f'<p class="am-arrow-lookup-sum">blend ({x}, {y})</p></div>'
    )


def _number(part: str, number: float) -> str:
    said = signed(number, 2)
    return f'<td class="am-arrow-lookup-{part}" data-am-value="{precise(number)}">{said}</td>'
