"""Whole sentences against single words: a chance per word that the reader sets, by length."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bookkit.figures._inputs import as_vector
from bookkit.playables._numbers import precise
from bookkit.playables.output import LiveOutput
from companion.contracts import contract

CHANCES = (
    *(float(percent) for percent in range(50, 90)),
    *(percent / 2 for percent in range(180, 199)),
    *(percent / 10 for percent in range(991, 1001)),
)
"""What the slider offers, in percent: finer steps near 100, where they matter more."""

_LEFT, _RIGHT, _TOP, _BASE, _HIGH = 40, 506, 34, 216, 262  # of the drawing's plot, in its units
_WIDE = 520
_NAMED_AT = 0.55  # the share of sentences at which the curve has its name
_MEASURES = ("whole sentences right", "BLEU")

Series = Mapping[str, Sequence[float]]
Bins = Sequence[tuple[int, int]]


@contract(longest=">= 1")
def compounding(
    bins: Bins,
    exact: Series,
    bleu: Series,
    *,
    longest: int,
    chance: float = 95.0,
    caption: str = "",
) -> LiveOutput:
    """Show by length how many sentences come out whole, beside words that fail independently.

    The curve is p ** n: of sentences of n words, so many are right in every word if each word is
    right with probability p, whatever the others are. The reader sets p, and changes between whole
    sentences and BLEU, which gives credit for parts.

    Args:
        bins: the shortest and the longest sentence of every group, in words, from short to long.
        exact: for two translators by name, sentences without a mistake in every group, in percent.
        bleu: for the same two, BLEU in every group.
        longest: the longest sentences of the training.
        chance: p to begin with, in percent; one of `CHANCES`.
        caption: the words below it.

    Raises:
        TypeError: `exact` or `bleu` holds no numbers.
        ValueError: not two translators, not one number from 0 to 100 a group, groups that do not
            grow, or a chance between the steps of the slider.

    >>> numbers = {"with attention": [100, 90], "without": [99, 8]}
    >>> compounding([(1, 5), (26, 30)], numbers, numbers, longest=30)
    Whole sentences and single words, by length. Whole sentences right, in percent, by length in \
