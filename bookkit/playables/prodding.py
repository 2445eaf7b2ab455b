"""Black boxes of attention: a reader changes words, sees which outputs move, and names the bug."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bookkit.inputs import as_labels, as_matrix
from bookkit.playables.playable import Playable, playable
from companion.contracts import contract

ORDERS = {
    "both": "every word reads every word.",
    "causal": "every word reads itself and the words before it.",
    "window": "every word reads itself and the two words before it.",
    "filler": "every word reads the first three. The rest is filler, and its outputs do not count.",
    "cache": "every word reads itself and the words before it. They come one by one, with a cache.",
}
"""What a box should do."""
BUGS = {
    "upside down": "The mask is open where it should be closed, and the other way round.",
    "a view": "A view cut the heads, so each is a piece of the sentence, not a part of each word.",
    "the wrong axis": "A word reads the words at its position in the other sentences of the batch.",
    "w or w + 1": "The window reaches back one word too far.",
    "looked at": "Nobody masked the filler, so every word looks at it.",
    "first-key corner": "The mask begins at the first key, so every word sees the first one only.",
    "sound": "All outputs moved that should move, and no other.",
}
"""What a box may do instead."""
BOXES = (
    ("causal", "upside down"), ("both", "the wrong axis"), ("window", "w or w + 1"),
    ("causal", "sound"), ("filler", "looked at"), ("both", "a view"), ("cache", "first-key corner"),
    ("window", "upside down"), ("filler", "sound"), ("causal", "a view"), ("both", "sound"),
    ("causal", "the wrong axis"), ("window", "a view"), ("window", "the wrong axis"),
    ("window", "sound"), ("filler", "upside down"), ("cache", "sound"),
)  # fmt: skip
"""What was ordered and what came; the first ten are the first game."""


@contract(heads=">= 1")
def prod_it(
    words: Sequence[str],
    changed: Sequence[str],
    x: Any,
    other: Any,
    *,
    beside: Any,
    heads: int,
    caption: str = "",
) -> Playable:
    """Show boxes that attend from six words to six words, each with a bug or sound.

    Args:
        words: what the rows of x stand for.
        changed: what each of them becomes when it is pressed.
        x: (6, e) the words' vectors, which are queries, keys and values.
        other: (6, e) the vectors of what they become.
        beside: (6, e) another sentence of the batch, which the wrong axis reads.
        heads: their number, which divides e.

    >>> x = np.eye(6)
    >>> prod_it(list("abcdef"), list("uvwxyz"), x, 2 * x, beside=3 * x, heads=2)
    Black boxes of attention to prod: a drawing to play with.
    """
    rows = as_matrix(x, "x")
    if rows.shape[0] != 6 or rows.shape[1] % heads:
        raise ValueError(f"x: got shape {rows.shape}, wanted (6, e), with e a multiple of {heads}")
    both = {"other": as_matrix(other, "other"), "beside": as_matrix(beside, "beside")}
    for name, one in both.items():
        if one.shape != rows.shape or np.array_equal(one, rows):
            raise ValueError(f"{name}: got shape {one.shape}, wanted {rows.shape} and other words")
    return playable(
        "prod-it",
        "Black boxes of attention to prod",
        caption=caption,
        words=as_labels(words, "words", 6, "row of x"),
        changed=as_labels(changed, "changed", 6, "row of other"),
        x=rows,
        heads=heads,
        boxes=BOXES,
        orders=ORDERS,
        bugs=BUGS,
        **both,
    )
