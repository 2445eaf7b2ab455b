"""The hidden Markov aligner against a sum over every path, one by one."""

from collections import defaultdict
from itertools import product

import numpy as np
import pytest

from companion.alignment import HMMAligner
from companion.alignment.hmm import forward_backward
from companion.data.pairs import Pair
from tests.alignment.corpus import PAIRS, Table, shares_of_sources


def paths(pair: Pair, table: Table, jumps: dict[int, float]) -> dict[tuple[int, ...], float]:
    """The probability of each path together with the target words."""
    k_len = len(pair.source)
    every = {}
    for columns in product(range(k_len), repeat=len(pair.target)):
        probability, last = 1.0, -1
        for j, target in zip(columns, pair.target, strict=True):
            reachable = sum(jumps[n - last] for n in range(k_len))
            probability *= jumps[j - last] / reachable * table[pair.source[j], target]
            last = j
        every[columns] = probability
    return every


def expectation_maximisation(iterations: int) -> tuple[Table, dict[int, float]]:
    table: Table = {(s, t): 1.0 for p in PAIRS for s in p.source for t in p.target}
    jumps = dict.fromkeys(range(-5, 6), 1.0)
    for _ in range(iterations):
        counts: Table = defaultdict(float)
        jumped = dict.fromkeys(jumps, 1e-6)
        for pair in PAIRS:
            every = paths(pair, table, jumps)
            for columns, probability in every.items():
                share = probability / sum(every.values())
                for last, j, target in zip((-1, *columns), columns, pair.target, strict=False):
                    counts[pair.source[j], target] += share
                    jumped[j - last] += share
        table = shares_of_sources(counts)
        jumps = jumped
    return table, jumps


def test_learning_equals_a_sum_over_all_paths() -> None:
    for iterations in (1, 4):
        table, jumps = expectation_maximisation(iterations)
        aligner = HMMAligner().fit(PAIRS, iterations=iterations)
        for (source, target), probability in table.items():
            assert aligner.probability(source, target) == pytest.approx(probability, abs=1e-9)
        assert aligner.probability("red", "el") == 0.0
        transitions = aligner.transitions(4)
        assert transitions.shape == (5, 4)
        for last, j in product(range(-1, 4), range(4)):
            reachable = sum(jumps[n - last] for n in range(4))
            assert transitions[last + 1, j] == pytest.approx(jumps[j - last] / reachable, abs=1e-9)


def test_shares_equal_a_sum_over_all_paths() -> None:
    aligner = HMMAligner().fit(PAIRS, iterations=2)
    table, jumps = expectation_maximisation(2)
    for pair in PAIRS:
        every = paths(pair, table, jumps)
        expected = np.zeros((len(pair.target), 1 + len(pair.source)))
        for columns, probability in every.items():
            for i, j in enumerate(columns):
                expected[i, 1 + j] += probability / sum(every.values())
        assert aligner.posteriors(pair) == pytest.approx(expected, abs=1e-9)
        assert aligner.links(pair) == {
            (i, j - 1) for i, j in enumerate(expected.argmax(-1).tolist())
        }


def test_a_long_sentence_does_not_underflow() -> None:
    emission = np.full((1, 3000, 5), 1e-4)
    emission[0, :, 2] = 2e-4
    shares, moves = forward_backward(emission, np.full((6, 5), 0.2))
    np.testing.assert_allclose(shares[0], [[1 / 6, 1 / 6, 2 / 6, 1 / 6, 1 / 6]] * 3000)
    assert moves.sum() == pytest.approx(3000)


def test_a_sentence_longer_than_all_that_were_read_is_aligned() -> None:
    aligner = HMMAligner().fit(PAIRS, iterations=3)
    pair = Pair(("the", "house", "and") * 3, ("la", "casa", "y") * 3)
    assert aligner.links(pair) == {(i, i) for i in range(9)}
