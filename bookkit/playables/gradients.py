"""A small attention whose numbers a reader edits: they flow forward, and gradients flow back."""

from collections.abc import Sequence
from typing import Any

from bookkit.inputs import as_labels, as_matrix, as_vector
from bookkit.playables.playable import Playable, playable

MOST = 9.0
"""How large a number of a vector can be made, on either side of 0."""
_WIDEST = 4  # more numbers would not fit beside each other


def gradient_flow(
    words: Sequence[str], query: Any, memory: Any, wanted: Any, *, caption: str = ""
) -> Playable:
    """Show one query's attention with the gradient of a loss under every number.

    The scores are dot products of the query with the memory, which is also what is blended. The
    loss is half the squared distance of the blend from what was wanted. A reader can edit every
    number that is given, and every score by itself.

    Args:
        words: (k,) what the rows of the memory stand for.
        query: (d,) the query, at most four numbers.
        memory: (k, d) keys and values in one.
        wanted: (d,) what the blend should have been.

    >>> gradient_flow(["new", "house"], [1, 1], [[1, 1], [2, 0]], [1, 1])
    An attention with its gradients: a drawing to play with.
    """
    span = (-MOST, MOST)
    rows = as_matrix(memory, "memory", within=span)
    d = rows.shape[1]
    if d > _WIDEST:
        raise ValueError(f"memory: got width {d}, wanted at most {_WIDEST}")
    return playable(
        "gradient-flow",
        "An attention with its gradients",
        caption=caption,
        words=as_labels(words, "words", len(rows), "row of the memory"),
        query=as_vector(query, "query", d, within=span),
        memory=rows,
        wanted=as_vector(wanted, "wanted", d, within=span),
        most=MOST,
    )
