"""Check functions of "Decoding".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Expected, Numbers


def check_top_p(keep: Answer) -> None:
    """Check a distribution cut to its nucleus (Holtzman et al., 2020).

    Args:
        keep: `keep(probabilities, p)`, from an array (n,) that sums to 1 to the array (n,) from
            which a word is drawn.
    """

    def expected(given: Numbers, p: float) -> Expected:
        right = _nucleus(given, p)
        ordered = np.sort(given)[::-1]
        fewer = np.zeros_like(given)
        fewer[np.argsort(-given)] = _normal(np.where(np.cumsum(ordered) <= p, ordered, 0.0))
        cut = np.where(right > 0, 0.0, given)
        return right, {
            "what is left must sum to 1 again": given - cut,
            "the words have changed places: undo the sorting": -np.sort(-right),
            "the word that reaches p belongs to the nucleus": fewer,
            "the improbable words are left: begin with the most probable": _normal(cut),
            "nothing is cut": given,
        }

    listed = ([0.1, 0.4, 0.2, 0.3], 0.65), ([0.05, 0.15, 0.7, 0.1], 0.5), ([0.25, 0.35, 0.4], 1.0)
    cases = [(np.array(probabilities), p) for probabilities, p in listed]
    answers.check(keep, cases, expected, otherwise="keep({}, {}): got {got}, which is not it")


def _nucleus(given: Numbers, p: float) -> Numbers:
    order = np.argsort(-given)
    count = int(np.argmax(np.cumsum(given[order]) >= p - 1e-12)) + 1
    kept = np.zeros_like(given)
    kept[order[:count]] = given[order[:count]]
    return _normal(kept)


def _normal(weights: Numbers) -> Numbers:
    total = float(weights.sum())
    return weights / total if total else weights


def check_words_left(words_left: Answer) -> None:
    """Check how many words min-p 0.1 leaves after a temperature of 2, and before it.

    Args:
        words_left: `words_left(probabilities)`, from an array (n,) that sums to 1 to two numbers:
            the words left if the temperature comes first, and if the cut comes first.
    """
    for listed in ([0.5, 0.3, 0.1, 0.04, 0.03, 0.02, 0.006, 0.004], [0.6, 0.3, 0.07, 0.03]):
        given = np.array(listed)
        share = given / given.max()
        heated, cut = (int((share >= least).sum()) for least in (0.01, 0.1))
        cold = int((share >= 0.1**0.5).sum())
        first = {
            "a temperature of 2 takes the square root, so a hundredth is enough": cut,
            "a temperature of 2 flattens: the power is 1/2, not 2": cold,
        }
        second = {
            "here the cut comes first, and the temperature cuts nothing": heated,
            "min-p asks for a tenth of the highest probability, not for 0.1": int(
                (given >= 0.1).sum()
            ),
        }
        got = answers.called(words_left, given)
        parts = {"temperature first": (heated, first), "cut first": (cut, second)}
        hint = "words_left({}): got {got:g}, which is not it"
        wanted = "two numbers, (temperature first, cut first)"
        answers.compare_parts(got, parts, wanted, case=(given,), otherwise=hint)
    print("Right.")


def check_draft(rate: float, replacement: Sequence[float]) -> None:
    """Check the rate of acceptance of a small draft, and what replaces a refused word.

    Args:
        rate: how often a proposed word is kept.
        replacement: (3,) the distribution from which a refused word is replaced.
    """
    draft, target = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.5, 0.3])
    shared, lacking = np.minimum(draft, target), np.maximum(target - draft, 0)
    parts = {
        "rate": (
            shared.sum(),
            {
                "that is how often a word is refused": 1 - shared.sum(),
                "each word counts as often as it is proposed": np.minimum(1, target / draft).mean(),
            },
        ),
        "replacement": (
            lacking / lacking.sum(),
            {
                "divide by the sum: a distribution sums to 1": lacking,
                "not the model itself: it would get its favourite words twice": target,
                "what the model gives beyond the draft, not the draft beyond the model": np.maximum(
                    draft - target, 0
                )
                / lacking.sum(),
            },
        ),
    }
    wanted = "a number and three numbers"
    answers.compare_parts(
        (rate, replacement), parts, wanted, otherwise="got {got}, which is not it"
    )
    print("Right.")


def check_written(written: Answer) -> None:
    """Check what a wrong speculative decoding writes, which replaces a refused word by the model's.

    Args:
        written: `written(draft, target)`, from two arrays (n,) that sum to 1 to a third one.
    """

    def expected(draft: Numbers, target: Numbers) -> Expected:
        kept = np.minimum(draft, target)
        right = kept + (1 - kept.sum()) * target
        return right, {
            "so a right program writes: here a refused word is replaced otherwise": target,
            "a refused word is replaced: add what comes then": kept,
            "the replacement comes only as often as a word is refused": kept + target,
            "it is drawn from the model, not from the draft": kept + (1 - kept.sum()) * draft,
        }

    listed = ([0.6, 0.3, 0.1], [0.4, 0.4, 0.2]), ([0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1])
    cases = [(np.array(draft), np.array(target)) for draft, target in listed]
    answers.check(written, cases, expected, otherwise="written({}, {}): got {got}, which is not it")
