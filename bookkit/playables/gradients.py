"""A small attention whose numbers a reader edits: they flow forward, and gradients flow back."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bookkit.figures._inputs import as_labels, as_matrix, as_vector
from bookkit.playables._numbers import precise, signed
from bookkit.playables.output import LiveOutput
from companion.attention import attend, masked_softmax
from companion.scores import dot_score

Numbers = NDArray[np.float64]

MOST = 9.0
"""How large a number of a vector can be made, on either side of 0."""
MOST_SCORE = 30.0
"""How large a score can be made by itself."""
_ORDINALS = ("first", "second", "third", "fourth")
_FULL_BAR = 0.15  # the gradient at a score that fills half of its bar


def gradient_flow(
    words: Sequence[str], query: Any, memory: Any, wanted: Any, *, caption: str = ""
) -> LiveOutput:
    """Show one query's attention with the gradient of a loss under every number.

    The scores are dot products of the query with the memory, which is also what is blended. The
    loss is half the squared distance of the blend from what was wanted. A reader can edit every
    number that is given, and every score by itself.

    Args:
        words: (k,) what the rows of the memory stand for.
        query: (d,) the query, at most four numbers.
        memory: (k, d) keys and values in one.
        wanted: (d,) what the blend should have been.
        caption: the words below it.

    Raises:
        TypeError: an argument holds no numbers.
        ValueError: shapes disagree, a number is beyond `MOST`, or the width is above four.

    >>> gradient_flow(["new", "house"], [1, 1], [[1, 1], [2, 0]], [1, 1])
    An attention with its gradients. Loss 0.250. Weights: new 0.500, house 0.500. Gradients at the \
