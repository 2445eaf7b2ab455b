"""One query that the reader drags, and the weights that three scores give to the same words."""

from collections.abc import Sequence
from typing import Any

from bookkit.inputs import FINITE, as_labels, as_matrix, as_vector, in_span
from bookkit.playables.playable import Playable, playable

REACH = 2.5
"""The length of the longest query."""


def three_scores(
    words: Sequence[str],
    memory: Any,
    query: tuple[float, float],
    *,
    turn: Any,
    counts: Any,
    caption: str = "",
) -> Playable:
    """Show the weights that the dot, the general and the concat score give to the same words.

    Args:
        words: k words.
        memory: (k, 2) a vector for each.
        query: where it is to begin with, in tenths.
        turn: (2, 2) the matrix of the general score.
        counts: (2,) the vector of the concat score, whose matrices are the identity.

    >>> three_scores(["the", "new"], [[0, 1], [1, 1]], (1, 0), turn=[[0, 1], [1, 0]], counts=[1, 3])
    Three scores of one query: a drawing to play with.
    """
    vectors = as_matrix(memory, "memory", 2, within=FINITE)
    for number in query:
        in_span(number, "query", -REACH, REACH)
    return playable(
        "three-scores",
        "Three scores of one query",
        caption=caption,
        words=as_labels(words, "words", len(vectors), "row"),
        memory=vectors,
        turn=as_matrix(turn, "turn", 2, within=FINITE),
        counts=as_vector(counts, "counts", 2),
        reach=REACH,
        query=[round(10 * number) for number in query],
    )
