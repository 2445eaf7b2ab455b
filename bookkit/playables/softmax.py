"""A softmax to touch: what the temperature does to its shares."""

from collections.abc import Sequence
from typing import Any

from bookkit.inputs import FINITE, as_labels, as_vector
from bookkit.playables.playable import Playable, playable

TEMPERATURES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 7, 10)


def softmax_explorer(names: Sequence[str], scores: Any) -> Playable:
    """Show the shares that a softmax makes of some scores, with a slider for the temperature.

    Args:
        names: (k,) what the scores belong to.
        scores: (k,) the scores.

    >>> softmax_explorer(["cat", "mat"], [1.0, 0.5])
    Softmax and temperature: a drawing to play with.
    """
    given = as_vector(scores, "scores", within=FINITE)
    return playable(
        "softmax",
        "Softmax and temperature",
        names=as_labels(names, "names", given.size, "score"),
        scores=given,
        temperatures=TEMPERATURES,
        temperature=TEMPERATURES.index(1),
    )
