"""A mask painted by hand: the reader blocks keys, and the softmax rows change at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bookkit.inputs import FINITE, as_labels, as_matrix, in_span, one_of
from bookkit.playables.playable import Playable, playable


@dataclass(frozen=True)
class MaskPuzzle:
    """A mask to be painted, which is described in words."""

    name: str  # what its button says
    question: str  # which mask is wanted
    begin: str  # the name of the mask to begin with
    goal: Any  # boolean array that broadcasts to (q, k), True = may attend


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
    caption: str = "",
) -> Playable:
    """Show the weights of every query as a table; the reader paints who may look at whom.

    A click, a touch or the space bar allows or blocks a cell, a drag paints several, arrow keys
    move. Without scripts it shows the first of `masks`.

    Args:
        scores: (q, k) what the softmax gets, scaled.
        queries: q tokens, the rows.
        keys: k tokens, the columns; None means those of the queries, for self-attention.
        masks: the masks to begin with, by name, the first one shown: boolean arrays that broadcast
            to (q, k), True = may attend.
        notes: what is said of a mask when it is chosen, by its name.
        answers: for every query, the key that it has to predict, or None; these cells are ringed,
            and a line counts the rings that the mask allows. Empty for no rings.
        puzzles: masks that the reader is asked to paint.
        flip: whether a button turns the mask upside down.

    >>> from companion import causal_mask
    >>> paint_mask([[0.0, 0.0], [0.0, 0.0]], ["I", "am"], masks={"causal": causal_mask(2)},
    ...            answers=[1, None])
    A mask to paint: a drawing to play with.
    """
    given = as_matrix(scores, "scores", within=FINITE)
    rows = as_labels(queries, "queries", given.shape[0], "query")
    columns = as_labels(queries if keys is None else keys, "keys", given.shape[1], "key")
    if not masks:
        raise ValueError("masks: got none, wanted at least one")
    notes = notes or {}
    for name in notes:
        one_of(name, "notes", masks)
    if answers and len(answers) != len(rows):
        raise ValueError(f"answers: got {len(answers)}, wanted {len(rows)}, one for every query")
    for key in answers:
        in_span(key or 0, "answers", 0, len(columns) - 1)
    return playable(
        "paint-mask",
        "A mask to paint",
        caption=caption,
        scores=given,
        queries=rows,
        keys=columns,
        masks=[
            {
                "name": name,
                "allowed": _as_mask(mask, name, given.shape),
                "note": notes.get(name, ""),
            }
            for name, mask in masks.items()
        ],
        answers=list(answers) or [None] * len(rows),
        puzzles=[
            {
                "name": puzzle.name,
                "question": puzzle.question,
                "begin": one_of(puzzle.begin, "puzzles", masks),
                "allowed": _as_mask(puzzle.goal, puzzle.name, given.shape),
            }
            for puzzle in puzzles
        ],
        flips=flip,
    )


def _as_mask(mask: Any, name: str, shape: tuple[int, ...]) -> NDArray[np.int_]:
    given = np.asarray(mask)
    if given.dtype != np.bool_:
        raise TypeError(f"masks: {name!r} has dtype {given.dtype}, wanted booleans")
    try:
        return np.broadcast_to(given, shape).astype(int)
    except ValueError:
        raise ValueError(f"masks: {name!r} has shape {given.shape}, wanted {shape}") from None
