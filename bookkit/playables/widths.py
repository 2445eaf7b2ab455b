"""Width and scale to touch: what they do to weights, and to the gradient that reaches a query."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bookkit.inputs import as_matrix, as_numbers
from bookkit.playables.playable import Playable, playable


def width_explorer(
    widths: Sequence[int],
    scores: Any,
    lengths: Any,
    *,
    marked: int,
    width: int = 64,
    divided: bool = False,
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
        divided: begin with scores that are divided by sqrt(d).
        caption: the words below it.

    Raises:
        TypeError: `scores` or `lengths` hold no numbers.
        ValueError: shapes disagree, a length is negative, or a setting is none of the controls'.

    >>> width_explorer([4, 16], [[2.0, 0.0], [8.0, 0.0]], [[[0.5], [0.1]], [[0.2], [0.3]]],
    ...                marked=0, width=16)
    Width, scale and gradient: a drawing to play with.
    """
    table, reach = as_matrix(scores, "scores"), as_numbers(lengths, "lengths")
    _check(widths, table, reach, marked, width)
    return playable(
        "width-scale",
        "Width, scale and gradient",
        caption=caption,
        widths=[int(one) for one in widths],
        scores=table,
        lengths=reach,
        marked=marked,
        width=list(widths).index(width),
        divided=bool(divided),
    )


def _check(
    widths: Sequence[int],
    scores: NDArray[np.float64],
    lengths: NDArray[np.float64],
    marked: int,
    width: int,
) -> None:
    w = len(widths)
    if w < 2 or list(widths) != sorted(set(widths)) or widths[0] < 1:
        raise ValueError(f"widths: got {list(widths)}, wanted two or more that rise")
    if len(scores) != w or not np.isfinite(scores).all():
        raise ValueError(f"scores: got shape {scores.shape}, wanted ({w}, k) finite numbers")
    if lengths.ndim != 3 or lengths.shape[:2] != (2, w) or not lengths.size:
        raise ValueError(f"lengths: got shape {lengths.shape}, wanted (2, {w}, n)")
    if not (np.isfinite(lengths).all() and (lengths >= 0).all()):
        raise ValueError("lengths: got one that is no length, wanted finite numbers from 0 on")
    if not 0 <= marked < lengths.shape[-1]:
        raise ValueError(f"marked: got {marked}, wanted 0 to {lengths.shape[-1] - 1}")
    if width not in widths:
        raise ValueError(f"width: got {width!r}, wanted one of {', '.join(map(str, widths))}")
