"""Check functions of "Decoding: evidence".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import numpy as np

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, fail


def check_best(best: Answer) -> None:
    """Check which of several sentences a beam returns under a length penalty (Wu et al., 2016).

    Args:
        best: `best(log_probs, lengths, penalty)`, from a list of log-probabilities and one of
            lengths, ends included, to the index of the winner.
    """
    # In the first, every known mistake lets another sentence win.
    for log_probs, lengths, penalty in (
        ([-2.2, -8.3, -3.2, -8.1, -4.5, -2.8], [3, 5, 11, 10, 16, 1], 1.0),
        ([-4.3, -6.0, -8.3, -3.2, -2.8, -3.7], [19, 18, 14, 13, 9, 5], 0.6),
    ):
        got = answers.called(best, log_probs, lengths, penalty)
        if isinstance(got, bool) or not isinstance(got, int | np.integer):
            answers.refuse(got, "the place of the winner, a whole number")
        totals, words = np.array(log_probs), np.array(lengths)
        factors = ((5 + words) / 6) ** penalty
        if got == np.argmax(totals / factors):
            continue
        upwards, longer, mean = -totals / factors, totals * factors, totals / words
        mistakes = {
            "log-probabilities are negative: the largest is the one nearest to 0": upwards,
            "divide by the factor: a long sentence has a log-probability farther from 0": longer,
            "the mean a word is another penalty: the factor has 5 + length, and an exponent": mean,
            "the penalty is not used": totals,
        }
        answers.hint_at(got, {hint: np.argmax(scores) for hint, scores in mistakes.items()})
        fail(f"best({log_probs}, {lengths}, {penalty}): got {int(got)}, which is not it")
    print("Right.")
