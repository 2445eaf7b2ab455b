"""Links read from weights, from positions, from the gold and from probabilities."""

import numpy as np
import pytest
import torch

from companion.alignment import argmax_links, best_links, diagonal_links, oracle_links
from companion.data.pairs import Pair
from companion.metrics import alignment_error_rate


def test_argmax_links_read_rows_as_target_words() -> None:
    for make in (np.asarray, torch.tensor):
        assert argmax_links(make([[0.1, 0.7, 0.2], [0.5, 0.2, 0.3]])) == {(0, 1), (1, 0)}
    for shape in ((3,), (2, 0), (1, 2, 3)):
        with pytest.raises(ValueError, match=r"weights: got (shape|k = 0)"):
            argmax_links(np.zeros(shape))


def test_the_diagonal_is_the_nearest_relative_position_and_decides_between_equal_words() -> None:
    for q_len, k_len in ((1, 1), (5, 5), (7, 3), (3, 7), (1, 5), (5, 1)):
        for i, j in diagonal_links(q_len, k_len):
            distance = [abs((i + 0.5) / q_len - (n + 0.5) / k_len) for n in range(k_len)]
            assert distance[j] == pytest.approx(min(distance))
        assert best_links(np.full((q_len, 1 + k_len), 0.1)) == diagonal_links(q_len, k_len)
    assert diagonal_links(0, 3) == frozenset()


def test_the_oracle_prefers_sure_links() -> None:
    pair = Pair(("a", "b", "c"), ("x", "y", "z"), frozenset({(0, 2)}), frozenset({(0, 1), (1, 1)}))
    assert oracle_links(pair) == {(0, 2), (1, 1)}
    assert alignment_error_rate([oracle_links(pair)], [pair]) == 0.0


def test_best_links_are_those_of_the_most_probable_known_words() -> None:
    shares = np.array([[0.0, 0.2, 0.1, 0.1, 0.3, 0.3]] * 2)
    assert best_links(shares) == {(0, 3), (1, 3)}
    assert best_links(shares[:, [0, 4, 2, 3, 1, 5]]) == {(0, 0), (1, 4)}
    null_and_unknown = np.array([[0.4, 0.3, 0.3], [0.4, 0.2, 0.4], [0.0, 0.0, 0.0]])
    assert best_links(null_and_unknown) == {(1, 1)}
    for shape in ((0,), (0, 3), (2, 1)):  # a side is empty
        assert best_links(np.zeros(shape)) == frozenset()
