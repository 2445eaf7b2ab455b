"""Check functions of "Is attention explanation?".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from bookkit.exercises.answers import Answer, Expected, Numbers, check


def check_erase(erase: Answer) -> None:
    """Check that one weight is erased, and the others sum to 1.

    Args:
        erase: `erase(weights, place)`, from (n,) weights that sum to 1 to (n,) others.
    """

    def expected(weights: Numbers, position: int) -> Expected:
        others = np.arange(len(weights)) != position
        left = np.where(others, weights, 0.0)
        powers = np.exp(weights) * others
        softmax = powers / powers.sum()
        equal_parts = (left + weights[position] / (len(weights) - 1)) * others
        before = np.where(np.roll(others, -1), weights, 0.0)
        return left / left.sum(), {
            "the weight is gone, but the others no longer sum to 1": left,
            "nothing is erased": weights,
            "share what is left out in proportion: divide by the sum, no softmax": softmax,
            "what was erased went to the others in equal parts: divide by the sum": equal_parts,
            "the place counts from 0": before / before.sum(),
        }

    cases = [(np.array([0.5, 0.3, 0.2]), 0), (np.array([0.1, 0.2, 0.3, 0.4]), 2)]
    check(erase, cases, expected, rtol=1e-9, atol=1e-9)


def check_tau(tau: Answer) -> None:
    """Check Kendall's tau of two rankings without ties.

    Args:
        tau: `tau(a, b)`, from two lists of n different numbers to a number.
    """

    def expected(a: Sequence[float], b: Sequence[float]) -> Expected:
        pairs = list(combinations(range(len(a)), 2))
        agreed = sum(math.copysign(1, (a[i] - a[j]) * (b[i] - b[j])) for i, j in pairs)
        right = agreed / len(pairs)
        pearson = np.corrcoef(a, b)[0, 1]
        return right, {
            "each pair counts once: (i, j) and (j, i) are one pair": 2 * right,
            "divide by the number of pairs, n (n - 1) / 2": agreed,
            "a pair counts for half of what it should: there are n (n - 1) / 2 of them": right / 2,
            "pairs that both order alike count +1, the others -1, not 0": (right + 1) / 2,
            "the sign is turned around: pairs that both order alike count +1": -right,
            "this is Pearson's correlation: count pairs, not how far apart they are": pearson,
        }

    cases = [
        ([0.1, 0.4, 0.3, 0.2], [0.0, 5.0, 1.0, 2.0]),
        ([0.7, 0.2, 0.1], [3.0, 1.0, 2.0]),
        ([1.0, 2.0, 3.0, 4.0, 5.0], [5.0, 4.0, 3.0, 2.0, 1.0]),
    ]
    otherwise = "got {got:.3f} for {} and {}, wanted {wanted:.3f}"
    check(tau, cases, expected, otherwise=otherwise, rtol=1e-9, atol=1e-9)


def check_ceiling(ceiling: Answer) -> None:
    """Check the best that can be said of facts whose pairs have been lost.

    Args:
        ceiling: `ceiling(values)`, from the list of a sentence's values to the largest
            probability of a right answer for a model that knows the values but not who has which.
    """

    def expected(values: Sequence[str]) -> Expected:
        counts = Counter(values)
        n, most = len(values), max(counts.values())
        at_random = sum(count**2 for count in counts.values()) / n**2
        return most / n, {
            "a value that several names have is a better guess than the others": 1 / len(counts),
            "the model knows the values: one guess among the words is not the best": 1 / n,
            "saying the most frequent value every time beats drawing a value at random": at_random,
            "a probability: divide by the number of facts": most,
        }

    cases = [(["red", "blue", "red"],), (["red"],), (list("abca"),), (list("aabbbcd"),)]
    otherwise = "got {got:.3f} for {}, wanted {wanted:.3f}"
    check(ceiling, cases, expected, otherwise=otherwise, rtol=1e-9, atol=1e-9)


def check_rollout(rollout: Answer) -> None:
    """Check the rollout of a stack of blocks.

    Args:
        rollout: `rollout(blocks)`, from a list of (n, n) weights, the first block first, to (n, n).
    """

    def expected(blocks: Sequence[Numbers]) -> Expected:
        same = np.eye(len(blocks[0]))
        half = [0.5 * block + 0.5 * same for block in blocks]
        unscaled = _product([block + same for block in blocks])
        last_first = _product(half[::-1])
        return _product(half), {
            "the residual is missing: a block keeps half of what it had": _product(blocks),
            "the last block stands on the left: rows are the queries of the last block": last_first,
            "rows no longer sum to 1: the identity counts half, as the weights do": unscaled,
            "that is the last block alone": half[-1],
            "multiply matrices, not entries": np.prod(half, axis=0),
        }

    rng = np.random.default_rng(8)
    cases = []
    for n, depth in ((3, 2), (5, 3)):
        raw = rng.random((depth, n, n))
        cases.append((list(raw / raw.sum(-1, keepdims=True)),))
    check(rollout, cases, expected, rtol=1e-9, atol=1e-9)


def _product(blocks: Sequence[Numbers]) -> Numbers:
    flow = np.eye(len(blocks[0]))
    for block in blocks:
        flow = block @ flow
    return flow
