"""A softmax that the reader computes in narrow numbers, until it overflows or vanishes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from bookkit.inputs import FINITE, as_labels, as_vector, one_of
from bookkit.playables.playable import Playable, playable
from companion.attention import masked_softmax


class NumberType(NamedTuple):
    """A binary type of floating-point numbers."""

    name: str  # what it is called
    digits: int  # its significant bits, the one that is not stored counted
    lowest: int  # the exponent of its smallest number with all these bits
    largest: float  # its largest finite number


TYPES = (
    NumberType("float32", 24, -126, (2 - 2.0**-23) * 2.0**127),
    NumberType("float16", 11, -14, 65504.0),
    NumberType("bfloat16", 8, -126, (2 - 2.0**-7) * 2.0**127),
)
SHIFTS = (
    -120, -104, -100, -90, -80, -60, -40, -30, -20, -19, -18, -17, -16, -15, -12, -10, -5,
    0, 5, 7, 8, 9, 10, 11, 12, 15, 20, 40, 60, 80, 84, 85, 86, 87, 88, 90, 100, 150, 200, 255, 300,
)  # fmt: skip
"""What can be added to all scores: close together where a type comes to its end."""


def narrow_softmax(
    names: Sequence[str], scores: Any, *, shift: int = 0, caption: str = ""
) -> Playable:
    """Show the steps of a softmax, each of them rounded to a type of numbers.

    The steps are the scores as they are stored, the largest subtracted from them where the reader
    wants it, the exponentials, their sum, one term after the other, and the weights. Dotted
    outlines are the weights without any rounding.

    Args:
        names: (k,) what the keys are called.
        scores: (k,) scores, before anything is added.
        shift: what is added to all scores to begin with, one of `SHIFTS`.

    >>> narrow_softmax(["new", "house"], [2.0, 1.0], shift=10)
    A softmax in narrow numbers: a drawing to play with.
    """
    given = as_vector(scores, "scores", within=FINITE)
    labels = as_labels(names, "names", given.size, "score")
    return playable(
        "narrow-softmax",
        "A softmax in narrow numbers",
        caption=caption,
        names=labels,
        scores=given,
        exact=masked_softmax(given[None])[0],
        kinds=[one._asdict() for one in TYPES],
        shifts=SHIFTS,
        shift=one_of(shift, "shift", SHIFTS),
        kind=1,
        safe=False,
    )
