"""Check functions of the evidence page of "The bottleneck".

Each calls your function, compares what it gives with a computation of its own, and prints "Right."
or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math

from bookkit.exercises.answers import Answer, called, fail, hint_at, named


def check_longest(longest: Answer) -> None:
    """Check how many words a vector can tell apart.

    Args:
        longest: `longest(width, bits, vocabulary)`; the greatest n for which all sentences of
            exactly n words, out of a vocabulary of at least 2, can have vectors of their own, each
            of `width` numbers of `bits` bits.
    """
    # In the first every mistake gives a number of its own; in the second nothing is rounded.
    for width, bits, vocabulary in ((7, 12, 5), (2, 6, 8), (5, 16, 1000), (128, 31, 143)):
        got = called(longest, width, bits, vocabulary, why="Are all three arguments used?")
        total = width * bits
        right = _most_words(total, vocabulary)
        if got == right:
            continue
        logarithm = math.log(total, vocabulary)
        rounded_up = math.ceil(total / math.log2(vocabulary))
        natural = total / math.log(vocabulary)
        mistakes = {
            "there are 2 ** (width * bits) vectors, not (width * bits)": math.floor(logarithm),
            "one sentence of that length more and two share a vector: round down": rounded_up,
            "a bit is a factor of 2: is your logarithm to base 2?": math.floor(natural),
            "a word has log2(vocabulary) bits, not `vocabulary`": total // vocabulary,
            "every one of the `width` numbers has its bits": _most_words(bits, vocabulary),
            "every number has `bits` bits, not one": _most_words(width, vocabulary),
            "that is the number of bits, not yet of words": total,
        }
        hint_at(got, mistakes)
        if isinstance(got, float) and math.floor(got) == right:
            fail("a sentence has a whole number of words: round down")
        asked = f"longest({width}, {bits}, {vocabulary})"
        if isinstance(got, int | float) and abs(got - right) == 1:
            rounding = "Near a whole number floats round either way"
            powers = "compare vocabulary ** n with 2 ** (width * bits)"
            fail(f"{asked}: yours is one off. {rounding}: {powers}")
        fail(f"{asked}: got {named(got)}. When are there more sentences of n words than vectors?")
    print("Right.")


def check_verdict(verdict: Answer) -> None:
    """Check the verdict on a claim that one translator beats another, over five seeds.

    Args:
        verdict: `verdict(treatment, control)`, from five runs each, in the order of the seeds, to
            "holds", "undecided" or "fails": where the paired 95 % t-interval of the mean difference
            lies.
    """
    seeds = [10.0, 30.0, 50.0, 70.0, 90.0]  # what a seed does to both sides
    cases = [
        ([0.9, 1.0, 1.1, 1.0, 1.0], "holds", "seeds differ by more than the translators: subtract "
         "seed by seed, then the interval"),
        ([-0.9, -1.0, -1.1, -1.0, -1.0], "fails", "the whole interval lies below 0"),
        ([3.0, -1.0, 4.0, -2.0, 2.0], "undecided", "the interval holds 0: the mean alone decides "
         "nothing"),
        ([0.1, 0.2, 0.1, 0.2, 10.0], "undecided", "five wins are no interval: one seed outweighs "
         "the others here"),
        ([2.1, 0.1, 1.1, -0.1, 2.0], "undecided", "1.96 is the quantile for many runs; for five "
         "it is 2.776"),
        ([1.8, 0.1, 1.0, 0.2, 2.2], "undecided", "divide the squares by n - 1, not by n"),
        ([1.8, 0.35, 1.2, 0.45, 2.0], "holds", "the interval of the mean is narrower than that of "
         "one new run: divide s by the square root of n"),
    ]  # fmt: skip
    for differences, right, hint in cases:
        treatment = [run + difference for run, difference in zip(seeds, differences, strict=True)]
        got = called(verdict, treatment, seeds, why="It is given two lists of five numbers.")
        if got not in ("holds", "undecided", "fails"):
            fail(f'got {named(got)}, wanted "holds", "undecided" or "fails"')
        if got != right:
            fail(f'differences {differences}: yours says "{got}". Hint: {hint}')
    print("Right.")


def _most_words(bits: int, vocabulary: int) -> int:
    """Return the greatest n with vocabulary ** n <= 2 ** bits, in whole numbers."""
    words = 0
    while vocabulary ** (words + 1) <= 1 << bits:
        words += 1
    return words
