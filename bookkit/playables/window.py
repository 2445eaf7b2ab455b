"""A window to move: what local attention sees of a sentence, and what its Gaussian is for."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bookkit.inputs import as_labels, as_matrix
from bookkit.playables.playable import Playable, playable

STEPS = 10
"""Steps of the slider from one word to the next."""
HALF_WIDTHS = (1, 2, 3, 4, 5)


def local_window(
    source: Sequence[str],
    target: Sequence[str],
    scores: Any,
    links: Sequence[int],
    *,
    row: int = 0,
    position: float = 0.0,
    half_width: int = 2,
    soft: bool = True,
    caption: str = "",
) -> Playable:
    """Show the weights of one target word through a window that the reader moves and widens.

    The softmax runs over the words from p - D to p + D, which are counted from 0. With the
    Gaussian it is multiplied by exp(-(j - p)^2 / (2 sigma^2)) at word j, sigma = D / 2, as
    `LuongAttention` does for a predicted position. Dotted outlines show the weights without a
    window.

    Args:
        source: k words to look at.
        target: q words, of which one is written.
        scores: (q, k) scores of the target words for the source words.
        links: (q,) for every target word the place of the source word that it translates.
        row: the target word to begin with.
        position: p to begin with, in tenths from 0 to k - 1.
        half_width: D to begin with, one of `HALF_WIDTHS`.
        soft: begin with the Gaussian.
        caption: the words below it.

    Raises:
        TypeError: `scores` holds no numbers.
        ValueError: words, links and scores disagree, or a setting is none of the controls'.

    >>> local_window(["new", "house"], ["casa", "nueva"], [[0.0, 2.0], [1.0, 0.0]], [1, 0],
    ...              position=1.0, half_width=1)
    A window around a predicted position: a drawing to play with.
    """
    matrix = as_matrix(scores, "scores").astype(np.float64)
    below = as_labels(target, "target", matrix.shape[0], "row")
    above = as_labels(source, "source", matrix.shape[1], "column")
    _check(matrix, list(links), row, position, half_width)
    return playable(
        "local-window",
        "A window around a predicted position",
        caption=caption,
        source=above,
        target=below,
        scores=matrix,
        links=[int(place) for place in links],
        halves=HALF_WIDTHS,
        row=row,
        tenths=round(position * STEPS),
        half=HALF_WIDTHS.index(half_width),
        soft=int(soft),
    )


def _check(
    matrix: NDArray[np.float64], links: list[int], row: int, position: float, half_width: int
) -> None:
    q, k = matrix.shape
    if not np.isfinite(matrix).all():
        raise ValueError("scores: got one that is not finite, wanted finite numbers")
    if len(links) != q or not all(0 <= place < k for place in links):
        raise ValueError(f"links: got {links}, wanted {q} places from 0 to {k - 1}")
    if not 0 <= row < q:
        raise ValueError(f"row: got {row}, wanted 0 to {q - 1}")
    if not 0 <= position <= k - 1 or position != round(position * STEPS) / STEPS:
        raise ValueError(f"position: got {position}, wanted tenths from 0 to {k - 1}")
    if half_width not in HALF_WIDTHS:
        raise ValueError(f"half_width: got {half_width}, wanted one of {HALF_WIDTHS}")
