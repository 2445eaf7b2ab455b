"""A memory of fixed size: pairs that a reader writes on a board, beside a shelf that keeps them."""

from collections.abc import Sequence

import numpy as np

from bookkit.inputs import Numbers
from bookkit.playables.playable import Playable, playable

SIZES = (4, 8, 16)
"""How many rows the board may have."""
WIDTH = 8
"""Numbers in the pattern of a value."""
PATTERNS = 32
KEPT = 0.9
"""What a board that fades keeps at each pair."""


def whiteboard(names: Sequence[str], *, seed: int = 1, caption: str = "") -> Playable:
    """Show a state that pairs of a name and a number are written into, by the rule of one's choice.

    A name is a direction, a number one of 32 patterns of length 1; both are drawn, or the names
    stand at right angles, and begin again where there are more of them than rows. What a board says
    is the pattern nearest to what it reads.

    Args:
        names: up to 16.

    >>> whiteboard(["Ana", "Ben"])
    A board of fixed size, and a shelf that grows: a drawing to play with.
    """
    labels = list(names)
    draw = np.random.default_rng(seed)

    def drawn(count: int, width: int) -> Numbers:
        vectors = draw.normal(size=(count, width))
        unit: Numbers = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    numbers = draw.permutation(PATTERNS)[: len(labels)]
    return playable(
        "whiteboard",
        "A board of fixed size, and a shelf that grows",
        caption=caption,
        names=labels,
        numbers=numbers,
        patterns=drawn(PATTERNS, WIDTH).tolist(),
        sizes=SIZES,
        keys=[
            [drawn(len(labels), rows), np.eye(rows)[np.arange(len(labels)) % rows]]
            for rows in SIZES
        ],
        kept=KEPT,
        first=[[name, int(numbers[name])] for name in range(min(2, len(labels)))],
    )
