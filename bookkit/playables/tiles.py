"""The online softmax, one block at a time: three numbers, and the factor that corrects them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from bookkit.figures._inputs import Numbers, as_labels, as_vector
from bookkit.playables._numbers import precise, signed
from bookkit.playables.output import LiveOutput
from companion.contracts import contract
from companion.tiled import online_softmax, tiled_attention

_LEFT, _TOP, _BASE, _WIDE, _HIGH = 56, 30, 164, 480, 252  # of the drawing's plot, in its units
_BAR = 0.8  # of the room that a word has
_LINES = {"word": 19, "score": 39, "value": 59}  # of text, below the bars


@contract(block=">= 1")
def online_softmax_steps(
    scores: Any, values: Any, words: Sequence[str], *, block: int = 2, caption: str = ""
) -> LiveOutput:
    """Show words going through an online softmax in blocks (Milakov & Gimelshein, 2018).

    The reader takes the blocks in one by one, changes their size and the order of the words, and
    can leave out the rescaling, which is right only as long as no later block has the maximum.
    Without scripts it shows the block at which the old bars shrink most, above a table of all.

    Args:
        scores: (k,) scores, two to twelve.
        values: (k,) values to be blended, one number for each score.
        words: k words, one for each score.
        block: scores in a block, to begin with.
        caption: the words below it.

    Raises:
        TypeError: `scores` or `values` hold no numbers, or `block` is not whole.
        ValueError: too few or too many scores, numbers that are not finite, other numbers of
            values or words, or a block with more scores than there are.

    >>> online_softmax_steps([0.0, 2.0, 1.0, 3.0], [1, 0, 0, 1], list("abcd"))
    Online softmax, block by block. Bars of exp(score - μ) for 4 words in blocks of 2. At block 2 \
