"""Aligners that know no attention, and links read from weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from companion.alignment import IBMModel1, argmax_links, diagonal_links, oracle_links
from companion.data.pairs import Pair
from companion.metrics import alignment_error_rate

PAIRS = [
    Pair(("the", "house"), ("la", "casa")),
    Pair(("the", "book"), ("el", "libro")),
    Pair(("a", "book"), ("un", "libro")),
]


@pytest.mark.parametrize("make", [np.asarray, torch.tensor])
def test_argmax_links_read_rows_as_target_words(make: type) -> None:
    weights = make([[0.1, 0.7, 0.2], [0.5, 0.2, 0.3]])
    assert argmax_links(weights) == {(0, 1), (1, 0)}


@pytest.mark.parametrize("shape", [(3,), (2, 0), (1, 2, 3)])
def test_argmax_links_want_a_matrix(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"weights: got (shape|k = 0)"):
        argmax_links(np.zeros(shape))


@pytest.mark.parametrize(("q_len", "k_len"), [(1, 1), (5, 5), (7, 3), (3, 7), (1, 5), (5, 1)])
def test_the_diagonal_is_the_nearest_relative_position(q_len: int, k_len: int) -> None:
    for i, j in diagonal_links(q_len, k_len):
        distance = [abs((i + 0.5) / q_len - (n + 0.5) / k_len) for n in range(k_len)]
        assert distance[j] == pytest.approx(min(distance))


def test_the_diagonal_of_nothing_is_empty() -> None:
    assert diagonal_links(0, 3) == frozenset()


@pytest.mark.parametrize(("q_len", "k_len"), [(-1, 3), (3, 0)])
def test_the_diagonal_wants_lengths(q_len: int, k_len: int) -> None:
    with pytest.raises(ValueError, match=r"(q_len: got -1|k_len: got 0), wanted at least"):
        diagonal_links(q_len, k_len)


def test_the_oracle_prefers_sure_links() -> None:
    pair = Pair(("a", "b", "c"), ("x", "y", "z"), frozenset({(0, 2)}), frozenset({(0, 1), (1, 1)}))
    assert oracle_links(pair) == {(0, 2), (1, 1)}
    assert alignment_error_rate([oracle_links(pair)], [pair]) == 0.0


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


@pytest.mark.parametrize("iterations", [1, 4])
def test_model1_equals_the_textbook_loop(iterations: int) -> None:
    expected = model1_by_loops(PAIRS, iterations)
    aligner = IBMModel1().fit(PAIRS, iterations=iterations)
    for source in ("the", "house", "book", "a"):
        for target in ("la", "casa", "libro", "un"):
            assert aligner.probability(source, target) == pytest.approx(
                expected[source, target], abs=1e-12
            )


def test_model1_finds_the_words() -> None:
    aligner = IBMModel1().fit(PAIRS * 5, iterations=20)
    assert aligner.links(Pair(("a", "book"), ("un", "libro"))) == {(0, 0), (1, 1)}


def test_model1_leaves_unknown_words_alone() -> None:
    aligner = IBMModel1().fit(PAIRS, iterations=2)
    assert aligner.links(Pair(("the", "cat"), ("gato", "la"))) == {(1, 0)}


def test_model1_wants_pairs_and_iterations() -> None:
    with pytest.raises(ValueError, match="pairs: got none, wanted at least one"):
        IBMModel1().fit([], iterations=3)
    with pytest.raises(ValueError, match="iterations: got 0, wanted at least 1"):
        IBMModel1().fit(PAIRS, iterations=0)
