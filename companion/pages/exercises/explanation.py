"""Check functions of "Is attention explanation?".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.pages.exercises.answers import as_number, called, compare, fail

Numbers = NDArray[np.float64]
_compare = partial(compare, rtol=1e-9, atol=1e-9)


def check_erase(erase: Callable[..., Any]) -> None:
    """Check that one weight is erased, and the others sum to 1.

    Args:
        erase: `erase(weights, place)`, from (n,) weights that sum to 1 to (n,) others.

    Raises:
        AssertionError: the result is wrong; the message hints at the cause.
    """
    for listed, place in (([0.5, 0.3, 0.2], 0), ([0.1, 0.2, 0.3, 0.4], 2)):
        weights = np.array(listed)
        left = weights.copy()
        left[place] = 0.0
        powers = np.exp(weights) * (np.arange(len(weights)) != place)
        mistakes = {
            "the weight is gone, but the others no longer sum to 1": left,
            "nothing is erased": weights,
            "share what is left out in proportion: divide by the sum, no softmax": (
                powers / powers.sum()
            ),
            "what was erased went to the others in equal parts: divide by the sum": (
                (left + weights[place] / (len(weights) - 1)) * (np.arange(len(weights)) != place)
            ),
            "the place counts from 0": _erased(weights, place - 1),
        }
        _compare(called(erase, weights.copy(), place), _erased(weights, place), mistakes)
    print("Right.")


def _erased(weights: Numbers, place: int) -> Numbers:
    left = weights.copy()
    left[place] = 0.0
    return np.asarray(left / left.sum())


def check_tau(tau: Callable[..., Any]) -> None:
    """Check Kendall's tau of two rankings without ties.

    Args:
        tau: `tau(a, b)`, from two lists of n different numbers to a number.

    Raises:
        AssertionError: the result is wrong; the message hints at the cause.
    """
    for a, b in (
        ([0.1, 0.4, 0.3, 0.2], [0.0, 5.0, 1.0, 2.0]),
        ([0.7, 0.2, 0.1], [3.0, 1.0, 2.0]),
        ([1.0, 2.0, 3.0, 4.0, 5.0], [5.0, 4.0, 3.0, 2.0, 1.0]),
    ):
        agreed = sum(
            math.copysign(1, (a[i] - a[j]) * (b[i] - b[j]))
            for i, j in combinations(range(len(a)), 2)
        )
        n = len(a)
        wanted = 2 * agreed / (n * (n - 1))
        mistakes = {
            "each pair counts once: (i, j) and (j, i) are one pair": 2 * wanted,
            "divide by the number of pairs, n (n - 1) / 2": agreed,
            "a pair counts for half of what it should: there are n (n - 1) / 2 of them": wanted / 2,
            "pairs that both order alike count +1, the others -1, not 0": (wanted + 1) / 2,
            "the sign is turned around: pairs that both order alike count +1": -wanted,
            "this is Pearson's correlation: count pairs, not how far apart they are": float(
                np.corrcoef(a, b)[0, 1]
            ),
        }
        got = as_number(called(tau, list(a), list(b)))
        if not math.isclose(got, wanted, abs_tol=1e-9):
            for hint, wrong in mistakes.items():
                if math.isclose(got, wrong, abs_tol=1e-9):
                    fail(hint)
            fail(f"got {got:.3f} for {a} and {b}, wanted {wanted:.3f}")
    print("Right.")


def check_ceiling(ceiling: Callable[..., Any]) -> None:
    """Check the best that can be said of facts whose pairs have been lost.

    Args:
        ceiling: `ceiling(values)`, from the list of a sentence's values to the largest
            probability of a right answer for a model that knows the values but not who has which.

    Raises:
        AssertionError: the result is wrong; the message hints at the cause.
    """
    for values in (["red", "blue", "red"], ["red"], list("abca"), list("aabbbcd")):
        counts = Counter(values)
        n = len(values)
        wanted = max(counts.values()) / n
        mistakes = {
            "a value that several names have is a better guess than the others": 1 / len(counts),
            "the model knows the values: one guess among the words is not the best": 1 / n,
            "saying the most frequent value every time beats drawing a value at random": (
                sum(count**2 for count in counts.values()) / n**2
            ),
            "a probability: divide by the number of facts": float(max(counts.values())),
        }
        got = as_number(called(ceiling, list(values)))
        if not math.isclose(got, wanted, abs_tol=1e-9):
            for hint, wrong in mistakes.items():
                if math.isclose(got, wrong, abs_tol=1e-9):
                    fail(hint)
            fail(f"got {got:.3f} for {values}, wanted {wanted:.3f}")
    print("Right.")


def check_rollout(rollout: Callable[..., Any]) -> None:
    """Check the rollout of a stack of blocks.

    Args:
        rollout: `rollout(blocks)`, from a list of (n, n) weights, the first block first, to (n, n).

    Raises:
        AssertionError: the result is wrong; the message hints at the cause.
    """
    rng = np.random.default_rng(8)
    for n, depth in ((3, 2), (5, 3)):
        raw = rng.random((depth, n, n))
        blocks = [block / block.sum(-1, keepdims=True) for block in raw]
        half = [0.5 * block + 0.5 * np.eye(n) for block in blocks]
        mistakes = {
            "the residual is missing: a block keeps half of what it had": _product(blocks),
            "the last block stands on the left: rows are the queries of the last block": _product(
                half[::-1]
            ),
            "rows no longer sum to 1: the identity counts half, as the weights do": _product(
                [block + np.eye(n) for block in blocks]
            ),
            "that is the last block alone": half[-1],
            "multiply matrices, not entries": np.prod(half, axis=0),
        }
        _compare(called(rollout, [block.copy() for block in blocks]), _product(half), mistakes)
    print("Right.")


def _product(blocks: Sequence[Numbers]) -> Numbers:
    flow = np.eye(len(blocks[0]))
    for block in blocks:
        flow = block @ flow
    return flow
