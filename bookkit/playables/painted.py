"""A mask painted by hand: the reader blocks keys, and the softmax rows change at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from bookkit.figures._inputs import Flags, Numbers, as_labels, as_matrix
from bookkit.playables.output import LiveOutput, pack
from companion.attention import masked_softmax


@dataclass(frozen=True)
class MaskPuzzle:
    """A mask to be painted, which is described in words.

    Attributes:
        name: what its button says.
        question: which mask is wanted.
        begin: the name of the mask to begin with.
        goal: boolean array that broadcasts to (q, k), True = may attend.
    """

    name: str
    question: str
    begin: str
    goal: Any


def paint_mask(
    scores: Any,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    masks: Mapping[str, Any],
    notes: Mapping[str, str] | None = None,
    answers: Sequence[int | None] = (),
    puzzles: Sequence[MaskPuzzle] = (),
    flip: bool = False,
    label: str = "A mask to paint",
    caption: str = "Each row is a softmax over the keys that its query may look at: the weights of "
    "one query. Hatched cells are not allowed.",
) -> LiveOutput:
    """Show the weights of every query as a table; the reader paints who may look at whom.

    A click, a touch or the space bar allows or blocks a cell, a drag paints several, arrow keys
    move. Without scripts it shows the first of `masks`.

    Args:
        scores: (q, k) what the softmax gets, scaled; stored as float64.
        queries: q tokens, the rows.
        keys: k tokens, the columns; None means those of the queries, for self-attention.
        masks: the masks to begin with, by name, the first one shown: boolean arrays that broadcast
            to (q, k), True = may attend.
        notes: what is said of a mask when it is chosen, by its name.
        answers: for every query, the key that it has to predict, or None; these cells are ringed,
            and a line counts the rings that the mask allows. Empty for no rings.
        puzzles: masks that the reader is asked to paint.
        flip: whether a button turns the mask upside down.
        label: what is shown, in a few words.
        caption: the words below.

    Raises:
        TypeError: `scores` holds no numbers, or a mask is not boolean.
        ValueError: shapes or numbers of labels do not agree, a score is not finite, there is no
            mask, or a note, an answer or a puzzle names what is not there.

    >>> from companion import causal_mask
    >>> paint_mask([[0.0, 0.0], [0.0, 0.0]], ["I", "am"], masks={"causal": causal_mask(2)},
    ...            answers=[1, None])
    A mask to paint. Mask: causal. I: I 1.00, am blocked; am: I 0.50, am 0.50. No row sees the \
