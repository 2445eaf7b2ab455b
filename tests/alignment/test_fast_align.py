"""fast_align against a sum over every alignment, one by one."""

import math
from collections import defaultdict
from itertools import permutations, product

import numpy as np
import pytest

from companion.alignment import FastAlign
from companion.data.pairs import Pair
from tests.alignment.corpus import PAIRS, Table, shares_of_sources


def before_reading(i: int, j: int, q_len: int, k_len: int, tension: float) -> float:
    """The probability that word i comes from word j, counted from 1; 0 is the null word."""
    if j == 0:
        return 0.08
    scores = [math.exp(-tension * abs(i / q_len - n / k_len)) for n in range(1, k_len + 1)]
    return 0.92 * scores[j - 1] / sum(scores)


def alignments(pair: Pair, table: Table, tension: float) -> dict[tuple[int, ...], float]:
    """The probability of each alignment together with the target words."""
    sources, q_len, k_len = ("", *pair.source), len(pair.target), len(pair.source)
    every = {}
    for columns in product(range(k_len + 1), repeat=q_len):
        probability = 1.0
        for i, (j, target) in enumerate(zip(columns, pair.target, strict=True), start=1):
            probability *= before_reading(i, j, q_len, k_len, tension) * table[sources[j], target]
        every[columns] = probability
    return every


def shares_by_hand(pair: Pair, table: Table, tension: float) -> np.ndarray:
    shares = np.zeros((len(pair.target), 1 + len(pair.source)))
    every = alignments(pair, table, tension)
    for columns, probability in every.items():
        for i, j in enumerate(columns):
            shares[i, j] += probability / sum(every.values())
    return shares


def expectation_maximisation(iterations: int) -> tuple[Table, float]:
    table: Table = {(s, t): 1.0 for p in PAIRS for s in ("", *p.source) for t in p.target}
    tension = 4.0
    for _ in range(iterations):
        counts: Table = defaultdict(float)
        links: dict[tuple[int, int, int, int], float] = defaultdict(float)
        for pair in PAIRS:
            shares = shares_by_hand(pair, table, tension)
            for (i, j), share in np.ndenumerate(shares):
                counts[("", *pair.source)[j], pair.target[i]] += share
                links[i + 1, j, len(pair.target), len(pair.source)] += share
        table = shares_of_sources(counts)

        def fit(tension: float, links: dict[tuple[int, int, int, int], float] = links) -> float:
            return sum(n * math.log(before_reading(*link, tension)) for link, n in links.items())

        for digit in (1.0, 0.1, 0.01, 0.001):  # climb, ever more finely
            around = [max(0.0, tension + digit * step) for step in range(-60, 61)]
            tension = max(around, key=fit)
    return table, tension


def test_learning_equals_a_sum_over_all_alignments() -> None:
    for iterations in (1, 3):
        table, tension = expectation_maximisation(iterations)
        aligner = FastAlign().fit(PAIRS, iterations=iterations)
        assert aligner.tension == pytest.approx(tension, abs=2e-3)
        assert 0.5 < tension < 50
        for (source, target), probability in table.items():
            assert aligner.probability(source, target) == pytest.approx(probability, abs=1e-4)
        assert aligner.probability("red", "el") == 0.0


def test_shares_equal_a_sum_over_all_alignments() -> None:
    aligner = FastAlign().fit(PAIRS, iterations=2)
    for pair in PAIRS:
        table = {(s, t): aligner.probability(s, t) for s in ("", *pair.source) for t in pair.target}
        expected = shares_by_hand(pair, table, aligner.tension)
        assert aligner.posteriors(pair) == pytest.approx(expected, abs=1e-12)
        best = {(i, j - 1) for i, j in enumerate(expected.argmax(-1).tolist()) if j > 0}
        assert aligner.links(pair) == best


def test_words_in_order_pull_the_tension_up_and_scattered_words_let_it_go() -> None:
    ordered = [Pair((a, b), (a.upper(), b.upper())) for a, b in permutations("abcd", 2)]
    turned = [Pair(pair.source, pair.target[::-1]) for pair in ordered]
    assert FastAlign().fit(ordered, iterations=5).tension > 90
    assert FastAlign(tension=0.0).fit(turned, iterations=5).tension < 1e-3


def test_shares_of_the_null_word() -> None:
    # The prior of Model 1, but for the null word, which Model 1 counts as one word more.
    assert FastAlign(null=0.25, tension=0.0)._prior(3, 4) == pytest.approx(np.full((3, 4), 0.25))
