"""The online softmax, one block at a time: three numbers, and the factor that corrects them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bookkit.inputs import as_labels, as_vector
from bookkit.playables.playable import Playable, playable
from companion.contracts import contract


@contract(block=">= 1")
def online_softmax_steps(
    scores: Any, values: Any, words: Sequence[str], *, block: int = 2, caption: str = ""
) -> Playable:
    """Show words going through an online softmax in blocks (Milakov & Gimelshein, 2018).

    The reader takes the blocks in one by one, changes their size and the order of the words, and
    can leave out the rescaling, which is right only as long as no later block has the maximum.
    Paper shows the block at which the old bars shrink most, above a table of all.

    Args:
        scores: (k,) scores, two to twelve.
        values: (k,) values to be blended, one number for each score.
        words: k words, one for each score.
        block: scores in a block, to begin with.
        caption: the words below it.

    Raises:
        TypeError: `scores` or `values` hold no numbers, or `block` is not whole.
        ValueError: too few or too many scores, numbers that are not finite, other numbers of
            values or words, or a block with more scores than there are.

    >>> online_softmax_steps([0.0, 2.0, 1.0, 3.0], [1, 0, 0, 1], list("abcd"))
    Online softmax, block by block: a drawing to play with.
    """
    given = as_vector(scores, "scores")
    if not 2 <= given.size <= 12 or not np.isfinite(given).all():
        raise ValueError(f"scores: got {given.tolist()}, wanted 2 to 12 finite numbers")
    blended = as_vector(values, "values", given.size)
    if not np.isfinite(blended).all():
        raise ValueError(f"values: got {blended.tolist()}, wanted finite numbers")
    labels = as_labels(words, "words", given.size, "score")
    if block > given.size:
        raise ValueError(f"block: got {block}, wanted at most the {given.size} scores")
    return playable(
        "tiles",
        "Online softmax, block by block",
        caption=caption,
        scores=given,
        values=blended,
        words=labels,
        block=block,
    )
