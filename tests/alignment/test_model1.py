"""IBM Model 1 against the textbook's loops."""

from collections import defaultdict

import pytest

from companion.alignment import IBMModel1
from companion.data.pairs import Pair
from tests.alignment.corpus import Table, shares_of_sources

PAIRS = [
    Pair(("the", "house"), ("la", "casa")),
    Pair(("the", "book"), ("el", "libro")),
    Pair(("a", "book"), ("un", "libro")),
]


def model1_by_loops(iterations: int) -> Table:
    """The textbook's pseudocode."""
    table: Table = {(s, t): 1.0 for p in PAIRS for s in ("", *p.source) for t in p.target}
    for _ in range(iterations):
        counts: Table = defaultdict(float)
        for pair in PAIRS:
            sources = ("", *pair.source)
            for target in pair.target:
                total = sum(table[source, target] for source in sources)
                for source in sources:
                    counts[source, target] += table[source, target] / total
        table = shares_of_sources(counts)
    return table


def test_model1_equals_the_textbook_loop() -> None:
    for iterations in (1, 4):
        aligner = IBMModel1().fit(PAIRS, iterations=iterations)
        for (source, target), expected in model1_by_loops(iterations).items():
            assert aligner.probability(source, target) == pytest.approx(expected, abs=1e-12)
        assert aligner.probability("house", "un") == 0.0


def test_model1_takes_the_copy_of_a_word_that_is_nearer_to_the_diagonal() -> None:
    aligner = IBMModel1().fit(PAIRS * 5, iterations=20)
    pair = Pair(("the", "book", "a", "the"), ("la", "un", "libro", "la"))
    assert aligner.links(pair) == {(0, 0), (1, 2), (2, 1), (3, 3)}


def test_model1_shares_out_every_known_word() -> None:
    aligner = IBMModel1().fit(PAIRS, iterations=2)
    shares = aligner.posteriors(Pair(("the", "cat"), ("gato", "la")))
    assert shares.shape == (2, 3)
    assert shares.sum(-1) == pytest.approx([0, 1])
    null, the = (aligner.probability(source, "la") for source in ("", "the"))
    assert shares[1] == pytest.approx([null / (null + the), the / (null + the), 0])
