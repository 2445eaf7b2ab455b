"""Right answers pass; empty and typical wrong ones fail, with a hint at the cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bookkit.exercises import align
from companion import additive_score, masked_softmax
from companion.data.pairs import Pair
from companion.metrics import alignment_error_rate

QUERY = np.array([[1.0, 0.0]])
MEMORY = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
SCORES = additive_score(QUERY, MEMORY, np.eye(2), np.eye(2), np.array([1.0, -1.0]))


def without_tanh(query: Any, key: Any, query_weight: Any, key_weight: Any, vector: Any) -> Any:
    return (query @ query_weight @ vector)[:, None] + key @ key_weight @ vector


def test_the_score_without_tanh_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    align.check_without_tanh(without_tanh)
    assert capsys.readouterr().out == "Right.\n"


@pytest.mark.parametrize(
    ("score", "hint"),
    [
        (additive_score, "tanh is still there"),
        (lambda q, k, a, b, v: np.zeros((len(q), 1)) + k @ b @ v, "queries are missing"),
        (lambda q, k, a, b, v: (q @ a @ v)[:, None] + np.zeros(len(k)), "keys are missing"),
        (lambda q, k, a, b, v: (q @ a)[:, None] + k @ b, "vector is missing"),
        (lambda *given: without_tanh(*given).T, "turn it round"),
        (lambda q, k, a, b, v: q @ a @ (k @ b).T, "do not multiply"),
        (lambda q, k, a, b, v: q @ a + k @ b, "Do the axes meet"),
        (lambda *given: None, "got nothing"),
    ],
)
def test_the_score_without_tanh_hints_at_the_cause(score: Callable[..., Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        align.check_without_tanh(score)


@pytest.mark.parametrize("digits", [2, 3, 12])
def test_the_additive_score_by_hand_is_taken(digits: int) -> None:
    align.check_additive(SCORES[0].round(digits), masked_softmax(SCORES)[0].round(digits))


def test_the_additive_score_by_hand_is_taken_from_two_digits_of_tanh() -> None:
    scores = np.array([0.76 - 0.76, 0.96 - 0.76, 1.00 - 0.00])
    align.check_additive(scores, masked_softmax(scores[None])[0].round(2))


@pytest.mark.parametrize(
    ("scores", "weights", "hint"),
    [
        (np.tanh(MEMORY) @ [1, -1], None, "query is missing"),
        ((MEMORY + QUERY) @ [1, -1], None, "tanh is missing"),
        (np.tanh(MEMORY + QUERY).sum(-1), None, "counts negatively"),
        ([0, 1, 2], None, "page before"),
        (None, None, "scores: got nothing"),
        ([0.0, 0.2, 1.0], [1.0, 1.22, 2.70], "divide each"),
        ([0.0, 0.2, 1.0], [0.0, 0.2, 1.0], "take exp"),
        ([0.0, 0.2, 1.0], [0.0, 0.17, 0.83], "not of the scores"),
        ([0.0, 0.2, 1.0], [0.55, 0.25, 0.20], "numbers are not"),
    ],
)
def test_the_additive_score_by_hand_hints_at_the_cause(
    scores: Any, weights: Any, hint: str
) -> None:
    with pytest.raises(AssertionError, match=hint):
        align.check_additive(scores, weights)


def previous(word: Any, state: Any, look: Any, cell: Any) -> Any:
    context = look(state)
    return context, cell([word, context], state)


def present(word: Any, state: Any, look: Any, cell: Any) -> Any:
    state = cell([word], state)
    return look(state), state


def test_decoder_steps_take_both_orders(capsys: pytest.CaptureFixture[str]) -> None:
    align.check_decoder_steps(previous, present)
    assert capsys.readouterr().out == "Right.\n"


def without_context(word: Any, state: Any, look: Any, cell: Any) -> Any:
    return look(state), cell([word], state)


def restarted(word: Any, state: Any, look: Any, cell: Any) -> Any:
    context = look(state)
    return context, cell([word, context], word)


def swapped(word: Any, state: Any, look: Any, cell: Any) -> Any:
    context = look(state)
    return cell([word, context], state), context


def twice(word: Any, state: Any, look: Any, cell: Any) -> Any:
    return look(look(state)), cell([word, look(state)], state)


def glued(word: Any, state: Any, look: Any, cell: Any) -> Any:
    context = look(state)
    return context, cell(word + context, state)


@pytest.mark.parametrize(
    ("first", "second", "hint"),
    [
        (lambda *given: None, present, "previous: got nothing"),
        (present, present, "previous: the old state has to look"),
        (previous, previous, "present: the new state has to look"),
        (without_context, present, "previous: the cell reads"),
        (glued, present, "previous: the cell reads"),
        (restarted, present, "goes on from the old state"),
        (swapped, present, r"wanted \(context, new state\)"),
        (twice, present, "looks once"),
        (lambda word: word, present, "stops with"),
    ],
)
def test_decoder_steps_hint_at_the_cause(
    first: Callable[..., Any], second: Callable[..., Any], hint: str
) -> None:
    with pytest.raises(AssertionError, match=hint):
        align.check_decoder_steps(first, second)


def moved(links: Any, rows: int, length: int) -> Any:
    return {(i + rows, j) for i, j in links if 0 <= i + rows < length}


def error_after(rows: int, links: Any, pairs: list[Pair]) -> float:
    return alignment_error_rate(
        [moved(found, rows, len(p.target)) for found, p in zip(links, pairs, strict=True)], pairs
    )


def best_shift(links: Any, pairs: list[Pair]) -> int:
    return min(range(-2, 3), key=lambda rows: error_after(rows, links, pairs))


def test_best_shift_takes_the_least_error() -> None:
    align.check_best_shift(best_shift)


@pytest.mark.parametrize(
    ("function", "hint"),
    [
        (lambda links, pairs: None, "nothing"),
        (lambda links, pairs: 0, "1 row down: got 0, wanted -1"),
        (lambda links, pairs: -best_shift(links, pairs), "the sign"),
        (lambda links, pairs: float(best_shift(links, pairs)), "whole number"),
        (
            lambda links, pairs: max(range(-2, 3), key=lambda n: error_after(n, links, pairs)),
            "look for the least",
        ),
        (
            lambda links, pairs: min(range(3), key=lambda n: error_after(n, links, pairs)),
            "1 row down",
        ),
        (lambda links: 0, "stops with"),
    ],
)
def test_best_shift_hints_at_the_cause(function: Callable[..., Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        align.check_best_shift(function)
