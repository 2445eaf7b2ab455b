"""The online softmax, one block at a time: three numbers, and the factor that corrects them."""

from collections.abc import Sequence
from typing import Any

from bookkit.inputs import FINITE, as_labels, as_vector
from bookkit.playables.playable import Playable, playable


def online_softmax_steps(
    scores: Any, values: Any, words: Sequence[str], *, caption: str = ""
) -> Playable:
    """Show words going through an online softmax in blocks (Milakov & Gimelshein, 2018).

    The reader takes the blocks in one by one, changes their size and the order of the words, and
    can leave out the rescaling, which is right only as long as no later block has the maximum.
    Paper shows the block at which the old bars shrink most, above a table of all.

    Args:
        scores: (k,) scores, two to twelve.
        values: (k,) values to be blended, one number for each score.
        words: k words, one for each score.

    >>> online_softmax_steps([0.0, 2.0, 1.0, 3.0], [1, 0, 0, 1], list("abcd"))
    Online softmax, block by block: a drawing to play with.
    """
    given = as_vector(scores, "scores", within=FINITE)
    if not 2 <= given.size <= 12:
        raise ValueError(f"scores: got {given.size} numbers, wanted 2 to 12")
    return playable(
        "tiles",
        "Online softmax, block by block",
        caption=caption,
        scores=given,
        values=as_vector(values, "values", given.size, within=FINITE),
        words=as_labels(words, "words", given.size, "score"),
        block=2,
    )
