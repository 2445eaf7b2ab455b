"""One next word to choose: what temperature, top-k, top-p and min-p leave of its probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bookkit.figures._inputs import as_labels, as_matrix
from bookkit.playables._numbers import precise
from bookkit.playables.output import LiveOutput, pack

TEMPERATURES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
TOP_KS = (1, 2, 3, 5, 10, 20, 50, None)
TOP_PS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, None)
MIN_PS = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, None)
"""What the sliders offer; None cuts nothing."""
ROWS = 12
"""How many words have a bar of their own."""

_WIDE, _ROW, _TOP = 440, 26, 6
_WORD, _BAR, _UNIT = 104, 114, 250  # where words end, where bars begin, a probability of 1
_NAMES = ("words left", "wrong words, of 100 drawn", "effective number of words")


def next_word(
    words: Sequence[str],
    beginnings: Sequence[str],
    logits: Any,
    possible: Any,
    *,
    caption: str = "",
) -> LiveOutput:
    """Show what the next word is drawn from; the reader sets temperature, top-k, top-p and min-p.

    They act in the order of `companion.decoding.sample`. Dotted outlines stay where the model's own
    probabilities are. A word that cannot come next has a cross. One bar in grey is for all words
    that have no bar of their own, whether they can come next or not.

    Args:
        words: (n,) the vocabulary.
        beginnings: (m,) the beginnings to choose from.
        logits: (m, n) what the model gives every next word.
        possible: (m, n) True where the word can come next.
        caption: the words below.

    Raises:
        TypeError: `logits` holds no numbers.
        ValueError: shapes disagree, a logit is not finite, or there are too few words for the bars.

    >>> import numpy as np
    >>> next_word([f"w{n}" for n in range(13)], ["so"], np.arange(13.0)[None], np.ones((1, 13)))
    What the next word is drawn from. After so, temperature 1, nothing cut: 13 words left, 0.0 \
wrong words of 100 drawn, as varied as a fair draw from 2.8 words. Most probable: w12, 0.632.
    """
    given = as_matrix(logits, "logits")
    labels = as_labels(words, "words", given.shape[1], "column")
    begun = as_labels(beginnings, "beginnings", given.shape[0], "row")
    right = np.asarray(possible, dtype=bool)
    if right.shape != given.shape:
        raise ValueError(f"possible: got shape {right.shape}, wanted {given.shape}, as logits")
    if not np.isfinite(given).all():
        raise ValueError("logits: got one that is not finite, wanted finite numbers")
    if len(labels) <= ROWS:
        raise ValueError(f"words: got {len(labels)}, wanted more than {ROWS}")
    view = _view(given[0], right[0])
    finding = _finding(begun[0], labels, view)
    return LiveOutput(
        "next-word",
        drawing=_chart(labels, right[0], view, finding) + _table(view),
        data={
            "words": labels,
            "beginnings": begun,
            "logits": pack(given, "float64"),
            "possible": [[int(yes) for yes in row] for row in right],
            "rows": ROWS,
            "unit": _UNIT,
            "temperatures": TEMPERATURES,
            "topKs": TOP_KS,
            "topPs": TOP_PS,
            "minPs": MIN_PS,
        },
        label="What the next word is drawn from",
        alt=finding,
        caption=caption,
        state=f"After {begun[0]}, temperature 1, nothing cut.",
    )


class _View(NamedTuple):
    """What a word is drawn from.

    Attributes:
        order: (n,) places of the words, the most probable first.
        chances: (n,) of the words.
        readings: words left, wrong words of 100, and the exponential of the entropy.
    """

    order: NDArray[np.intp]
    chances: NDArray[np.float64]
    readings: tuple[float, float, float]


def _view(logits: NDArray[np.float64], right: NDArray[np.bool_]) -> _View:
    powers = np.exp(logits - logits.max())
    chances = powers / powers.sum()
    positive = chances[chances > 0]
    variety = float(np.exp(-(positive * np.log(positive)).sum()))
    readings = (float(positive.size), float(100 * chances[~right].sum()), variety)
    return _View(np.argsort(-logits, kind="stable"), chances, readings)


def _finding(beginning: str, words: Sequence[str], view: _View) -> str:
    left, wrong, variety = view.readings
    best = int(view.order[0])
    return (
        f"After {beginning}, temperature 1, nothing cut: {left:.0f} words left, {wrong:.1f} wrong"
        f" words of 100 drawn, as varied as a fair draw from {variety:.1f} words. Most probable:"
        f" {words[best]}, {view.chances[best]:.3f}."
    )


def _chart(words: Sequence[str], right: NDArray[np.bool_], view: _View, finding: str) -> str:
    rows = [
        _row(row, words[place], bool(right[place]), float(view.chances[place]))
        for row, place in enumerate(view.order[:ROWS])
    ]
    others = float(view.chances[view.order[ROWS:]].sum())
    rows.append(_row(ROWS, f"{len(words) - ROWS} others", None, others))
    high = _TOP + _ROW * len(rows) + 4
    return (
        f'<svg class="am-next-word-chart" viewBox="0 0 {_WIDE} {high}" role="img"'
        f' aria-label="{escape(finding)}">'
        f'<line class="am-next-word-axis" x1="{_BAR}" x2="{_BAR}" y1="{_TOP}" y2="{high}"/>'
        f"{''.join(rows)}</svg>"
    )


def _row(row: int, word: str, right: bool | None, chance: float) -> str:
    """Return a bar with its word; `right` is None for a bar of several words, right and wrong."""
    y = _TOP + _ROW * row
    kind = {True: "", False: " am-next-word-wrong", None: " am-next-word-others"}[right]
    return (
        f'<g class="am-next-word-row{kind}">'
        f'<text class="am-next-word-word" x="{_WORD}" y="{y + 18}">'
        f"{escape(word + ' ✗' if right is False else word)}</text>"
        f'<rect class="am-next-word-bar" x="{_BAR}" y="{y + 4}" height="18"'
        f' width="{_UNIT * chance:.2f}"/>'
        f'<rect class="am-next-word-own" x="{_BAR}" y="{y + 2}" height="22"'
        f' width="{_UNIT * chance:.2f}"/>'
        f'<text class="am-next-word-chance" x="{_WIDE - 2}" y="{y + 18}"'
        f' data-am-value="{precise(chance)}">{chance:.3f}</text></g>'
    )


def _table(view: _View) -> str:
    rows = "".join(
        f'<tr><th scope="row">{name}</th><td class="am-next-word-reading"'
        f' data-am-value="{precise(value)}">{value:.{decimals}f}</td></tr>'
        for name, value, decimals in zip(_NAMES, view.readings, (0, 1, 1), strict=True)
    )
    return f'<table class="am-next-word-readings"><tbody>{rows}</tbody></table>'
