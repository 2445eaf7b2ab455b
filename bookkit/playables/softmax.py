"""A softmax to touch: what the width of the vectors and the temperature do to it."""

from collections.abc import Sequence
from typing import Any

from bookkit.inputs import FINITE, as_labels, as_vector, one_of
from bookkit.playables.playable import Playable, playable

# The series R20 of ISO 3 from 0.1 to 10: nearly even steps of a logarithm that meet 2, 4 and 8, the
# square roots of 4, 16 and 64. What is shown is what is computed with.
_DECADE = (
    1.0, 1.12, 1.25, 1.4, 1.6, 1.8, 2.0, 2.24, 2.5, 2.8,
    3.15, 3.55, 4.0, 4.5, 5.0, 5.6, 6.3, 7.1, 8.0, 9.0,
)  # fmt: skip
TEMPERATURES = (*(round(number / 10, 3) for number in _DECADE), *_DECADE, 10.0)
WIDTHS = tuple(2**power for power in range(10))


def softmax_explorer(names: Sequence[str], scores: Any, *, width: int = 64) -> Playable:
    """Show the weights of some keys and their derivatives, by width, scale and temperature.

    Scores of a width d are the given ones times sqrt(d): so much do dot products of vectors with
    independent entries of variance 1 spread. Dotted outlines stay where the scores, divided by
    sqrt(d), have their weights at temperature 1.

    Args:
        names: (k,) what the keys are called.
        scores: (k,) scores at width 1.
        width: the width d to begin with, one of `WIDTHS`.

    >>> softmax_explorer(["cat", "mat"], [1.0, 0.5])
    Softmax, width and temperature: a drawing to play with.
    """
    given = as_vector(scores, "scores", within=FINITE)
    labels = as_labels(names, "names", given.size, "score")
    return playable(
        "softmax",
        "Softmax, width and temperature",
        names=labels,
        scores=given,
        widths=WIDTHS,
        temperatures=TEMPERATURES,
        width=one_of(width, "width", WIDTHS),
        temperature=TEMPERATURES.index(1.0),
        divided=False,
    )
