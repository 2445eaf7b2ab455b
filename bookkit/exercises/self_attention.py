"""Check functions of "Self-attention".

Each compares your answer, or what your function gives, with a computation of its own, and prints
"Right." or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bookkit.data.plane import plane_words
from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, compare_parts, fail
from companion.attention import self_attention
from companion.masks import causal_mask, sliding_window_mask

TWINS = ("the", "new", "house", "in", "the", "new", "city")
"""The sentence of `check_twins`."""
W_QUERY = np.array([[-1.0, 0.0], [2.0, -1.0]])
W_KEY = np.array([[1.0, 0.0], [1.0, 1.0]])
"""The matrices of the lesson; its values are the words themselves."""

Layer = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""From words (n, e) to outputs (n, e)."""


def check_twins(everywhere: Any, causal: Any) -> None:
    """Check which words of *the new house in the new city* have equal outputs, without positions.

    Args:
        everywhere: the pairs of positions, counted from 0, whose outputs are equal if every word
            sees all words: a set of pairs, empty for none.
        causal: the same if a word sees itself and the words before it alone.
    """
    right = {(i, j) for j, word in enumerate(TWINS) for i in range(j) if TWINS[i] == word}
    first, second = (_pairs(got) for got in (everywhere, causal))
    if not first:
        fail("everywhere: the word the occurs twice. Do its two queries differ? Do its keys?")
    if first != right:
        fail(f"everywhere: got {sorted(first)}. Which words go in with equal vectors?")
    if second == right:
        fail("causal: the second the sees four words more than the first one")
    if second:
        fail(f"causal: got {sorted(second)}. Which words does each of the two see?")
    print("Right.")


def _pairs(got: Any) -> set[tuple[int, int]]:
    try:
        return {(min(pair), max(pair)) for pair in map(tuple, got) if len(pair) == 2}
    except TypeError:
        answers.refuse(got, "a set of pairs, such as {(0, 2)}")


def check_new_house(weights: Any, outputs: Any) -> None:
    """Check self-attention by hand on the two words *new house*.

    Two digits after the point will do.

    Args:
        weights: (2, 2), a row for the word that looks.
        outputs: (2, 2), a row for each word.
    """
    names, vectors = plane_words()
    x = vectors[[names.index("new"), names.index("house")]]
    output, shares = self_attention(x, W_QUERY, W_KEY, np.eye(2))
    scores = (x @ W_QUERY) @ (x @ W_KEY).T
    unscaled = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    one, _ = self_attention(x, W_KEY, W_QUERY, np.eye(2))
    compare_parts(
        (weights, outputs),
        {
            "weights": (shares, {
                "those are the scores: divide by the root of 2, then take the softmax": scores,
                "divide the scores by the root of 2 first": unscaled,
                "a row is the word that looks, a column the word that it looks at": shares.T,
            }),
            "outputs": (output, {
                "blend the values, which are the words themselves, and not the keys": (
                    shares @ x @ W_KEY
                ),
                "blend with the row of the word that looks": shares.T @ x,
                "queries and keys are exchanged": one,
            }),
        },
        "weights and outputs",
        axes="(2, 2)", atol=0.011,
    )  # fmt: skip
    print("Right.")


def check_multiplications(count: Answer) -> None:
    """Check the multiplications of a layer with one head whose width is that of the words.

    Args:
        count: `count(n, e)` gives two numbers, of n words of width e: the multiplications for
            queries, keys and values together, and those for all scores and all blends together.
    """
    for n, e in ((6, 3), (100, 64), (4096, 512)):
        got = answers.as_parts(answers.called(count, n, e), 2, "two numbers")
        projections, pairs = 3 * n * e * e, 2 * n * n * e
        found = tuple(answers.as_number(part) for part in got)
        answers.hint_at(found, {
            "the pairs come second": (pairs, projections),
            "queries, keys and values take one matrix each: three in all": (n * e * e, pairs),
            "a score is a product of two vectors of width e": (projections, 2 * n * n),
            "the blends are missing: every pair also gives a weight times a value": (
                projections, n * n * e,
            ),
            "a blend is over all n words, for each of the n words": (
                projections, n * n * e + n * e,
            ),
        })  # fmt: skip
        if found != (projections, pairs):
            fail(f"count({n}, {e}): got {got}, wanted {(projections, pairs)}")
    print("Right.")


def check_sees_order(sees_order: Answer) -> None:
    """Check a test that tells whether a layer sees the order of its words.

    Args:
        sees_order: `sees_order(layer, x)` takes a function from words (n, e) to outputs (n, e)
            and words to try it on, and returns True if the layer sees their order.
    """
    x = np.random.default_rng(6).normal(size=(7, 4))
    for name, (layer, wanted) in _layers(len(x), x.shape[1]).items():
        got = answers.called(sees_order, layer, x)
        if not isinstance(got, bool | np.bool_):
            answers.refuse(got, "True or False")
        if got == wanted:
            continue
        if name == "every word sees all words":
            fail("a layer that cannot see the order fails your test: do you move its outputs, too?")
        if name == "neighbours":
            fail(
                "a layer in which words see only their neighbours passes your test: neighbours stay"
                " neighbours if the sentence is turned round. Try another order"
            )
        fail(f"{name}: got {bool(got)}, wanted {wanted}")
    print("Right.")


def _layers(n: int, e: int) -> dict[str, tuple[Layer, bool]]:
    dice = np.random.default_rng(7)
    query, key, value = (dice.normal(size=(e, e)) for _ in range(3))
    near = sliding_window_mask(n, left=1, right=1)
    ring = (
        near | np.eye(n, dtype=bool)[[*range(1, n), 0]] | np.eye(n, dtype=bool)[[-1, *range(n - 1)]]
    )
    marks = dice.normal(size=(n, e))
    return {
        "every word sees all words": (lambda x: self_attention(x, query, key, value)[0], False),
        "no attention, a matrix for each word alone": (lambda x: x @ value, False),
        "neighbours": (lambda x: self_attention(x, query, key, value, near)[0], True),
        "neighbours in a ring": (lambda x: self_attention(x, query, key, value, ring)[0], True),
        "words before": (lambda x: self_attention(x, query, key, value, causal_mask(n))[0], True),
        "positions added": (lambda x: self_attention(x + marks, query, key, value)[0], True),
    }
