"""Query, keys and blend as arrows in the plane: a soft lookup that the reader turns by hand."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bookkit.inputs import as_labels, as_matrix
from bookkit.playables.playable import Playable, playable

SCORES = ("dot product", "Gaussian")
TEMPERATURES = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 50, 100)
STEPS = 10
"""Steps of the query, and of the length of a key, from one whole number to the next."""
REACH = ((-2.0, 4.0), (-2.0, 2.0))
"""How far the query goes, in each of the two directions."""
LENGTHS = (0.5, 3.5)

Plane = NDArray[np.float64]


def arrow_lookup(
    words: Sequence[str],
    vectors: Any,
    *,
    query: tuple[float, float] = (1.0, 1.0),
    temperature: float = 1,
    stretched: str,
    length: float,
    score: str = "dot product",
    caption: str = "",
) -> Playable:
    """Show a soft lookup among arrows; the reader drags the query and turns what it depends on.

    The vectors are keys and values in one, but for one word: its key has the length that the
    reader sets, and its value stays what it is. The Gaussian score is -|q - k|^2 / 2.

    Args:
        words: k words.
        vectors: (k, 2) one vector for each, none of them zero.
        query: to begin with, in tenths within `REACH`.
        temperature: by which scores are divided, to begin with; one of `TEMPERATURES`.
        stretched: the word whose key can be made longer and shorter.
        length: of that key to begin with, in tenths within `LENGTHS`.
        score: to begin with, one of `SCORES`.
        caption: the words below it.

    Raises:
        TypeError: `vectors` holds no numbers.
        ValueError: words and vectors disagree, or a setting is none of the controls'.

    >>> arrow_lookup(["the", "new", "house"], [[0, 1], [1, 1], [2, 0]],
    ...              stretched="house", length=2.0)
    A soft lookup among arrows: a drawing to play with.
    """
    value = as_matrix(vectors, "vectors").astype(np.float64)
    names = as_labels(words, "words", value.shape[0], "row")
    _check(value, names, stretched)
    _check_settings(query, temperature, length, score)
    return playable(
        "arrow-lookup",
        "A soft lookup among arrows",
        caption=caption,
        words=names,
        values=value,
        stretched=names.index(stretched),
        temperatures=TEMPERATURES,
        reach=REACH,
        lengths=[round(end * STEPS) for end in LENGTHS],
        query=[round(number * STEPS) for number in query],
        temperature=TEMPERATURES.index(temperature),
        length=round(length * STEPS),
        score=SCORES.index(score),
    )


def _check(value: Plane, names: Sequence[str], stretched: str) -> None:
    if value.shape[1] != 2 or not np.isfinite(value).all():
        raise ValueError(f"vectors: got shape {value.shape}, wanted (k, 2) finite numbers")
    if not np.linalg.norm(value, axis=1).all():
        raise ValueError("vectors: got one of length 0, wanted arrows that point somewhere")
    if stretched not in names:
        raise ValueError(f"stretched: got {stretched!r}, wanted one of {', '.join(names)}")


def _check_settings(
    query: tuple[float, float], temperature: float, length: float, score: str
) -> None:
    for name, number, (low, high) in (
        ("query", query[0], REACH[0]),
        ("query", query[1], REACH[1]),
        ("length", length, LENGTHS),
    ):
        if not low <= number <= high or number != round(number * STEPS) / STEPS:
            raise ValueError(f"{name}: got {number}, wanted tenths from {low:g} to {high:g}")
    if temperature not in TEMPERATURES:
        raise ValueError(f"temperature: got {temperature}, wanted one of {TEMPERATURES}")
    if score not in SCORES:
        raise ValueError(f"score: got {score!r}, wanted one of {SCORES}")
