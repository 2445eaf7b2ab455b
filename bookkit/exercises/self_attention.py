"""The exercises of "Self-attention"."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bookkit.data.plane import plane_words
from bookkit.exercises.answers import Flags, Numbers, refuse
from bookkit.exercises.exercise import Function, Several, Value, Verdict
from companion.attention import self_attention
from companion.masks import causal_mask, sliding_window_mask

TWINS = ("the", "new", "house", "in", "the", "new", "city")
EQUAL = {(i, j) for j, word in enumerate(TWINS) for i in range(j) if TWINS[i] == word}


def _pairs(got: Any) -> set[tuple[int, int]]:
    try:
        return {(min(pair), max(pair)) for pair in map(tuple, got) if len(pair) == 2}
    except TypeError:
        refuse(got, "a set of pairs, such as {(0, 2)}")


check_twins = Several(
    "Which words of *the new house in the new city* have equal outputs, without positions: sets of "
    "pairs of positions, counted from 0, empty for none.",
    everywhere=Value(
        "If every word sees all words.", right=EQUAL, mistakes={
            "the word the occurs twice. Do its two queries differ? Do its keys?": set(),
        }, examples={"got [(0, 4)]. Which words go in with equal vectors?": {(0, 4)}}, read=_pairs,
        otherwise=lambda pairs: f"got {sorted(pairs)}. Which words go in with equal vectors?",
    ),
    causal=Value(
        "If a word sees itself and the words before it alone.", right=set(),
        mistakes={"the second the sees four words more than the first one": EQUAL},
        examples={"got [(0, 4)]. Which words does each of the two see?": {(0, 4)}}, read=_pairs,
        otherwise=lambda pairs: f"got {sorted(pairs)}. Which words does each of the two see?",
    ),
)  # fmt: skip

W_QUERY = np.array([[-1.0, 0.0], [2.0, -1.0]])
W_KEY = np.array([[1.0, 0.0], [1.0, 1.0]])
"""The matrices of the lesson; its values are the words themselves."""
NAMES, VECTORS = plane_words()
X = VECTORS[[NAMES.index("new"), NAMES.index("house")]]
OUTPUT, SHARES = self_attention(X, W_QUERY, W_KEY, np.eye(2))
SCORES = (X @ W_QUERY) @ (X @ W_KEY).T

check_new_house = Several(
    "Self-attention by hand on the two words *new house*. Two digits after the point will do.",
    weights=Value("(2, 2), a row for the word that looks.", right=SHARES, mistakes={
        "those are the scores: divide by the root of 2, then take the softmax": SCORES,
        "divide the scores by the root of 2 first":
            np.exp(SCORES) / np.exp(SCORES).sum(-1, keepdims=True),
        "a row is the word that looks, a column the word that it looks at": SHARES.T,
    }, axes="(2, 2)", atol=0.011),
    outputs=Value("(2, 2), a row for each word.", right=OUTPUT, mistakes={
        "blend the values, which are the words themselves, and not the keys":
            SHARES @ X @ W_KEY,
        "blend with the row of the word that looks": SHARES.T @ X,
        "queries and keys are exchanged": self_attention(X, W_KEY, W_QUERY, np.eye(2))[0],
    }, axes="(2, 2)", atol=0.011),
)  # fmt: skip

check_multiplications = Function(
    "`count(n, e)`, two numbers, of n words of width e, for a layer with one head whose width is "
    "that of the words: the multiplications for queries, keys and values together, and those for "
    "all scores and all blends together.",
    right=lambda n, e: (3 * n * e * e, 2 * n * n * e), cases=[(6, 3), (100, 64), (4096, 512)],
    mistakes={"the pairs come second": lambda n, e: (2 * n * n * e, 3 * n * e * e)}, parts={
        "projections": {
            "queries, keys and values take one matrix each: three in all": lambda n, e: n * e * e,
        },
        "pairs": {
            "a score is a product of two vectors of width e": lambda n, e: 2 * n * n,
            "the blends are missing: every pair also gives a weight times a value":
                lambda n, e: n * n * e,
            "a blend is over all n words, for each of the n words": lambda n, e: n * n * e + n * e,
        },
    }, kind="two numbers", otherwise="count({}, {}): got {got:g}, wanted {wanted:g}",
)  # fmt: skip


def _layers(n: int, e: int) -> dict[str, tuple[Callable[[Numbers], Numbers], bool]]:
    """Return layers from words (n, e) to outputs (n, e), and whether they see the order."""
    dice = np.random.default_rng(7)
    query, key, value = (dice.normal(size=(e, e)) for _ in range(3))
    marks, one = dice.normal(size=(n, e)), np.eye(n, dtype=bool)
    near = sliding_window_mask(n, left=1, right=1)

    def attending(mask: Flags | None = None, added: Any = 0.0) -> Callable[[Numbers], Numbers]:
        return lambda x: self_attention(x + added, query, key, value, mask)[0]

    return {
        "every word sees all words": (attending(), False),
        "no attention, a matrix for each word alone": (lambda x: x @ value, False),
        "neighbours": (attending(near), True),
        "neighbours in a ring": (attending(near | np.roll(one, 1, 1) | np.roll(one, -1, 1)), True),
        "words before": (attending(causal_mask(n)), True),
        "positions added": (attending(added=marks), True),
    }


WRONG_ABOUT = {
    "every word sees all words": "a layer that cannot see the order fails your test: do you move "
    "its outputs, too?",
    "neighbours": "a layer in which words see only their neighbours passes your test: neighbours "
    "stay neighbours if the sentence is turned round. Try another order",
}
TRIED = np.random.default_rng(6).normal(size=(7, 4))

check_sees_order = Verdict(
    "`sees_order(layer, x)`, True if a layer sees the order of its words, of a function from words "
    "(n, e) to outputs (n, e) and words to try it on.",
    suspects=[
        ((layer, TRIED), sees, WRONG_ABOUT.get(name, f"{name}: got {not sees}, wanted {sees}"))
        for name, (layer, sees) in _layers(*TRIED.shape).items()
    ],
)
