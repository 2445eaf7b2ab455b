"""The exercises of "Masks"."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bookkit.data.plane import plane_words
from bookkit.exercises.answers import Flags, Numbers, fail, named
from bookkit.exercises.exercise import Function, Several, Value, Verdict
from companion.attention import masked_softmax
from companion.masks import causal_mask, document_mask, padding_mask, sliding_window_mask
from companion.scores import dot_score

Model = Callable[[Any], Numbers]
"""From letters (n,) to one row of numbers for each of them, (n, v)."""

check_dead_rows = Function(
    "`dead_rows(mask)`, the number of queries to which a mask allows nothing, from a boolean mask "
    "(q, k), True = may attend.",
    right=lambda mask: int((~mask.any(-1)).sum()), cases=[
        (causal_mask(6) & (np.arange(6) >= 2),),  # the filler comes first
        (causal_mask(6) & padding_mask(np.array(4), 6),),
        (~causal_mask(5),),
        (np.zeros((3, 4), dtype=bool),),
        (causal_mask(2, 6, offset=-1),),
    ], mistakes={
        "those are the keys that no query sees: a row is a query": lambda m: int((~m.any(0)).sum()),
        "those are the rows in which some cell is blocked": lambda m: int((~m.all(-1)).sum()),
        "those are the rows that see something": lambda m: int(m.any(-1).sum()),
        "those are the cells that are blocked": lambda m: int((~m).sum()),
    }, otherwise="got {got:g} dead rows",
)  # fmt: skip

WORDS, VECTORS = plane_words()
ROW, EVERY = WORDS.index("new"), np.ones(6, dtype=bool)
SCORES = dot_score(VECTORS, VECTORS)[ROW]
PACKED = (document_mask(np.array([0, 0, 1, 1, 1, 1])) & causal_mask(6))[ROW]
LEAKING = PACKED | (np.arange(6) == WORDS.index("house"))


def _weights(mask: Flags, scores: Numbers = SCORES) -> Any:
    return masked_softmax(scores[None], mask[None])[0]


def _row(mask: Flags, about_house: str, other: Flags) -> Value:
    return Value("(6,) the weights.", right=_weights(mask), mistakes={
        "she and works belong to another text": _weights(np.arange(6) <= ROW),
        "a blocked key gets 0, and only the others count in the sum": mask * _weights(EVERY),
        "a blocked score is not 0 but minus infinity": _weights(EVERY, SCORES * mask),
        "those are the exponentials: divide each by their sum": np.exp(SCORES) * mask,
        about_house: _weights(other),
    }, axes="(6,)", rtol=0, atol=0.006)  # fmt: skip


check_row = Several(
    "The weights of the row *new*, by hand: two digits after the point will do. The words are "
    "those of `plane_words`, each of them query and key, and the scores are their dot products. "
    "*she works* is one text, *in the new house* another. First it sees the words before it in its "
    "own text, and itself; then *house* as well.",
    packed=_row(PACKED, "house comes after new: this mask is causal", LEAKING),
    leaking=_row(LEAKING, "with the ring open, house is allowed, too", PACKED),
)


def _window(
    q_len: int, k_len: int, w: int, more: int = 0, right: int = 0, offset: int | None = None
) -> Any:
    offset = k_len - q_len if offset is None else offset
    left = max(w - 1 + more, 0)
    return sliding_window_mask(q_len, k_len, left=left, right=right, offset=offset)


def _flags(got: Any, *_: int) -> Any:
    if getattr(got, "dtype", None) != np.bool_:
        came = getattr(got, "dtype", None) or named(got)
        fail(f"got {came}, wanted a boolean array, True = may attend")
    return got


check_window = Function(
    "`window(q_len, k_len, w)`, to a boolean mask (q, k) for queries that come last among the "
    "keys: query i is at position i + k_len - q_len and may attend to w keys, its own the last "
    "of them.",
    right=_window, cases=[(6, 6, 3), (3, 8, 4), (1, 7, 2), (4, 5, 1)], mistakes={
        "that is w + 1 keys: its own position and w before it; count its own":
            partial(_window, more=1),
        "that is w - 1 keys: its own position is one of the w": (partial(_window, more=-1)),
        "the last query belongs to the last key, not the first query to the first one":
            partial(_window, offset=0),
        "keys after its own position are the future": lambda q, k, w: _window(q, k, w, right=w - 1),
        "that is causal, without a left end": lambda q, k, w: _window(q, k, k),
        "the mask is upside down: True means may attend": lambda *given: ~_window(*given),
    },
    read=_flags, axes="(q, k)", otherwise="window({}, {}, {}): the shape is right, the mask is not",
)  # fmt: skip


def _model(mask: Flags) -> Model:
    """Return a model that averages what it may see."""
    table = np.random.default_rng(3).normal(size=(16, 4))
    weights = mask / mask.sum(-1, keepdims=True)

    def model(letters: Any) -> Any:
        return weights @ table[np.asarray(letters) % 16]

    return model


SIX = 6
LETTERS = np.array([3, 14, 1, 5, 9, 2])
ONLY = np.eye(SIX, dtype=bool)
FAR = causal_mask(SIX) | (np.add.outer(10 * np.arange(SIX), np.arange(SIX)) == 4)

check_sees_the_future = Verdict(
    "`sees_the_future(model, letters)`, whether a model sees letters that are still to come: from "
    "a model, which turns letters (n,) from 0 to 15 into one row of numbers for each, and some "
    "letters to try, to True or False.",
    suspects=[
        ((_model(causal_mask(SIX)), LETTERS), False, "a causal model is accused: an output may "
         "change from the letter that you changed on, only not before it"),
        ((_model(ONLY), LETTERS), False, "a model in which each letter sees itself alone is "
         "accused: compare only what comes before the letter that you changed"),
        ((_model(causal_mask(SIX, offset=1)), LETTERS), True, "a mask that is open by one position "
         "is not found"),
        ((_model(~causal_mask(SIX) | ONLY), LETTERS), True, "a mask that is upside down is not "
         "found"),
        ((_model(FAR), LETTERS), True, "letter 0 sees letter 4 in one model, and that is not "
         "found: change every letter in turn, and look at all outputs before it"),
    ],
)  # fmt: skip
