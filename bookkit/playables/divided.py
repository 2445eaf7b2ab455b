"""A head whose weight the reader divides between two questions, and what can be read of either."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bookkit.figures._inputs import as_labels
from bookkit.playables._numbers import precise
from bookkit.playables.output import LiveOutput
from companion.attention import attend

STEPS = 60
"""Steps of a slider: halves, thirds, quarters and fifths of the weight are among them."""
NOTHING = 1e-9
"""A distance below this is none."""
ANSWERS = tuple(product((0, 1), repeat=2))
"""The answers to the two questions in the four sentences."""
_COUNTS = ("one head", "two heads")
_WIDE, _HIGH = 560, 484
_MARGIN, _TEXT = 30, 96  # the sentence: what is left free beside it, and its baseline
_LEFT, _SIDE, _FLOOR = 175, 210, 424
_MIDDLE = _FLOOR - _SIDE / 2
# Where the words beside a point stand, by sentence: with one head above or below it, each on a line
# of its own; with two heads on a side of its own.
_LANES = (-44, 76, -78, 42)
_BESIDE = ((0, 28, "middle"), (-14, 6, "end"), (14, 6, "start"), (0, -16, "middle"))


def divided_head(
    words: Sequence[str],
    others: Mapping[int, str],
    query: int,
    questions: Sequence[str],
    *,
    heads: int = 1,
    shares: tuple[int, int] = (30, 0),
    caption: str = "",
) -> LiveOutput:
    """Show what one head, or two, hand over of two words, by how their weight is divided.

    A word has the value 0, and the other word that may stand in its place the value 1. So there are
    four sentences, and each is a point: what the first head hands over and, with two heads, what
    the second one does. A question can be answered as far as sentences with different answers lie
    apart; the smallest of these distances is shown.

    Args:
        words: n words.
        others: by position, the other word of each of the two that are asked about.
        query: the position of the word that asks.
        questions: two, about the two words in their order.
        heads: 1 or 2 to begin with.
        shares: of each head, how many sixtieths of its weight the first word has to begin with; the
            second has the rest.
        caption: the words below it.

    Raises:
        ValueError: positions or numbers are out of range, or there are not two questions.

    >>> divided_head(["she", "is", "in"], {0: "they", 2: "out"}, 1, ["Who?", "Where?"])
    A head that is divided. One head: she has 0.50 of its weight and in 0.50. Sentences with \
