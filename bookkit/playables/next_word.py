"""One next word to choose: what temperature, top-k, top-p and min-p leave of its probabilities."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bookkit.inputs import FINITE, as_labels, as_matrix
from bookkit.playables.playable import Playable, playable

TEMPERATURES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
TOP_KS = (1, 2, 3, 5, 10, 20, 50, None)
TOP_PS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, None)
MIN_PS = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, None)
"""What the sliders offer; None cuts nothing."""
ROWS = 8
"""How many words have a bar of their own; the same as in `next-word.js`."""


def next_word(
    words: Sequence[str],
    beginnings: Sequence[str],
    logits: Any,
    possible: Any,
    *,
    caption: str = "",
) -> Playable:
    """Show what the next word is drawn from; the reader sets temperature, top-k, top-p and min-p.

    They act in the order of `companion.decoding.sample`. Dotted outlines stay where the model's own
    probabilities are. A word that cannot come next has a cross. One bar in grey is for all words
    that have no bar of their own, whether they can come next or not.

    Args:
        words: (n,) the vocabulary.
        beginnings: (m,) the beginnings to choose from.
        logits: (m, n) what the model gives every next word.
        possible: (m, n) True where the word can come next.

    >>> import numpy as np
    >>> next_word([f"w{n}" for n in range(13)], ["so"], np.arange(13.0)[None], np.ones((1, 13)))
    What the next word is drawn from: a drawing to play with.
    """
    given = as_matrix(logits, "logits", within=FINITE)
    labels = as_labels(words, "words", given.shape[1], "column")
    begun = as_labels(beginnings, "beginnings", given.shape[0], "row")
    right = np.asarray(possible, dtype=bool)
    if right.shape != given.shape:
        raise ValueError(f"possible: got shape {right.shape}, wanted {given.shape}, as logits")
    if len(labels) <= ROWS:
        raise ValueError(f"words: got {len(labels)}, wanted more than {ROWS}")
    return playable(
        "next-word",
        "What the next word is drawn from",
        caption=caption,
        words=labels,
        beginnings=begun,
        logits=given,
        possible=right,
        temperatures=TEMPERATURES,
        topKs=TOP_KS,
        topPs=TOP_PS,
        minPs=MIN_PS,
    )
