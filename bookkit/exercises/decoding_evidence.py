"""The exercise of "Decoding: evidence"."""

from typing import Any

import numpy as np

from bookkit.exercises.answers import Numbers, refuse
from bookkit.exercises.exercise import Function


def _factor(words: list[int], penalty: float) -> Numbers:
    return ((5 + np.array(words)) / 6) ** penalty


def _place(got: Any, *_: Any) -> int:
    if isinstance(got, bool) or not isinstance(got, int | np.integer):
        refuse(got, "the place of the winner, a whole number")
    return int(got)


check_best = Function(
    "`best(log_probs, lengths, penalty)`, which of several sentences a beam returns under a length "
    "penalty (Wu et al., 2016), from a list of log-probabilities and one of lengths, ends "
    "included, to the index of the winner.",
    right=lambda p, words, penalty: int(np.argmax(p / _factor(words, penalty))),
    # In the first, every known mistake lets another sentence win.
    cases=[
        ([-2.2, -8.3, -3.2, -8.1, -4.5, -2.8], [3, 5, 11, 10, 16, 1], 1.0),
        ([-4.3, -6.0, -8.3, -3.2, -2.8, -3.7], [19, 18, 14, 13, 9, 5], 0.6),
    ], mistakes={
        "log-probabilities are negative: the largest is the one nearest to 0":
            lambda log_probs, words, penalty: np.argmax(-(log_probs / _factor(words, penalty))),
        "divide by the factor: a long sentence has a log-probability farther from 0":
            lambda log_probs, words, penalty: np.argmax(log_probs * _factor(words, penalty)),
        "the mean a word is another penalty: the factor has 5 + length, and an exponent":
            lambda log_probs, words, penalty: np.argmax(np.divide(log_probs, words)),
        "the penalty is not used": lambda log_probs, words, penalty: np.argmax(log_probs),
    }, read=_place, otherwise="best({}, {}, {}): got {got:g}, which is not it",
)  # fmt: skip
