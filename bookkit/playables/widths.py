"""Width and scale to touch: what they do to weights, and to the gradient that reaches a query."""

from collections.abc import Sequence
from math import inf
from typing import Any

from bookkit.inputs import FINITE, all_within, as_matrix, as_numbers, in_span, one_of
from bookkit.playables.playable import Playable, playable


def width_explorer(
    widths: Sequence[int],
    scores: Any,
    lengths: Any,
    *,
    marked: int,
    width: int = 64,
    caption: str = "",
) -> Playable:
    """Show the weights of one query, and how much gradient reaches many, by width and scale.

    Args:
        widths: (w,) the widths d to choose from, rising.
        scores: (w, k) dot products of the marked query with its keys at each width, not divided.
        lengths: (2, w, n) how long the gradient at each of n queries is at each width: first for
            scores that are not divided, then for scores divided by sqrt(d).
        marked: the number of the query that `scores` belongs to.
        width: the width to begin with, one of `widths`.

    >>> width_explorer([4, 16], [[2.0, 0.0], [8.0, 0.0]], [[[0.5], [0.1]], [[0.2], [0.3]]],
    ...                marked=0, width=16)
    Width, scale and gradient: a drawing to play with.
    """
    w = len(widths)
    if w < 2 or list(widths) != sorted(set(widths)) or widths[0] < 1:
        raise ValueError(f"widths: got {list(widths)}, wanted two or more that rise")
    table = as_matrix(scores, "scores", within=FINITE)
    if len(table) != w:
        raise ValueError(f"scores: got shape {table.shape}, wanted ({w}, k)")
    reach = all_within(as_numbers(lengths, "lengths"), "lengths", (0, inf))
    if reach.ndim != 3 or reach.shape[:2] != (2, w) or not reach.size:
        raise ValueError(f"lengths: got shape {reach.shape}, wanted (2, {w}, n)")
    in_span(marked, "marked", 0, reach.shape[-1] - 1)
    return playable(
        "width-scale",
        "Width, scale and gradient",
        caption=caption,
        widths=[int(one) for one in widths],
        scores=table,
        lengths=reach,
        marked=marked,
        width=one_of(width, "width", widths),
        divided=False,
    )
