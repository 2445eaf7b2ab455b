"""The running sentence as six vectors in the plane, small enough to compute with by hand."""

import numpy as np
from numpy.typing import NDArray

_ARROWS = {
    "she": (1, -1), "works": (-1, -1), "in": (-1, 0), "the": (0, 1), "new": (1, 1), "house": (2, 0),
}  # fmt: skip


def plane_words() -> tuple[list[str], NDArray[np.float64]]:
    """Return the words of *she works in the new house* and one vector for each, shape (6, 2).

    The vectors are chosen by hand for the pages that draw queries and keys as arrows. No model has
    learned them, so their directions say nothing about English.

    >>> words, vectors = plane_words()
    >>> words[-1], vectors[-1].tolist()
    ('house', [2.0, 0.0])
    """
    return list(_ARROWS), np.array(list(_ARROWS.values()), dtype=np.float64)
