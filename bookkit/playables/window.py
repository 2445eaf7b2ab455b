"""A window to move: what local attention sees of a sentence, and what its Gaussian is for."""

from collections.abc import Sequence
from typing import Any

from bookkit.inputs import FINITE, as_labels, as_matrix, in_span, one_of
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
        position: p to begin with, from 0 to k - 1; rounded to tenths.
        half_width: D to begin with, one of `HALF_WIDTHS`.

    >>> local_window(["new", "house"], ["casa", "nueva"], [[0.0, 2.0], [1.0, 0.0]], [1, 0],
    ...              position=1.0, half_width=1)
    A window around a predicted position: a drawing to play with.
    """
    matrix = as_matrix(scores, "scores", within=FINITE)
    below = as_labels(target, "target", matrix.shape[0], "row")
    above = as_labels(source, "source", matrix.shape[1], "column")
    if len(links) != len(below):
        raise ValueError(f"links: got {len(links)} places, wanted {len(below)}")
    for place in links:
        in_span(place, "links", 0, len(above) - 1)
    in_span(row, "row", 0, len(below) - 1)
    in_span(position, "position", 0, len(above) - 1)
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
        half=one_of(half_width, "half_width", HALF_WIDTHS),
        soft=1,
    )