scores: new −0.250, house +0.250.
    """
    vectors = _read(query, memory, wanted)
    labels = as_labels(words, "words", len(vectors.memory), "row of the memory")
    view = _view(vectors)
    finding = _finding(labels, view)
    return LiveOutput(
        "gradient-flow",
        drawing=_table(labels, vectors, view),
        data={
            "words": labels,
            "query": vectors.query.tolist(),
            "memory": vectors.memory.tolist(),
            "wanted": vectors.wanted.tolist(),
            "edits": _edits(labels, vectors.query.size),
            "most": {"vector": MOST, "score": MOST_SCORE},
            "full": _FULL_BAR,
        },
        label="An attention with its gradients",
        alt=finding,
        caption=caption,
        state=finding,
    )


class _Vectors(NamedTuple):
    """What is given: query (d,), memory (k, d), and what was wanted (d,)."""

    query: Numbers
    memory: Numbers
    wanted: Numbers


class _View(NamedTuple):
    """What follows from it: the numbers on the way forward, and the gradients of the loss.

    Attributes:
        scores: (k,) one for each row of the memory.
        weights: (k,) which sum to 1.
        context: (d,) the blend.
        loss: half the squared distance from what was wanted.
        at_context: (d,) gradient at the blend.
        at_weights: (k,) gradients at the weights.
        at_scores: (k,) gradients at the scores, which sum to 0.
        at_query: (d,) gradient at the query.
        at_memory: (k, d) gradient at the memory, as key and as value.
    """

    scores: Numbers
    weights: Numbers
    context: Numbers
    loss: float
    at_context: Numbers
    at_weights: Numbers
    at_scores: Numbers
    at_query: Numbers
    at_memory: Numbers


def _read(query: Any, memory: Any, wanted: Any) -> _Vectors:
    rows = as_matrix(memory, "memory")
    d = rows.shape[1]
    vectors = _Vectors(as_vector(query, "query", d), rows, as_vector(wanted, "wanted", d))
    if d > len(_ORDINALS):
        raise ValueError(f"memory: got width {d}, wanted at most {len(_ORDINALS)}")
    for name, numbers in vectors._asdict().items():
        if not np.all(np.abs(numbers) <= MOST):  # NaN is refused, too
            raise ValueError(f"{name}: got {numbers.tolist()}, wanted numbers up to {MOST:g}")
    return vectors


def _view(given: _Vectors) -> _View:
    scores = dot_score(given.query[None], given.memory)
    weights = masked_softmax(scores)
    context = attend(weights, given.memory)
    at_context = context - given.wanted
    at_weights = at_context @ given.memory.T
    at_scores = weights * (at_weights - (weights * at_weights).sum())
    return _View(
        scores[0],
        weights[0],
        context[0],
        float((at_context**2).sum() / 2),
        at_context[0],
        at_weights[0],
        at_scores[0],
        (at_scores @ given.memory)[0],
        at_scores.T @ given.query[None] + weights.T @ at_context,
    )


def _edits(words: Sequence[str], width: int) -> list[dict[str, Any]]:
    """List the numbers that can be edited, in the order in which the table has them."""

    def vector(kind: str, place: Sequence[int], name: str) -> list[dict[str, Any]]:
        return [
            {"kind": kind, "place": [*place, at], "label": f"{name}, {_ORDINALS[at]} number"}
            for at in range(width)
        ]

    edits = vector("query", (), "query")
    for row, word in enumerate(words):
        edits += vector("memory", (row,), word)
        edits.append({"kind": "score", "place": [row], "label": f"score of {word}"})
    return edits + vector("wanted", (), "wanted")


def _finding(words: Sequence[str], view: _View) -> str:
    def listed(values: Numbers, sign: bool) -> str:
        each = (_slope(value) if sign else f"{value:.3f}" for value in values)
        return ", ".join(f"{word} {said}" for word, said in zip(words, each, strict=True))

    return (
        f"Loss {view.loss:.3f}. Weights: {listed(view.weights, False)}. Gradients at the scores:"
        f" {listed(view.at_scores, True)}."
    )


def _table(words: Sequence[str], given: _Vectors, view: _View) -> str:
    d = given.query.size
    empty = "<td></td><td></td>"
    rows = [_row("query", _vector(given.query, view.at_query, edited=True) + empty)]
    for row, word in enumerate(words):
        rows.append(
            _row(
                word,
                _vector(given.memory[row], view.at_memory[row], edited=True)
                + _cell(view.scores[row], view.at_scores[row], 2, edited=True, bar=True)
                + _cell(view.weights[row], view.at_weights[row], 3),
            )
        )
    loss = (
        '<td class="am-gradient-flow-loss" colspan="2" rowspan="2">loss'
        f' <span class="am-gradient-flow-number" data-am-value="{precise(view.loss)}">'
        f"{view.loss:.4f}</span></td>"
    )
    rows.append(_row("blend", _vector(view.context, view.at_context, decimals=2) + loss))
    rows.append(_row("wanted", _vector(given.wanted, None, edited=True)))
    return (
        '<table class="am-gradient-flow-table"><thead><tr><td></td>'
        f'<th scope="colgroup" colspan="{d}">vector</th><th scope="col">score</th>'
        f'<th scope="col">weight</th></tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )


def _row(name: str, cells: str) -> str:
    return f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'


def _vector(
    numbers: Numbers, slopes: Numbers | None, decimals: int = 1, *, edited: bool = False
) -> str:
    at = [None] * numbers.size if slopes is None else slopes.tolist()
    pairs = zip(numbers.tolist(), at, strict=True)
    return "".join(_cell(number, slope, decimals, edited=edited) for number, slope in pairs)


def _cell(
    number: float, slope: float | None, decimals: int, *, edited: bool = False, bar: bool = False
) -> str:
    mark = " am-gradient-flow-edited" if edited else ""
    said = (
        f'<span class="am-gradient-flow-number{mark}" data-am-value="{precise(number)}">'
        f"{signed(number, decimals)}</span>"
    )
    if slope is not None:
        side = "up" if slope > 0 else "down"
        said += (
            '<span class="am-live-unseen"> gradient </span>'
            f'<span class="am-gradient-flow-slope am-gradient-flow-{side}"'
            f' data-am-value="{precise(slope)}">{_slope(slope)}</span>'
        )
        said += _bar(slope) if bar else ""
    return f"<td>{said}</td>"


def _slope(slope: float) -> str:
    """Write a gradient with its sign, which says where the loss goes.

    >>> _slope(0.0773), _slope(-0.0215), _slope(-0.0001)
    ('+0.077', '−0.021', '0.000')
    """
    said = signed(slope, 3)
    return f"+{said}" if float(f"{slope:.3f}") > 0 else said


def _bar(slope: float) -> str:
    """Draw a gradient to the right of the middle if it is positive, else to the left."""
    wide = 50 * min(1.0, abs(slope) / _FULL_BAR)
    left = 50.0 if slope > 0 else 50 - wide
    side = "up" if slope > 0 else "down"
    return (
        '<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="am-gradient-flow-bar am-gradient-flow-{side}" x="{left:.2f}" y="1"'
        f' width="{wide:.2f}" height="6"/>'
        '<line class="am-gradient-flow-middle" x1="50" x2="50" y1="0" y2="8"/></svg>'
    )
