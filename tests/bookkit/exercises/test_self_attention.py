"""Right answers pass; empty and typical wrong ones fail, with a hint at the cause."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from bookkit.exercises import self_attention as exercises
from companion.attention import self_attention

NEW_HOUSE = np.array([[1.0, 1.0], [2.0, 0.0]])
OUTPUT, WEIGHTS = self_attention(NEW_HOUSE, exercises.W_QUERY, exercises.W_KEY, np.eye(2))


def test_twins_are_words_that_go_in_alike(capsys: pytest.CaptureFixture[str]) -> None:
    exercises.check_twins({(0, 4), (1, 5)}, set())
    exercises.check_twins([[4, 0], [5, 1]], [])
    assert capsys.readouterr().out == 2 * "Right.\n"


@pytest.mark.parametrize(
    ("everywhere", "causal", "hint"),
    [
        (set(), set(), "occurs twice"),
        ({(0, 4)}, set(), r"got \[\(0, 4\)\]"),
        ({(0, 4), (1, 5)}, {(0, 4), (1, 5)}, "four words more"),
        ({(0, 4), (1, 5)}, {(0, 1)}, r"causal: got \[\(0, 1\)\]"),
        (3, set(), "wanted a set of pairs"),
    ],
)
def test_wrong_twins_get_a_hint(everywhere: Any, causal: Any, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        exercises.check_twins(everywhere, causal)


@pytest.mark.parametrize("digits", [2, 3, 12])
def test_two_words_by_hand_are_taken(digits: int) -> None:
    exercises.check_new_house(WEIGHTS.round(digits), OUTPUT.round(digits))
    np.testing.assert_allclose(WEIGHTS, [[0.33, 0.67], [0.5, 0.5]], atol=0.005)


@pytest.mark.parametrize(
    ("weights", "outputs", "hint"),
    [
        ([[1, 2], [-4, -4]], OUTPUT, "weights: those are the scores"),
        ([[0.27, 0.73], [0.5, 0.5]], OUTPUT, "root of 2"),
        (WEIGHTS.T, OUTPUT, "a row is the word that looks"),
        (WEIGHTS, WEIGHTS @ NEW_HOUSE @ exercises.W_KEY, "outputs: blend the values"),
        (WEIGHTS, WEIGHTS.T @ NEW_HOUSE, "with the row"),
        (WEIGHTS[0], OUTPUT, "wanted"),
        (None, OUTPUT, "got nothing"),
    ],
)
def test_wrong_numbers_by_hand_get_a_hint(weights: Any, outputs: Any, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        exercises.check_new_house(weights, outputs)


def test_multiplications_are_counted() -> None:
    exercises.check_multiplications(lambda n, e: (3 * n * e**2, 2 * n**2 * e))


@pytest.mark.parametrize(
    ("count", "hint"),
    [
        (lambda n, e: (2 * n**2 * e, 3 * n * e**2), "come second"),
        (lambda n, e: (n * e**2, 2 * n**2 * e), "three in all"),
        (lambda n, e: (3 * n * e**2, 2 * n**2), "width e"),
        (lambda n, e: (3 * n * e**2, n**2 * e), "blends are missing"),
        (lambda n, e: (3 * n * e**2, n**2 * e + n * e), "over all n words"),
        (lambda n, e: (n, e), r"count\(6, 3\)"),
        (lambda n, e: n, "wanted two numbers"),
        (lambda n: n, "stops with"),
    ],
)
def test_wrong_counts_get_a_hint(count: Callable[..., Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        exercises.check_multiplications(count)


def tried(*orders: Any) -> Callable[..., bool]:
    def sees_order(layer: Any, x: Any) -> bool:
        return any(abs(layer(x[order]) - layer(x)[order]).max() > 1e-9 for order in orders)

    return sees_order


def test_a_test_of_many_orders_is_taken() -> None:
    dice = np.random.default_rng(1)
    exercises.check_sees_order(tried(*(dice.permutation(7) for _ in range(5))))
    swaps = [
        list(order)
        for order in permutations(range(7))
        if sum(i != j for i, j in enumerate(order)) == 2
    ]
    exercises.check_sees_order(tried(*swaps))


@pytest.mark.parametrize(
    ("sees_order", "hint"),
    [
        (tried(list(range(7))[::-1]), "neighbours stay neighbours"),
        (tried(list(range(7))[::-1], [*range(1, 7), 0]), "neighbours in a ring: got False"),
        (lambda layer, x: bool(abs(layer(x[::-1]) - layer(x)).max() > 1e-9), "move its outputs"),
        (lambda layer, x: 1.0, "wanted True or False"),
        (lambda layer, x: None, "got nothing"),
    ],
)
def test_wrong_tests_of_order_get_a_hint(sees_order: Callable[..., Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        exercises.check_sees_order(sees_order)
