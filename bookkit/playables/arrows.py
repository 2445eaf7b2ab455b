"""Query, keys and blend as arrows in the plane: a soft lookup that the reader turns by hand."""

from collections.abc import Sequence
from typing import Any

from bookkit.inputs import FINITE, as_labels, as_matrix, in_span, one_of
from bookkit.playables.playable import Playable, playable

TEMPERATURES = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 50, 100)
STEPS = 10
"""Steps of the query, and of the length of a key, from one whole number to the next."""
REACH = ((-2.0, 4.0), (-2.0, 2.0))
"""How far the query goes, in each of the two directions."""
LENGTHS = (0.5, 3.5)


def arrow_lookup(
    words: Sequence[str], vectors: Any, *, stretched: str, length: float, caption: str = ""
) -> Playable:
    """Show a soft lookup among arrows; the reader drags the query and turns what it depends on.

    The vectors are keys and values in one, but for one word: its key has the length that the
    reader sets, and its value stays what it is. The Gaussian score is -|q - k|^2 / 2.

    Args:
        words: k words.
        vectors: (k, 2) one vector for each, none of them zero.
        stretched: the word whose key can be made longer and shorter.
        length: of that key to begin with, in tenths within `LENGTHS`.

    >>> arrow_lookup(["the", "new", "house"], [[0, 1], [1, 1], [2, 0]],
    ...              stretched="house", length=2.0)
    A soft lookup among arrows: a drawing to play with.
    """
    value = as_matrix(vectors, "vectors", 2, within=FINITE)
    names = as_labels(words, "words", value.shape[0], "row")
    if not value.any(axis=1).all():
        raise ValueError("vectors: got one of length 0, wanted arrows that point somewhere")
    in_span(length, "length", *LENGTHS)
    return playable(
        "arrow-lookup",
        "A soft lookup among arrows",
        caption=caption,
        words=names,
        values=value,
        stretched=one_of(stretched, "stretched", names),
        temperatures=TEMPERATURES,
        reach=REACH,
        lengths=[round(end * STEPS) for end in LENGTHS],
        query=(STEPS, STEPS),
        temperature=TEMPERATURES.index(1),
        length=round(length * STEPS),
        score=0,
    )