different answers to the question "Who?" are at least 0.00 apart, those to "Where?" 0.00.
    """
    shown = as_labels(words, "words", len(words), "word")
    asked = as_labels(questions, "questions", 2, "question")
    places = _places(others, query, len(shown))
    if heads not in (1, 2):
        raise ValueError(f"heads: got {heads}, wanted 1 or 2")
    if not all(0 <= share <= STEPS for share in shares):
        raise ValueError(f"shares: got {shares}, wanted two numbers from 0 to {STEPS}")
    view = _view(len(shown), places, heads, shares)
    pair = shown[places[0]], shown[places[1]]
    chosen, finding = _chosen(pair, heads, view), _finding(asked, view)
    words_at = [(shown[place], others[place]) for place in places]
    named = [f"{words_at[0][first]} … {words_at[1][second]}" for first, second in ANSWERS]
    return LiveOutput(
        "divided-head",
        drawing=_chart(shown, places, query, named, view, heads, f"{chosen} {finding}")
        + _table(asked, view),
        data={
            "answers": ANSWERS, "questions": asked, "pair": pair, "counts": _COUNTS,
            "steps": STEPS, "nothing": NOTHING, "heads": heads, "shares": shares,
            "lanes": _LANES, "beside": _BESIDE,
            "plot": {"left": _LEFT, "side": _SIDE, "floor": _FLOOR, "middle": _MIDDLE},
        },
        label="A head that is divided",
        alt=f"{chosen} {finding}",
        caption=caption,
        state=chosen,
    )  # fmt: skip


class _View(NamedTuple):
    """What the heads hand over.

    Attributes:
        weights: (2, 2) of each head, on the two words.
        points: (4, 2) what each head hands over, by sentence; 0 from a head that is not there.
        gaps: of each question, the smallest distance of two sentences that answer it differently.
    """

    weights: NDArray[np.float64]
    points: NDArray[np.float64]
    gaps: tuple[float, float]


def _places(others: Mapping[int, str], query: int, count: int) -> tuple[int, int]:
    places = sorted(others)
    if len(places) != 2 or not all(0 <= place < count for place in places):
        raise ValueError(f"others: got positions {places}, wanted two from 0 to {count - 1}")
    if not 0 <= query < count or query in places:
        raise ValueError(f"query: got {query}, wanted another from 0 to {count - 1}")
    return places[0], places[1]


def _view(count: int, places: tuple[int, int], heads: int, shares: tuple[int, int]) -> _View:
    first = np.array(shares, dtype=np.float64) / STEPS
    weights = np.zeros((2, count))
    weights[:, places[0]], weights[:, places[1]] = first, 1 - first
    values = np.zeros((4, count, 1))  # of every word in every sentence
    values[:, list(places), 0] = ANSWERS
    points = attend(weights, values)[..., 0]
    points[:, heads:] = 0
    return _View(weights[:, list(places)], points, (_gap(points, 0), _gap(points, 1)))


def _gap(points: NDArray[np.float64], question: int) -> float:
    """Return the smallest distance of two sentences with different answers to a question."""
    ends: list[list[NDArray[np.float64]]] = [[], []]
    for answers, point in zip(ANSWERS, points, strict=True):
        ends[answers[question]].append(point)
    return float(min(np.linalg.norm(one - other) for one, other in product(*ends)))


def _chosen(pair: tuple[str, str], heads: int, view: _View) -> str:
    said = [
        f"{pair[0]} has {view.weights[head, 0]:.2f} of its weight and {pair[1]}"
        f" {view.weights[head, 1]:.2f}"
        for head in range(heads)
    ]
    if heads == 1:
        return f"One head: {said[0]}."
    return f"Two heads: in the first, {said[0]}; in the second, {said[1]}."


def _finding(questions: Sequence[str], view: _View) -> str:
    return (
        f'Sentences with different answers to the question "{questions[0]}" are at least'
        f' {view.gaps[0]:.2f} apart, those to "{questions[1]}" {view.gaps[1]:.2f}.'
    )


# What is drawn


def _chart(
    words: Sequence[str], places: tuple[int, int], query: int, named: Sequence[str], view: _View,
    heads: int, finding: str,
) -> str:  # fmt: skip
    middles = [_middle(place, len(words)) for place in range(len(words))]
    parts = [
        _arc(head, middles[query], middles[place], float(view.weights[head, which]))
        for head in (0, 1)
        for which, place in enumerate(places)
    ]
    for place, word in enumerate(words):
        kind = "asks" if place == query else "asked" if place in places else "word"
        parts.append(
            f'<text class="am-divided-{kind}" x="{middles[place]:.2f}" y="{_TEXT}">'
            f"{escape(word)}</text>"
        )
    parts.append(_axes())
    parts += [_point(n, name, view.points, heads) for n, name in enumerate(named)]
    return (
        f'<svg class="am-divided-chart am-divided-{heads}" viewBox="0 0 {_WIDE} {_HIGH}" role="img"'
        f' aria-label="{escape(finding)}">{"".join(parts)}</svg>'
    )


def _middle(place: int, count: int) -> float:
    return _MARGIN + (_WIDE - 2 * _MARGIN) * (place + 0.5) / count


def _arc(head: int, start: float, end: float, weight: float) -> str:
    """Draw the look of a head from one word to another, above the words or below them."""
    side = (-1, 1)[head]
    foot = _TEXT + (-24, 12)[head]
    top = foot + side * (34 + 0.13 * abs(end - start))
    beside = end + (30 if end > start else -30)
    return (
        f'<g class="am-divided-head-{head + 1}"><path class="am-divided-arc"'
        f' stroke-width="{_thick(weight):.2f}" d="M{start:.2f} {foot}C{start:.2f} {top:.2f}'
        f' {end:.2f} {top:.2f} {end:.2f} {foot}"/><text class="am-divided-weight"'
        f' x="{beside:.2f}" y="{foot + (14 if head else 0)}"'
        f' data-am-value="{precise(weight)}">{weight:.2f}</text></g>'
    )


def _thick(weight: float) -> float:
    return 1 + 11 * weight


def _axes() -> str:
    right, top = _LEFT + _SIDE, _FLOOR - _SIDE
    return (
        f'<rect class="am-divided-square" x="{_LEFT}" y="{top}" width="{_SIDE}" height="{_SIDE}"/>'
        f'<line class="am-divided-line" x1="{_LEFT}" x2="{right}" y1="{_MIDDLE:g}"'
        f' y2="{_MIDDLE:g}"/>'
        f'<text class="am-divided-axis" x="{_LEFT + _SIDE / 2:g}" y="{_HIGH - 10}">'
        "what head 1 hands over, from 0 to 1</text>"
        f'<text class="am-divided-axis am-divided-upright" x="{-_FLOOR + _SIDE / 2:g}" y="24"'
        ' transform="rotate(-90)">what head 2 hands over</text>'
    )


def _point(number: int, name: str, points: NDArray[np.float64], heads: int) -> str:
    point = points[number]
    others = np.delete(points, number, axis=0)
    clash = " am-divided-clash" if np.linalg.norm(others - point, axis=1).min() < NOTHING else ""
    x = _LEFT + _SIDE * float(point[0])
    y = _FLOOR - _SIDE * float(point[1]) if heads == 2 else _MIDDLE
    right, down, anchor = _BESIDE[number] if heads == 2 else (0, _LANES[number], "middle")
    return (
        f'<g class="am-divided-point{clash}" data-am-value="{precise(float(point[0]))}"'
        f' data-am-second="{precise(float(point[1]))}">'
        f'<line class="am-divided-stem" x1="{x:.2f}" x2="{x:.2f}" y1="{y:.2f}"'
        f' y2="{y + _LANES[number] * 0.72:.2f}"/>'
        f'<circle class="am-divided-dot" cx="{x:.2f}" cy="{y:.2f}" r="8"/>'
        f'<text x="{x + right:.2f}" y="{y + down:.2f}" text-anchor="{anchor}">{escape(name)}'
        f'<tspan class="am-divided-number" dx="8">{point[0]:.2f}</tspan></text></g>'
    )


def _table(questions: Sequence[str], view: _View) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(question)}</th><td class="am-divided-gap"'
        f' data-am-value="{precise(gap)}">{gap:.2f}</td><td class="am-divided-verdict">'
        f"{verdict(gap)}</td></tr>"
        for question, gap in zip(questions, view.gaps, strict=True)
    )
    return (
        '<table class="am-divided-readings"><thead><tr><th scope="col">Question</th>'
        '<th scope="col">Smallest distance</th><th scope="col">Answer</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def verdict(gap: float) -> str:
    """Say what becomes of an answer when sentences that differ in it lie so far apart.

    >>> verdict(0.0), verdict(1 / 3), verdict(1.0)
    ('lost', 'can be read', 'whole')
    """
    if gap < NOTHING:
        return "lost"
    return "whole" if gap > 1 - NOTHING else "can be read"