word that comes next.
    """
    given = as_matrix(scores, "scores")
    if not np.isfinite(given).all():
        raise ValueError(
            "scores: got numbers that are not finite, wanted masks for what is blocked"
        )
    rows = as_labels(queries, "queries", given.shape[0], "query")
    columns = as_labels(queries if keys is None else keys, "keys", given.shape[1], "key")
    if not masks:
        raise ValueError("masks: got none, wanted at least one")
    allowed = {name: _as_mask(mask, name, given.shape) for name, mask in masks.items()}
    if unknown := sorted((notes or {}).keys() - allowed.keys()):
        raise ValueError(f"notes: got one on {unknown[0]!r}, wanted names of masks")
    to_predict = _as_answers(answers, given.shape)
    first, mask = next(iter(allowed.items()))
    weights = masked_softmax(given, mask)
    seen = _seen(mask, rows, to_predict)
    return LiveOutput(
        "paint-mask",
        drawing=_table(weights, mask, rows, columns, to_predict)
        + (f'<p class="am-mask-seen">{escape(seen)}</p>' if seen else ""),
        data={
            "scores": pack(given, "float64"),
            "queries": rows,
            "keys": columns,
            "masks": [{"name": name, "allowed": _flat(one)} for name, one in allowed.items()],
            "notes": [(notes or {}).get(name, "") for name in allowed],
            "answers": to_predict,
            "puzzles": [_as_puzzle(one, list(allowed), given.shape) for one in puzzles],
            "flip": flip,
        },
        label=label,
        alt=f"Mask: {first}. {_words(weights, mask, rows, columns)}.{f' {seen}' if seen else ''}",
        caption=caption,
        state=f"Mask: {first}.",
    )


def _as_answers(answers: Sequence[int | None], shape: tuple[int, ...]) -> list[int | None]:
    given = list(answers)
    if given and len(given) != shape[0]:
        raise ValueError(f"answers: got {len(given)}, wanted {shape[0]}, one for every query")
    for key in given:
        if key is not None and not 0 <= key < shape[1]:
            raise ValueError(f"answers: got {key}, wanted a key from 0 to {shape[1] - 1}")
    return given


def _as_puzzle(puzzle: MaskPuzzle, names: list[str], shape: tuple[int, ...]) -> dict[str, Any]:
    if puzzle.begin not in names:
        wanted = f"wanted one of {', '.join(names)}"
        raise ValueError(f"puzzles: {puzzle.name!r} begins with {puzzle.begin!r}, {wanted}")
    return {
        "name": puzzle.name,
        "question": puzzle.question,
        "begin": names.index(puzzle.begin),
        "allowed": _flat(_as_mask(puzzle.goal, puzzle.name, shape)),
    }


def _flat(mask: Flags) -> list[int]:
    flat: list[int] = mask.astype(int).ravel().tolist()
    return flat


def _seen(mask: Flags, rows: Sequence[str], answers: Sequence[int | None]) -> str:
    """Say which queries see the key that they have to predict; "" where none has to."""
    asked = [(query, key) for query, key in enumerate(answers) if key is not None]
    if not asked:
        return ""
    seen = [rows[query] for query, key in asked if mask[query, key]]
    if not seen:
        return "No row sees the word that comes next."
    return f"{len(seen)} of {len(asked)} rows see the word that comes next: {', '.join(seen)}."


def _as_mask(mask: Any, name: str, shape: tuple[int, ...]) -> Flags:
    given = np.asarray(mask)
    if given.dtype != np.bool_:
        raise TypeError(f"masks: {name!r} has dtype {given.dtype}, wanted booleans")
    try:
        return np.broadcast_to(given, shape)
    except ValueError:
        raise ValueError(f"masks: {name!r} has shape {given.shape}, wanted {shape}") from None


def _words(weights: Numbers, mask: Flags, rows: Sequence[str], columns: Sequence[str]) -> str:
    said = []
    for query, line, allowed in zip(rows, weights, mask, strict=True):
        shown = [f"{w:.2f}" if may else "blocked" for w, may in zip(line, allowed, strict=True)]
        said.append(f"{query}: {', '.join(map(' '.join, zip(columns, shown, strict=True)))}")
    return "; ".join(said)


def _table(
    weights: Numbers,
    mask: Flags,
    rows: Sequence[str],
    columns: Sequence[str],
    answers: Sequence[int | None],
) -> str:
    wanted = answers or [None] * len(rows)
    head = "".join(f'<th scope="col">{escape(key)}</th>' for key in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(query)}</th>'
        + "".join(
            _cell(float(weight), bool(one), key == answer)
            for key, (weight, one) in enumerate(zip(line, open_, strict=True))
        )
        + f'<td class="am-mask-sum">{line.sum():.2f}</td></tr>'
        for query, line, open_, answer in zip(rows, weights, mask, wanted, strict=True)
    )
    return (
        '<div class="am-mask-scroll"><table class="am-mask-table"><thead><tr>'
        f"<td>query ↓ key →</td>{head}"
        f'<th scope="col" class="am-mask-sum">sum</th></tr></thead><tbody>{body}</tbody></table>'
        "</div>"
    )


def _cell(weight: float, allowed: bool, answer: bool) -> str:
    ring = " am-mask-answer" if answer else ""
    if not allowed:
        return f'<td class="am-mask-cell am-mask-blocked{ring}"><span>–</span></td>'
    tenths = round(10 * weight)  # without a script there are classes alone
    return f'<td class="am-mask-cell{ring}"><span class="am-ink-{tenths}">{weight:.2f}</span></td>'
