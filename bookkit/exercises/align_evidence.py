"""The exercises of "Learning to align: evidence"."""

from functools import partial
from typing import Any

from bookkit.exercises.answers import as_number, fail
from bookkit.exercises.exercise import Value


def _number(got: Any) -> float:
    if got is None or got is ...:
        fail("got nothing yet: put your number in")
    return as_number(got)


Counted = partial(
    Value, read=_number, otherwise="got {got:g}, which is not it: count again, set by set",
    rtol=0.004, atol=0.004,
)  # fmt: skip

check_alignment_error = Counted(
    "The alignment error rate of the four links in the exercise, in percent.", right=37.5,
    mistakes={
        "that is the rate as a fraction: in percent it is 100 times as much": 0.375,
        "that is 1 minus the rate, or P without the sure links: every sure link is in P": 62.5,
        "that is the share of wrong links in A: a sure link that is missed counts, too": 25.0,
        "a possible link is no error, and not missed either: it counts in |A and P| and not in "
        "|S|": 50.0,
    },
)  # fmt: skip

check_model1 = Counted(
    "t(casa | house) of IBM Model 1 after one round, with a null word.", right=5 / 7, mistakes={
        "the null word is missing: it takes its share of every Spanish word": 3 / 4,
        "that is the count of house and casa; divide by all that house yields": 5 / 6,
        "that is all that house yields; the count of casa is divided by it": 7 / 6,
        "add up both sentences: house and casa meet in both": (1 / 2, 1 / 3),
        "that is t(roja | house)": 2 / 7,
    },
)  # fmt: skip
