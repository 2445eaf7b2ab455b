"""Links read from weights, from positions, from the gold and from probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from companion.alignment import argmax_links, best_links, diagonal_links, oracle_links
from companion.data.pairs import Pair
from companion.metrics import alignment_error_rate


def test_argmax_links_read_rows_as_target_words() -> None:
    cases: list[Any] = [np.asarray, torch.tensor]
    for make in cases:
        weights = make([[0.1, 0.7, 0.2], [0.5, 0.2, 0.3]])
        assert argmax_links(weights) == {(0, 1), (1, 0)}


def test_argmax_links_want_a_matrix() -> None:
    cases: list[Any] = [(3,), (2, 0), (1, 2, 3)]
    for shape in cases:
        with pytest.raises(ValueError, match=r"weights: got (shape|k = 0)"):
            argmax_links(np.zeros(shape))


def test_the_diagonal_is_the_nearest_relative_position() -> None:
    cases: list[Any] = [(1, 1), (5, 5), (7, 3), (3, 7), (1, 5), (5, 1)]
    for q_len, k_len in cases:
        for i, j in diagonal_links(q_len, k_len):
            distance = [abs((i + 0.5) / q_len - (n + 0.5) / k_len) for n in range(k_len)]
            assert distance[j] == pytest.approx(min(distance))


def test_the_diagonal_of_nothing_is_empty() -> None:
    assert diagonal_links(0, 3) == frozenset()


def test_the_diagonal_wants_lengths() -> None:
    cases: list[Any] = [(-1, 3), (3, 0)]
    for q_len, k_len in cases:
        with pytest.raises(ValueError, match=r"(q_len: got -1|k_len: got 0), wanted at least"):
            diagonal_links(q_len, k_len)


def test_the_oracle_prefers_sure_links() -> None:
    pair = Pair(("a", "b", "c"), ("x", "y", "z"), frozenset({(0, 2)}), frozenset({(0, 1), (1, 1)}))
    assert oracle_links(pair) == {(0, 2), (1, 1)}
    assert alignment_error_rate([oracle_links(pair)], [pair]) == 0.0


def test_of_equal_words_the_nearest_to_the_diagonal_is_taken() -> None:
    cases: list[Any] = [(1, 1), (5, 5), (7, 3), (3, 7), (1, 5), (5, 1)]
    for q_len, k_len in cases:
        shares = np.full((q_len, 1 + k_len), 0.1)
        assert best_links(shares) == diagonal_links(q_len, k_len)


def test_only_the_most_probable_words_compete() -> None:
    shares = np.array([[0.0, 0.2, 0.1, 0.1, 0.3, 0.3]] * 2)
    assert best_links(shares) == {(0, 3), (1, 3)}
    assert best_links(shares[:, [0, 4, 2, 3, 1, 5]]) == {(0, 0), (1, 4)}


def test_words_of_the_null_word_and_unknown_words_get_no_link() -> None:
    shares = np.array([[0.4, 0.3, 0.3], [0.4, 0.2, 0.4], [0.0, 0.0, 0.0]])
    assert best_links(shares) == {(1, 1)}


def test_where_a_side_is_empty_there_are_no_links() -> None:
    cases: list[Any] = [(0,), (0, 3), (2, 1)]
    for shape in cases:
        assert best_links(np.zeros(shape)) == frozenset()
