"""A query to drag: scores, weights and context of a few memories in the plane follow it."""

from collections.abc import Mapping, Sequence
from math import ceil, floor
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

from bookkit.inputs import FINITE, as_labels, as_matrix, as_vector, in_span, one_of
from bookkit.playables.playable import Playable, playable

TEMPERATURES = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 50, 100)
LENGTHS = (0.5, 3.5)
REACH = ((-1, -1), (3, 3))
"""How far the query goes at least, in both directions."""


def drag_query(
    words: Sequence[str],
    memories: Any,
    query: Any,
    *,
    queries: Mapping[str, Any] | None = None,
    fixed: tuple[str, Any] | None = None,
    best: bool = False,
    temperature: bool = False,
    gaussian: bool = False,
    stretched: str | None = None,
    reach: Sequence[Any] = REACH,
    caption: str = "",
) -> Playable:
    """Show a few memories and a query that the reader drags: its scores, its weights, its context.

    Scores are dot products. By mouse, finger or arrow keys, the query moves in steps of a tenth.

    Args:
        words: k words.
        memories: (k, 2) what is looked at, key and value in one; not all on one line.
        query: (2,) where the query is at first.
        queries: further queries by the word that they help to write, with a button for each.
        fixed: a name and (2,) a vector that stays where it is, to compare the context with.
        best: mark the best word, which is what a hard choice would return.
        temperature: offer `TEMPERATURES`, from 1 on.
        gaussian: offer the score -|q - k|^2 / 2, too.
        stretched: a word whose key can have a length within `LENGTHS`; its value stays.
        reach: two corners; the query goes at least that far, and as far as all that is shown.

    >>> drag_query(["the", "new", "house"], [[0, 1], [1, 1], [2, 0]], (1, 0))
    A query to drag: a drawing to play with.
    """
    keys = as_matrix(memories, "memories", 2, within=FINITE)
    names = as_labels(words, "words", len(keys), "row")
    place = None if stretched is None else one_of(stretched, "stretched", names)
    long = 1.0 if place is None else float(np.hypot(*keys[place]))
    in_span(long, "length of the stretched word", *LENGTHS)
    first, further = as_vector(query, "query", 2, within=FINITE), dict(queries or {})
    asked = as_matrix([first, *further.values()], "queries", 2, within=FINITE)
    tenths = np.rint(10 * asked).astype(int)
    shown = np.vstack([keys, asked, *reach]).T
    return playable(
        "drag-query",
        "A query to drag",
        caption=caption,
        words=names,
        memories=keys,
        hull=keys[ConvexHull(keys).vertices],
        query=tenths[0],
        queries=[{"name": n, "query": q} for n, q in zip(further, tenths[1:], strict=True)],
        asked=next((at for at, q in enumerate(tenths[1:]) if (q == tenths[0]).all()), -1),
        fixed=fixed and {"name": fixed[0], "at": as_vector(fixed[1], "fixed", 2, within=FINITE)},
        best=best,
        temperatures=TEMPERATURES if temperature else (1,),
        heat=TEMPERATURES.index(1) if temperature else 0,
        gaussian=gaussian,
        stretched=place,
        long=round(10 * long),
        reach=[(floor(one.min()), ceil(one.max())) for one in shown],
    )