the maximum μ rises from 2.0 to 3.0, and the bars before it shrink to 0.37 of their height. At the \
end μ = 3.0, Z = 1.55 and the answer is 0.68, as for all words at once.
    """
    given = as_vector(scores, "scores")
    if not 2 <= given.size <= 12 or not np.isfinite(given).all():
        raise ValueError(f"scores: got {given.tolist()}, wanted 2 to 12 finite numbers")
    blended = as_vector(values, "values", given.size)
    if not np.isfinite(blended).all():
        raise ValueError(f"values: got {blended.tolist()}, wanted finite numbers")
    labels = as_labels(words, "words", given.size, "score")
    if block > given.size:
        raise ValueError(f"block: got {block}, wanted at most the {given.size} scores")
    steps = _steps(given, blended, block)
    telling = min(range(len(steps)), key=lambda at: steps[at].factor if at else 1.0)
    finding = _finding(steps, telling)
    return LiveOutput(
        "tiles",
        drawing=_drawing(given, blended, labels, steps, telling) + _table(given, blended, steps),
        data={
            "scores": given.tolist(), "values": blended.tolist(), "words": labels,
            "block": int(block), "left": _LEFT, "top": _TOP, "base": _BASE, "wide": _WIDE,
        },
        label="Online softmax, block by block",
        alt=f"Bars of exp(score - μ) for {given.size} words in blocks of {block}. {finding} At the"
        f" end μ = {signed(steps[-1].highest, 1)}, Z = {steps[-1].total:.2f} and the answer is"
        f" {signed(steps[-1].answer, 2)}, as for all words at once.",
        caption=caption,
        state=finding,
    )  # fmt: skip


class _Step(NamedTuple):
    """What is known after a block has been taken in.

    Attributes:
        keys: positions of the block.
        highest: the maximum so far, μ.
        factor: what sum and blend shrink by that were made with the maximum before.
        total: the sum so far, Z.
        blend: the sum so far of exp(score - μ) times value.
        answer: the blend over the sum.
    """

    keys: range
    highest: float
    factor: float
    total: float
    blend: float
    answer: float


def _steps(scores: Numbers, values: Numbers, block: int) -> list[_Step]:
    steps: list[_Step] = []
    before = -np.inf
    for start in range(0, scores.size, block):
        keys = range(start, min(start + block, scores.size))
        highest, total, answer = _after(scores[: keys.stop], values[: keys.stop], block)
        factor = float(np.exp(before - highest))
        steps.append(_Step(keys, highest, factor, total, answer * total, answer))
        before = highest
    return steps


def _after(scores: Numbers, values: Numbers, block: int) -> tuple[float, float, float]:
    """Return maximum, sum and answer for these scores, which come in blocks."""
    blocks = [scores[None, first : first + block] for first in range(0, scores.size, block)]
    highest, total = (float(part[0]) for part in online_softmax(blocks))
    one = np.ones((1, 1))  # a query whose dot products are the scores
    answer = tiled_attention(
        one, scores[:, None], values[:, None], scale=1.0, block_size=(1, block)
    )
    return highest, total, float(answer[0, 0])


def _finding(steps: list[_Step], telling: int) -> str:
    if telling == 0 or steps[telling].factor == 1:
        return "The maximum μ stands in the first block, and no bar shrinks."
    return (
        f"At block {telling + 1} the maximum μ rises from {signed(steps[telling - 1].highest, 1)}"
        f" to {signed(steps[telling].highest, 1)}, and the bars before it shrink to"
        f" {steps[telling].factor:.2f} of their height."
    )


def _drawing(
    scores: Numbers, values: Numbers, words: Sequence[str], steps: list[_Step], telling: int
) -> str:
    step, room = steps[telling], (_WIDE - _LEFT) / scores.size
    known = steps[telling - 1].highest if telling else step.highest
    slots = []
    for j, (score, value, word) in enumerate(zip(scores, values, words, strict=True)):
        height = float(np.exp(score - step.highest)) if j < step.keys.stop else 0.0
        old = float(np.exp(score - known)) if j < step.keys.start and step.factor < 1 else 0.0
        kind = "am-tiles-bar am-tiles-new" if j in step.keys else "am-tiles-bar"
        left, width = _LEFT + room * (j + (1 - _BAR) / 2), room * _BAR
        slots += [
            _bar(kind, left, width, height),
            _bar("am-tiles-before", left, width, old),
            f'<line class="am-tiles-whole" x1="{left - 2:.2f}" x2="{left + width + 2:.2f}"'
            f' y1="{_BASE}" y2="{_BASE}" visibility="hidden"/>',
            _texts(j, room, word, float(score), float(value), unread=j >= step.keys.stop),
        ]
    return (
        f'<svg class="am-tiles-chart" viewBox="0 0 {_WIDE} {_HIGH}" role="img"'
        f' aria-label="{_finding(steps, telling)}"><text class="am-tiles-title" x="0" y="15">'
        f"exp(score − μ), μ = {signed(step.highest, 1)}</text>"
        f"{_axis()}{''.join(slots)}{_bracket(step.keys, room, telling)}</svg>"
    )


def _axis() -> str:
    levels = "".join(
        f'<line class="am-tiles-level" x1="{_LEFT}" x2="{_WIDE}" y1="{_y(level):g}"'
        f' y2="{_y(level):g}"/><text class="am-tiles-axis" x="{_LEFT - 6}"'
        f' y="{_y(level) + 5:g}">{name}</text>'
        for level, name in ((0.0, "0"), (0.5, "½"), (1.0, "1"))
    )
    names = "".join(
        f'<text class="am-tiles-axis" x="{_LEFT - 12}" y="{_BASE + _LINES[name]}">{name}</text>'
        for name in ("score", "value")
    )
    return levels + names


def _y(value: float) -> float:
    return _BASE - (_BASE - _TOP) * value


def _bar(kind: str, left: float, width: float, height: float) -> str:
    return (
        f'<rect class="{kind}" x="{left:.2f}" width="{width:.2f}" y="{_y(height):.2f}"'
        f' height="{_BASE - _y(height):.2f}" data-am-value="{precise(height)}"/>'
    )


def _texts(j: int, room: float, word: str, score: float, value: float, *, unread: bool) -> str:
    later = " am-tiles-unread" if unread else ""
    middle = f'x="{_LEFT + room * (j + 0.5):.2f}"'
    numbers = "".join(
        f'<text class="am-tiles-{name}{later}" {middle} y="{_BASE + _LINES[name]}"'
        f' data-am-value="{precise(number)}">{_short(number)}</text>'
        for name, number in (("score", score), ("value", value))
    )
    top = _BASE + _LINES["word"]
    return f'<text class="am-tiles-word{later}" {middle} y="{top}">{escape(word)}</text>{numbers}'


def _short(number: float) -> str:
    return signed(number, 0 if number == round(number) else 1)


def _bracket(keys: range, room: float, number: int) -> str:
    """Underline the words of a block."""
    left, right = _LEFT + room * keys.start + 3, _LEFT + room * keys.stop - 3
    return (
        f'<line class="am-tiles-bracket" x1="{left:.2f}" x2="{right:.2f}" y1="{_BASE + 67}"'
        f' y2="{_BASE + 67}"/><text class="am-tiles-block" x="{(left + right) / 2:.2f}"'
        f' y="{_BASE + 84}">block {number + 1}</text>'
    )


def _table(scores: Numbers, values: Numbers, steps: list[_Step]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{number}</th>{_cell(step.highest, 1)}'
        f"{_cell(step.factor, 2 if number > 1 else None)}{_cell(step.total, 2)}"
        f"{_cell(step.blend, 2)}{_cell(step.answer, 2)}</tr>"
        for number, step in enumerate(steps, 1)
    )
    whole = _after(scores, values, scores.size)
    cells = (
        f"{_cell(whole[0], 1)}{_cell(None, None)}{_cell(whole[1], 2)}"
        f"{_cell(whole[1] * whole[2], 2)}{_cell(whole[2], 2)}"
    )
    names = ("block", "μ", "factor", "sum Z", "blend b", "b / Z")
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        f'<table class="am-tiles-table"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody>'
        f'<tfoot><tr><th scope="row">all at once</th>{cells}</tr></tfoot></table>'
    )


def _cell(value: float | None, decimals: int | None) -> str:
    exact = "" if value is None else f' data-am-value="{precise(value)}"'
    shown = "–" if value is None or decimals is None else signed(value, decimals)
    return f"<td{exact}>{shown}</td>"
