"""Scores against loops over their formulas, on every array library."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from companion.scores import additive_score, bilinear_score, dot_score, scaled_dot_score
from tests import oracle
from tests.oracle import assert_matches

B, WIDTH, KEY_WIDTH, HIDDEN = 2, 11, 13, 17
LENGTHS = [(1, 1), (1, 7), (5, 7), (7, 5), (7, 7), (63, 5)]


def draw(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def test_dot_score(xp: Any) -> None:
    for q, k in LENGTHS:
        query, key = draw(B, q, WIDTH), draw(B, k, WIDTH, seed=1)
        expected = oracle.scores(lambda a, b: math.fsum(a * b), query, key)
        assert_matches(dot_score(xp.asarray(query), xp.asarray(key)), expected)


@pytest.mark.parametrize("scale", [None, -2])
def test_scaled_dot_score(xp: Any, scale: float | None) -> None:
    query, key = draw(B, 5, WIDTH), draw(B, 7, WIDTH, seed=1)
    factor = WIDTH**-0.5 if scale is None else scale
    expected = oracle.scores(lambda a, b: factor * math.fsum(a * b), query, key)
    assert_matches(scaled_dot_score(xp.asarray(query), xp.asarray(key), scale=scale), expected)


@pytest.mark.parametrize(("q", "k"), [(1, 7), (7, 5)])
def test_bilinear_score(xp: Any, q: int, k: int) -> None:
    query, key = draw(B, q, WIDTH), draw(B, k, KEY_WIDTH)
    weight = draw(WIDTH, KEY_WIDTH)

    def score(a: oracle.Float, b: oracle.Float) -> float:
        return math.fsum(a[r] * weight[r, c] * b[c] for r in range(WIDTH) for c in range(KEY_WIDTH))

    actual = bilinear_score(xp.asarray(query), xp.asarray(key), xp.asarray(weight))
    assert_matches(actual, oracle.scores(score, query, key))


@pytest.mark.parametrize(("q", "k"), [(1, 7), (7, 5)])
def test_additive_score_is_luongs_concat(xp: Any, q: int, k: int) -> None:
    query, key = draw(B, q, WIDTH), draw(B, k, KEY_WIDTH)
    query_weight, key_weight, vector = draw(WIDTH, HIDDEN), draw(KEY_WIDTH, HIDDEN), draw(HIDDEN)
    stacked = np.concatenate([query_weight, key_weight])

    def concat(a: oracle.Float, b: oracle.Float) -> float:
        joined = [*a, *b]
        return math.fsum(
            vector[n] * math.tanh(math.fsum(x * stacked[r, n] for r, x in enumerate(joined)))
            for n in range(HIDDEN)
        )

    arrays = (xp.asarray(x) for x in (query, key, query_weight, key_weight, vector))
    assert_matches(additive_score(*arrays), oracle.scores(concat, query, key))


def test_keys_projected_beforehand_give_the_same_additive_score(xp: Any) -> None:
    query, key = xp.asarray(draw(B, 5, WIDTH)), xp.asarray(draw(B, 7, KEY_WIDTH))
    query_weight, key_weight = xp.asarray(draw(WIDTH, HIDDEN)), xp.asarray(draw(KEY_WIDTH, HIDDEN))
    vector = xp.asarray(draw(HIDDEN))
    at_once = additive_score(query, key, query_weight, key_weight, vector)
    beforehand = additive_score(query, xp.matmul(key, key_weight), query_weight, None, vector)
    assert_matches(beforehand, oracle.as_numpy(at_once))


def test_leading_axes_are_free_and_broadcast(xp: Any) -> None:
    query, key = draw(3, B, 5, WIDTH), draw(7, WIDTH)
    flat = dot_score(xp.asarray(query[1, 0]), xp.asarray(key))
    assert_matches(dot_score(xp.asarray(query), xp.asarray(key))[1, 0, ...], oracle.as_numpy(flat))


def test_the_identity_makes_bilinear_the_dot_score(xp: Any) -> None:
    query, key = xp.asarray(draw(5, WIDTH)), xp.asarray(draw(7, WIDTH))
    actual = bilinear_score(query, key, xp.eye(WIDTH, dtype=xp.float64))
    assert_matches(actual, oracle.as_numpy(dot_score(query, key)))


def test_the_dtype_stays(xp: Any) -> None:
    query = xp.ones((5, 3), dtype=xp.float32)
    assert scaled_dot_score(query, query).dtype == xp.float32
    assert bilinear_score(query, query, xp.ones((3, 3), dtype=xp.float32)).dtype == xp.float32


def test_gradients(torch: ModuleType) -> None:
    shapes = [(2, 3, 5), (2, 4, 7), (5, 6), (7, 6), (6,), (5, 7), (2, 4, 5)]
    drawn = [torch.asarray(draw(*shape)).requires_grad_() for shape in shapes]
    query, key, query_weight, key_weight, vector, weight, same_width = drawn
    check = torch.autograd.gradcheck
    assert check(scaled_dot_score, (query, same_width))
    assert check(bilinear_score, (query, key, weight))
    assert check(additive_score, (query, key, query_weight, key_weight, vector))