words: 1 to 5: with attention 100, without 99; 26 to 30: with attention 90, without 8. The curve: \
if each word is right in 95 of 100 cases, whatever the others are, 86 of 100 sentences of 3 words \
are right, and 24 of 100 sentences of 28 words.
    """
    if len(exact) != 2 or list(exact) != list(bleu):
        raise ValueError(
            f"exact, bleu: got {list(exact)} and {list(bleu)}, wanted the same two translators"
        )
    edges = [edge for pair in bins for edge in pair]
    if not edges or any(low > high for low, high in bins) or edges != sorted(edges):
        raise ValueError(f"bins: got {list(bins)}, wanted groups from short to long")
    if chance not in CHANCES:
        raise ValueError(f"chance: got {chance!r}, wanted one of {_listed()}")
    numbers = {
        name: {kind: _percent(values, name, len(bins)) for kind, values in series.items()}
        for name, series in (("exact", exact), ("bleu", bleu))
    }
    kinds, middles = list(exact), [(low + high) / 2 for low, high in bins]
    finding = _finding(chance, middles)
    return LiveOutput(
        "compounding",
        drawing=_chart(bins, numbers["exact"], longest, chance, finding)
        + _table(bins, kinds, numbers, chance),
        data={
            "middles": middles,
            "chances": CHANCES,
            "chance": CHANCES.index(chance),
            "measures": _MEASURES,
            "values": [[numbers[name][kind].tolist() for kind in kinds] for name in numbers],
            "plot": {"left": _LEFT, "right": _RIGHT, "top": _TOP, "base": _BASE},
            "named": _NAMED_AT,
            "last": _last(bins),
        },
        label="Whole sentences and single words, by length",
        alt=f"Whole sentences right, in percent, by length in words: "
        f"{_said(bins, numbers['exact'])}. The curve: {finding}",
        caption=caption,
        state=finding[0].upper() + finding[1:],
    )


def _listed() -> str:
    return ", ".join(f"{percent:g}" for percent in CHANCES)


def _percent(values: Any, name: str, count: int) -> NDArray[np.float64]:
    given = as_vector(values, name, count)
    if not ((given >= 0) & (given <= 100)).all():
        raise ValueError(f"{name}: got {given.tolist()}, wanted numbers from 0 to 100")
    return given


def _last(bins: Bins) -> int:
    """Return where the axis ends: the next ten beyond the longest group."""
    return 10 * math.ceil(bins[-1][1] / 10)


def _whole(chance: float, words: float) -> float:
    """Return the percentage of sentences that are right in every word."""
    return 100 * math.pow(chance / 100, words)


def _finding(chance: float, middles: Sequence[float]) -> str:
    first, last = middles[0], middles[-1]
    return (
        f"if each word is right in {chance:g} of 100 cases, whatever the others are,"
        f" {_whole(chance, first):.0f} of 100 sentences of {first:g} words are right, and"
        f" {_whole(chance, last):.0f} of 100 sentences of {last:g} words."
    )


def _said(bins: Bins, exact: Mapping[str, NDArray[np.float64]]) -> str:
    return "; ".join(
        f"{low} to {high}: " + ", ".join(f"{kind} {exact[kind][at]:.0f}" for kind in exact)
        for at, (low, high) in enumerate(bins)
    )


def _chart(
    bins: Bins,
    exact: Mapping[str, NDArray[np.float64]],
    longest: int,
    chance: float,
    finding: str,
) -> str:
    last = _last(bins)
    middles = [(low + high) / 2 for low, high in bins]

    def x(words: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * words / last

    levels = "".join(
        f'<line class="am-compounding-level" x1="{_LEFT}" x2="{_RIGHT}" y1="{_y(level):g}"'
        f' y2="{_y(level):g}"/><text class="am-compounding-y" x="{_LEFT - 7}"'
        f' y="{_y(level) + 5:g}">{level}</text>'
        for level in (0, 50, 100)
    )
    ticks = "".join(
        f'<text class="am-compounding-x" x="{x(words):.1f}" y="{_BASE + 20}">{words}</text>'
        for words in range(10, last + 1, 10)
    )
    beyond = ""
    if longest + 0.5 < last:
        beyond = (
            f'<rect class="am-compounding-beyond" x="{x(longest + 0.5):.1f}" y="{_TOP}"'
            f' width="{_RIGHT - x(longest + 0.5):.1f}" height="{_BASE - _TOP}"/>'
            f'<text class="am-compounding-x" x="{(x(longest + 0.5) + _RIGHT) / 2:.1f}"'
            f' y="{_y(40):g}">unseen lengths</text>'
        )
    words, value = _named(chance, last)
    curve = (
        f'<path class="am-compounding-curve" d="{_curve(chance, last)}"/>'
        f'<text class="am-compounding-name am-compounding-chance" x="{x(words) + 7:.1f}"'
        f' y="{_y(value) - 7:.1f}">{chance:g} % a word</text>'
    )
    lines = "".join(
        _series(at, kind, [(x(middle), _y(v)) for middle, v in zip(middles, values, strict=True)])
        for at, (kind, values) in enumerate(exact.items())
    )
    return (
        f'<svg class="am-compounding-chart" viewBox="0 0 {_WIDE} {_HIGH}" role="img"'
        f' aria-label="{escape(finding)}">{beyond}{levels}{ticks}'
        f'<text class="am-compounding-title" x="0" y="16">{_MEASURES[0]} (%)</text>'
        f'<text class="am-compounding-y" x="{_RIGHT}" y="{_BASE + 40}">words in the sentence</text>'
        f"{curve}{lines}</svg>"
    )


def _y(percent: float) -> float:
    return _BASE - (_BASE - _TOP) * percent / 100


def _curve(chance: float, last: int) -> str:
    """Return the path of p ** n, from n = 0 to the end of the axis in half words."""
    points = (
        f"{_LEFT + (_RIGHT - _LEFT) * half / 2 / last:.1f} {_y(_whole(chance, half / 2)):.1f}"
        for half in range(2 * last + 1)
    )
    return "M" + "L".join(points)


def _named(chance: float, last: int) -> tuple[float, float]:
    """Return where the curve has its name: its length in words, and its height in percent."""
    share = chance / 100
    words = 0.7 * last if share == 1 else math.log(_NAMED_AT) / math.log(share)
    words = min(words, 0.7 * last)
    return words, _whole(chance, words)


def _series(at: int, kind: str, points: Sequence[tuple[float, float]]) -> str:
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    marks = "".join(
        f'<path class="am-compounding-mark" d="{_MARK[at]}"'
        f' transform="translate({x:.1f} {y:.1f})"/>'
        for x, y in points
    )
    x, y = points[len(points) // (4, 2)[at]]
    below = (24, -11)[at]
    return (
        f'<g class="am-compounding-series am-compounding-series{at}">'
        f'<path class="am-compounding-line" d="{path}"/>{marks}'
        f'<text class="am-compounding-name" x="{x:.1f}" y="{y + below:.1f}">{escape(kind)}</text>'
        "</g>"
    )


_MARK = ("M5 0A5 5 0 1 1 -5 0A5 5 0 1 1 5 0Z", "M-5 -5L5 5M-5 5L5 -5")  # a disc, a cross


def _table(
    bins: Bins,
    kinds: Sequence[str],
    numbers: Mapping[str, Mapping[str, NDArray[np.float64]]],
    chance: float,
) -> str:
    rows = []
    for at, (low, high) in enumerate(bins):
        value = _whole(chance, (low + high) / 2)
        cells = "".join(
            f"<td>{numbers[name][kind][at]:.0f}</td>" for name in numbers for kind in kinds
        )
        rows.append(
            f'<tr><th scope="row">{low}–{high}</th><td class="am-compounding-whole"'
            f' data-am-value="{precise(value)}">{value:.0f}</td>{cells}</tr>'
        )
    names = "".join(f'<th scope="col">{escape(kind)}</th>' for kind in (*kinds, *kinds))
    return (
        '<table class="am-compounding-table"><thead><tr><th rowspan="2" scope="col">words</th>'
        '<th colspan="3" scope="colgroup">whole sentences, %</th>'
        '<th colspan="2" scope="colgroup">BLEU</th></tr>'
        f'<tr><th scope="col" class="am-compounding-head">at {chance:g} % a word</th>{names}</tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table>"
    )
