"""Check functions of "Learning to align: evidence".

Each compares your number with the right one, and prints "Right." or raises an `AssertionError` that
hints at the cause.
"""

from __future__ import annotations

from typing import Any

from bookkit.exercises import answers
from bookkit.exercises.answers import Mistakes, fail


def check_alignment_error(percent: Any) -> None:
    """Check the alignment error rate of the four links in the exercise.

    Args:
        percent: the rate in percent.
    """
    mistakes = {
        "that is the rate as a fraction: in percent it is 100 times as much": 0.375,
        "that is 1 minus the rate, or P without the sure links: every sure link is in P": 62.5,
        "that is the share of wrong links in A: a sure link that is missed counts, too": 25.0,
        "a possible link is no error, and not missed either: it counts in |A and P| and not in "
        "|S|": 50.0,
    }
    _check_number(percent, 37.5, mistakes)


def check_model1(probability: Any) -> None:
    """Check t(casa | house) of IBM Model 1 after one round, with a null word.

    Args:
        probability: the probability, to three digits or as a fraction.
    """
    mistakes = {
        "the null word is missing: it takes its share of every Spanish word": 3 / 4,
        "that is the count of house and casa; divide by all that house yields": 5 / 6,
        "that is all that house yields; the count of casa is divided by it": 7 / 6,
        "add up both sentences: house and casa meet in both": (1 / 2, 1 / 3),
        "that is t(roja | house)": 2 / 7,
    }
    _check_number(probability, 5 / 7, mistakes)


def _check_number(got: Any, right: float, mistakes: Mistakes) -> None:
    """Compare with the right number to two or three digits."""
    if got is None or got is ...:
        fail("got nothing yet: put your number in")
    otherwise = "got {got:g}, which is not it: count again, set by set"
    number = answers.as_number(got)
    answers.compare(number, right, mistakes, otherwise=otherwise, rtol=0.004, atol=0.004)
    print("Right.")
