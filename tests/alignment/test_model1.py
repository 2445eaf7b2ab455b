"""IBM Model 1 against the textbook's loops."""

import numpy as np
import pytest

from companion.alignment import IBMModel1
from companion.data.pairs import Pair

PAIRS = [
    Pair(("the", "house"), ("la", "casa")),
    Pair(("the", "book"), ("el", "libro")),
    Pair(("a", "book"), ("un", "libro")),
]


def model1_by_loops(pairs: list[Pair], iterations: int) -> dict[tuple[str, str], float]:
    """The textbook's pseudocode, over dense tables."""
    sources = sorted({word for pair in pairs for word in pair.source} | {"NULL"})
    targets = sorted({word for pair in pairs for word in pair.target})
    table = np.full((len(targets), len(sources)), 1.0 / len(targets))
    for _ in range(iterations):
        counts = np.zeros_like(table)
        for pair in pairs:
            columns = [sources.index(word) for word in ("NULL", *pair.source)]
            for word in pair.target:
                row = targets.index(word)
                total = sum(table[row, column] for column in columns)
                for column in columns:
                    counts[row, column] += table[row, column] / total
        table = counts / counts.sum(0, keepdims=True)
    return {
        (source, target): table[row, column]
        for row, target in enumerate(targets)
        for column, source in enumerate(sources)
    }


def test_model1_equals_the_textbook_loop() -> None:
    for iterations in (1, 4):
        expected = model1_by_loops(PAIRS, iterations)
        aligner = IBMModel1().fit(PAIRS, iterations=iterations)
        for source in ("the", "house", "book", "a"):
            for target in ("la", "casa", "libro", "un"):
                assert aligner.probability(source, target) == pytest.approx(
                    expected[source, target], abs=1e-12
                )


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
