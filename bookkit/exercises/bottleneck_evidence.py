"""The exercises of the evidence page of "The bottleneck"."""

import math
from typing import Any

from bookkit.exercises.answers import Answer, Sign, called, fail, named
from bookkit.exercises.exercise import Function, Verdict


def _most_words(bits: int, vocabulary: int) -> int:
    """Return the greatest n with vocabulary ** n <= 2 ** bits, in whole numbers."""
    words = 0
    while vocabulary ** (words + 1) <= 1 << bits:
        words += 1
    return words


def _off(got: float, width: int, bits: int, vocabulary: int) -> str:
    asked = f"longest({width}, {bits}, {vocabulary})"
    if abs(got - _most_words(width * bits, vocabulary)) == 1:
        rounding = "Near a whole number floats round either way"
        powers = "compare vocabulary ** n with 2 ** (width * bits)"
        return f"{asked}: yours is one off. {rounding}: {powers}"
    return f"{asked}: got {got:g}. When are there more sentences of n words than vectors?"


check_longest = Function(
    "`longest(width, bits, vocabulary)`, the greatest n for which all sentences of exactly n words "
    "out of a vocabulary of at least 2, can have vectors of their own, each of `width` numbers of "
    "`bits` bits.",
    right=lambda width, bits, vocabulary: _most_words(width * bits, vocabulary),
    # In the first every mistake gives a number of its own; in the second nothing is rounded.
    cases=[(7, 12, 5), (2, 6, 8), (5, 16, 1000), (128, 31, 143)], mistakes={
        "there are 2 ** (width * bits) vectors, not (width * bits)":
            lambda w, b, v: math.floor(math.log(w * b, v)),
        "one sentence of that length more and two share a vector: round down":
            lambda w, b, v: math.ceil(w * b / math.log2(v)),
        "a bit is a factor of 2: is your logarithm to base 2?":
            lambda w, b, v: math.floor(w * b / math.log(v)),
        "a word has log2(vocabulary) bits, not `vocabulary`": lambda w, b, v: w * b // v,
        "every one of the `width` numbers has its bits": lambda w, b, v: _most_words(b, v),
        "every number has `bits` bits, not one": lambda w, b, v: _most_words(w, v),
        "that is the number of bits, not yet of words": lambda w, b, v: w * b,
        "a sentence has a whole number of words: round down": Sign(
            lambda g, w, b, v: (
                math.floor(g) == _most_words(w * b, v)
            ),
            lambda w, b, v: w * b / math.log2(v),
        ),
    }, examples={
        "longest(2, 6, 8): yours is one off": lambda w, b, v: _most_words(w * b, v) - (w == 2),
    }, why="Are all three arguments used?", otherwise=_off,
)  # fmt: skip

SEEDS = [10.0, 30.0, 50.0, 70.0, 90.0]
"""What a seed does to both sides."""


def _judged(verdict: Answer, differences: list[float], **why: str) -> Any:
    treatment = [run + difference for run, difference in zip(SEEDS, differences, strict=True)]
    return called(verdict, treatment, SEEDS, **why)


def _in_words(got: Any) -> Any:
    if got not in ("holds", "undecided", "fails"):
        fail(f'got {named(got)}, wanted "holds", "undecided" or "fails"')
    return got


check_verdict = Verdict(
    "`verdict(treatment, control)`, from five runs each, in the order of the seeds, to "
    '"holds", "undecided" or "fails": where the paired 95 % t-interval of the mean gain lies.',
    suspects=[
        (([0.9, 1.0, 1.1, 1.0, 1.0],), "holds", "seeds differ by more than the translators: "
         "subtract seed by seed, then the interval"),
        (([-0.9, -1.0, -1.1, -1.0, -1.0],), "fails", "the whole interval lies below 0"),
        (([3.0, -1.0, 4.0, -2.0, 2.0],), "undecided", "the interval holds 0: the mean alone "
         "decides nothing"),
        (([0.1, 0.2, 0.1, 0.2, 10.0],), "undecided", "five wins are no interval: one seed "
         "outweighs the others here"),
        (([2.1, 0.1, 1.1, -0.1, 2.0],), "undecided", "1.96 is the quantile for many runs; for "
         "five it is 2.776"),
        (([1.8, 0.1, 1.0, 0.2, 2.2],), "undecided", "divide the squares by n - 1, not by n"),
        (([1.8, 0.35, 1.2, 0.45, 2.0],), "holds", "the interval of the mean is narrower than that "
         "of one new run: divide s by the square root of n"),
    ], ask=_judged, read=_in_words, says='differences {0}: yours says "{got}". Hint: {hint}',
    why="It is given two lists of five numbers.",
)  # fmt: skip
