"""The exercises of "Can you trust the map?: evidence"."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from bookkit.exercises.answers import Numbers
from bookkit.exercises.exercise import Function


def _agreed(a: Sequence[float], b: Sequence[float]) -> float:
    """Return how many more pairs both order alike than not."""
    pairs = combinations(range(len(a)), 2)
    return sum(math.copysign(1, (a[i] - a[j]) * (b[i] - b[j])) for i, j in pairs)


def _tau(a: Sequence[float], b: Sequence[float]) -> float:
    return _agreed(a, b) / math.comb(len(a), 2)


check_tau = Function(
    "`tau(a, b)`, Kendall's tau of two rankings without ties, from two lists of n different "
    "numbers to a number.",
    right=_tau, cases=[
        ([0.1, 0.4, 0.3, 0.2], [0.0, 5.0, 1.0, 2.0]), ([0.7, 0.2, 0.1], [3.0, 1.0, 2.0]),
        ([1.0, 2.0, 3.0, 4.0, 5.0], [5.0, 4.0, 3.0, 2.0, 1.0]),
    ], mistakes={
        "each pair counts once: (i, j) and (j, i) are one pair": lambda a, b: 2 * _tau(a, b),
        "divide by the number of pairs, n (n - 1) / 2": _agreed,
        "a pair counts for half of what it should: there are n (n - 1) / 2 of them":
            lambda a, b: _tau(a, b) / 2,
        "pairs that both order alike count +1, the others -1, not 0":
            lambda a, b: (_tau(a, b) + 1) / 2,
        "the sign is turned around: pairs that both order alike count +1": lambda a, b: -_tau(a, b),
        "this is Pearson's correlation: count pairs, not how far apart they are":
            lambda a, b: np.corrcoef(a, b)[0, 1],
    }, otherwise="got {got:.3f} for {} and {}, wanted {wanted:.3f}", rtol=1e-9, atol=1e-9,
)  # fmt: skip


def _stack(n: int, depth: int) -> list[Numbers]:
    """Draw the weights of some blocks."""
    raw = DICE.random((depth, n, n))
    return list(raw / raw.sum(-1, keepdims=True))


def _product(blocks: Sequence[Numbers]) -> Numbers:
    flow = np.eye(len(blocks[0]))
    for block in blocks:
        flow = block @ flow
    return flow


def _with_residual(blocks: Sequence[Numbers]) -> list[Numbers]:
    return [(block + np.eye(len(block))) / 2 for block in blocks]


DICE = np.random.default_rng(8)

check_rollout = Function(
    "`rollout(blocks)`, from a list of (n, n) weights, the first block first, to (n, n).",
    right=lambda blocks: _product(_with_residual(blocks)), cases=[(_stack(3, 2),), (_stack(5, 3),)],
    mistakes={
        "the residual is missing: a block keeps half of what it had": _product,
        "the last block stands on the left: rows are the queries of the last block":
            lambda blocks: _product(_with_residual(blocks)[::-1]),
        "rows no longer sum to 1: the identity counts half, as the weights do":
            lambda blocks: 2 ** len(blocks) * _product(_with_residual(blocks)),
        "that is the last block alone": lambda blocks: _with_residual(blocks)[-1],
        "multiply matrices, not entries": lambda blocks: np.prod(_with_residual(blocks), axis=0),
    }, rtol=1e-9, atol=1e-9,
)  # fmt: skip
