"""Scores against loops over their formulas, on every array library."""

import math
from types import ModuleType
from typing import Any

import numpy as np

from companion.scores import additive_score, bilinear_score, dot_score, scaled_dot_score
from tests import oracle
from tests.oracle import assert_matches, draw

B, WIDTH, KEY_WIDTH, HIDDEN = 2, 11, 13, 17
LENGTHS = [(1, 7), (7, 5)]


def test_dot_scores(libraries: list[Any]) -> None:
    for xp in libraries:
        for q, k in LENGTHS:
            query, key = draw(B, q, WIDTH), draw(B, k, WIDTH, seed=1)
            expected = oracle.scores(lambda a, b: math.fsum(a * b), query, key)
            moved = xp.asarray(query), xp.asarray(key)
            assert_matches(dot_score(*moved), expected)
            assert_matches(scaled_dot_score(*moved), expected * WIDTH**-0.5)
            assert_matches(scaled_dot_score(*moved, scale=-2), -2 * expected)


def test_bilinear_score(libraries: list[Any]) -> None:
    weight = draw(WIDTH, KEY_WIDTH)

    def score(a: oracle.Float, b: oracle.Float) -> float:
        return math.fsum(a[r] * weight[r, c] * b[c] for r in range(WIDTH) for c in range(KEY_WIDTH))

    for q, k in LENGTHS:
        arrays = draw(B, q, WIDTH), draw(B, k, KEY_WIDTH), weight
        expected = oracle.scores(score, *arrays[:2])
        for xp in libraries:
            assert_matches(bilinear_score(*map(xp.asarray, arrays)), expected)


def test_additive_score_is_luongs_concat(libraries: list[Any]) -> None:
    """Also with keys that were projected before."""
    weights = draw(WIDTH, HIDDEN), draw(KEY_WIDTH, HIDDEN), draw(HIDDEN)
    stacked = np.concatenate(weights[:2])

    def concat(a: oracle.Float, b: oracle.Float) -> float:
        joined = [*a, *b]
        return math.fsum(
            weights[2][n] * math.tanh(math.fsum(x * stacked[r, n] for r, x in enumerate(joined)))
            for n in range(HIDDEN)
        )

    for q, k in LENGTHS:
        arrays = draw(B, q, WIDTH), draw(B, k, KEY_WIDTH)
        expected = oracle.scores(concat, *arrays)
        for xp in libraries:
            query, key, query_weight, key_weight, vector = map(xp.asarray, (*arrays, *weights))
            found = additive_score(query, key, query_weight, key_weight, vector)
            assert_matches(found, expected)
            projected = xp.matmul(key, key_weight)
            found = additive_score(query, projected, query_weight, None, vector)
            assert_matches(found, expected)


def test_gradients(torch: ModuleType) -> None:
    shapes = [(2, 3, 5), (2, 4, 7), (5, 6), (7, 6), (6,), (5, 7), (2, 4, 5)]
    drawn = [torch.asarray(draw(*shape)).requires_grad_() for shape in shapes]
    query, key, query_weight, key_weight, vector, weight, same_width = drawn
    check = torch.autograd.gradcheck
    assert check(scaled_dot_score, (query, same_width))
    assert check(bilinear_score, (query, key, weight))
    assert check(additive_score, (query, key, query_weight, key_weight, vector))
