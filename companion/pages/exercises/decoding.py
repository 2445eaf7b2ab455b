"""Check functions of "Decoding and the cache".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.pages.exercises.answers import called, fail, named

Numbers = NDArray[np.float64]


def check_top_p(keep: Callable[..., Any]) -> None:
    """Check a distribution cut to its nucleus (Holtzman et al., 2020).

    Args:
        keep: `keep(probabilities, p)`, from an array (n,) that sums to 1 to the array (n,) from
            which a word is drawn.

    Raises:
        AssertionError: the result is wrong; the message hints at the cause.
    """
    for probabilities, p in (
        ([0.1, 0.4, 0.2, 0.3], 0.65),
        ([0.05, 0.15, 0.7, 0.1], 0.5),
        ([0.25, 0.35, 0.4], 1.0),
    ):
        given = np.array(probabilities)
        right = _nucleus(given, p)
        got = _array(called(keep, given.copy(), p), given.shape)
        ordered = np.sort(given)[::-1]
        fewer = _normal(np.where(np.cumsum(ordered) <= p, ordered, 0.0))
        mistakes = {
            "what is left must sum to 1 again": np.where(right > 0, given, 0.0),
            "the words have changed places: undo the sorting": -np.sort(-right),
            "the word that reaches p belongs to the nucleus": _unsorted(fewer, given),
            "the improbable words are left: begin with the most probable": _normal(
                np.where(right > 0, 0.0, given)
            ),
            "nothing is cut": given,
        }
        if not np.allclose(got, right):
            for hint, wrong in mistakes.items():
                if np.allclose(got, wrong):
                    fail(hint)
            fail(f"keep({probabilities}, {p}): got {got.round(3).tolist()}, which is not it")
    print("Right.")


def _nucleus(given: Numbers, p: float) -> Numbers:
    order = np.argsort(-given)
    count = int(np.argmax(np.cumsum(given[order]) >= p - 1e-12)) + 1
    kept = np.zeros_like(given)
    kept[order[:count]] = given[order[:count]]
    return _normal(kept)


def _unsorted(ordered: Numbers, given: Numbers) -> Numbers:
    result = np.zeros_like(given)
    result[np.argsort(-given)] = ordered
    return result


def _normal(weights: Numbers) -> Numbers:
    total = float(weights.sum())
    return weights / total if total else weights


def check_best(best: Callable[..., Any]) -> None:
    """Check which of several sentences a beam returns under a length penalty (Wu et al., 2016).

    Args:
        best: `best(log_probs, lengths, penalty)`, from a list of log-probabilities and one of
            lengths, ends included, to the place of the winner.

    Raises:
        AssertionError: another sentence wins; the message hints at the cause.
    """
    # In the first, every known mistake lets another sentence win.
    for log_probs, lengths, penalty in (
        ([-2.2, -8.3, -3.2, -8.1, -4.5, -2.8], [3, 5, 11, 10, 16, 1], 1.0),
        ([-4.3, -6.0, -8.3, -3.2, -2.8, -3.7], [19, 18, 14, 13, 9, 5], 0.6),
    ):
        factors = [((5 + n) / 6) ** penalty for n in lengths]
        pairs = list(zip(log_probs, factors, strict=True))
        right = _first([total / factor for total, factor in pairs])
        got = called(best, list(log_probs), list(lengths), penalty)
        if isinstance(got, bool) or not isinstance(got, int | np.integer):
            fail(f"got {named(got)}, wanted the place of the winner, a whole number")
        mistakes = {
            "log-probabilities are negative: the largest is the one nearest to 0": _first(
                [-total / factor for total, factor in pairs]
            ),
            "divide by the factor: a long sentence has a log-probability farther from 0": _first(
                [total * factor for total, factor in pairs]
            ),
            "the mean a word is another penalty: the factor has 5 + length, and an exponent": (
                _first([t / n for t, n in zip(log_probs, lengths, strict=True)])
            ),
            "the penalty is not used": _first(log_probs),
        }
        if int(got) != right:
            for hint, wrong in mistakes.items():
                if int(got) == wrong:
                    fail(hint)
            fail(f"best({log_probs}, {lengths}, {penalty}): got {int(got)}, which is not it")
    print("Right.")


def _first(scores: Sequence[float]) -> int:
    return max(range(len(scores)), key=scores.__getitem__)


def check_passes(passes: Callable[..., Any]) -> None:
    """Check how many tokens go through the layers, with a cache and without.

    Args:
        passes: `passes(prompt, new)`, both at least 1, to two numbers: how many tokens are
            computed in all to write `new` tokens after a prompt, with a cache and without.

    Raises:
        AssertionError: a number is wrong; the message hints at the cause.
    """
    for prompt, new in ((7, 5), (100, 40), (1, 1)):
        got = called(passes, prompt, new)
        if not isinstance(got, tuple | list) or len(got) != 2:
            fail(f"got {named(got)}, wanted two numbers, (with, without)")
        kept, anew = prompt + new - 1, new * prompt + new * (new - 1) // 2
        hints = {
            "with a cache": {
                prompt + new: "the last token that is written is never read",
                new: "the prompt is read once, too",
                new - 1: "the prompt is read once, too",
                anew: "what has a key and a value is not computed again",
            },
            "without": {
                new * prompt: "each token that is written makes the next pass longer by one",
                new * prompt + new * (new + 1) // 2: "the last token that is written is never read",
                new * (prompt + new): "not every pass is as long as the last",
                new * (prompt + new - 1): "not every pass is as long as the last",
                kept: "without a cache every step computes all tokens so far",
            },
        }
        for (where, known), number, right in zip(hints.items(), got, (kept, anew), strict=True):
            if not isinstance(number, int | float) or not math.isclose(number, right):
                if number in known:
                    fail(f"{where}: {known[number]}")
                fail(f"{where}, passes({prompt}, {new}): got {named(number)}, which is not it")
    print("Right.")


def check_induction(weights: Callable[..., Any]) -> None:
    """Check the weights of a perfect induction head.

    Args:
        weights: `weights(tokens)`, from a list of n symbols to (n, n): row i has weight 1 at the
            place after the latest earlier occurrence of symbol i, and at place 0 if there is none.

    Raises:
        AssertionError: a weight is wrong; the message hints at the cause.
    """
    for text in ("abcabca", "xyxxy", "abcde"):
        tokens = list(text)
        n = len(tokens)
        got = _array(called(weights, list(tokens)), (n, n), ": a row a query, a column a key")
        right = _induction(tokens, 1)
        mistakes = {
            "that is the place of the occurrence: the one after it says what comes next": (
                _induction(tokens, 0)
            ),
            "the latest occurrence counts, not the first": _induction(tokens, 1, latest=False),
            "rows are queries, columns are keys": right.T,
            "a symbol is no earlier occurrence of itself": np.eye(n, k=1),
        }
        if not np.allclose(got, right):
            for hint, wrong in mistakes.items():
                if np.allclose(got, wrong):
                    fail(hint)
            if np.triu(got, 1).any():
                fail("a weight lies on a later place: no query may look ahead")
            row = int(np.flatnonzero(np.abs(got - right).max(1) > 1e-6)[0])
            fail(f"row {row} of {text!r} is {got[row].tolist()}, which is not it")
    print("Right.")


def _induction(tokens: Sequence[str], shift: int, *, latest: bool = True) -> Numbers:
    weights = np.zeros((len(tokens), len(tokens)))
    for i, token in enumerate(tokens):
        earlier = [j for j in range(i) if tokens[j] == token]
        place = (earlier[-1] if latest else earlier[0]) + shift if earlier else 0
        weights[i, place] = 1.0
    return weights


def _array(got: Any, shape: tuple[int, ...], axes: str = "") -> Numbers:
    try:
        array = np.asarray(got, dtype=np.float64)
    except (TypeError, ValueError):
        fail(f"got {named(got)}, wanted an array {shape}{axes}")
    if array.shape != shape:
        what = named(got) if array.ndim == 0 else f"shape {array.shape}"
        fail(f"got {what}, wanted an array {shape}{axes}")
    return array
