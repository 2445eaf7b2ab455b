"""Check functions of "Masks".

Each compares your answer, or what your function gives, with a computation of its own, and prints
"Right." or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bookkit.data.plane import plane_words
from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Numbers, check, compare, fail
from companion.attention import masked_softmax
from companion.masks import causal_mask, document_mask, padding_mask, sliding_window_mask
from companion.scores import dot_score

Flags = NDArray[np.bool_]
Model = Callable[[Any], Numbers]
"""From letters (n,) to one row of numbers for each of them, (n, v)."""

SIX = 6
"""Letters of the texts that `check_sees_the_future` gives."""


def check_dead_rows(dead_rows: Answer) -> None:
    """Check a function that counts the queries to which a mask allows nothing.

    Args:
        dead_rows: `dead_rows(mask)`, from a boolean mask (q, k), True = may attend, to a number.
    """
    filler_first = np.arange(6) >= 2
    cases = (
        causal_mask(6) & filler_first,
        causal_mask(6) & padding_mask(np.array(4), 6),
        ~causal_mask(5),
        np.zeros((3, 4), dtype=bool),
        causal_mask(2, 6, offset=-1),
    )

    def expected(mask: Flags) -> answers.Expected:
        return int((~mask.any(-1)).sum()), {
            "those are the keys that no query sees: a row is a query": int((~mask.any(0)).sum()),
            "those are the rows in which some cell is blocked": int((~mask.all(-1)).sum()),
            "those are the rows that see something": int(mask.any(-1).sum()),
            "those are the cells that are blocked": int((~mask).sum()),
        }

    check(dead_rows, [(mask,) for mask in cases], expected, otherwise="got {got:g} dead rows")


def check_row(packed: Any, leaking: Any) -> None:
    """Check the weights of the row *new*, by hand: two digits after the point will do.

    The words are those of `plane_words`, each of them query and key, and the scores are their dot
    products. *she works* is one text, *in the new house* another.

    Args:
        packed: (6,) its weights if it sees the words before it in its own text, and itself.
        leaking: (6,) its weights if it sees *house* as well.
    """
    words, vectors = plane_words()
    row = words.index("new")
    scores = dot_score(vectors, vectors)[row]
    text = np.array([0, 0, 1, 1, 1, 1])
    allowed = (document_mask(text) & causal_mask(6))[row]
    open_ring = allowed | (np.arange(6) == words.index("house"))
    for name, given, mask in (("packed", packed, allowed), ("leaking", leaking, open_ring)):
        right = masked_softmax(scores[None], mask[None])[0]
        powers = np.exp(scores) * mask
        mistakes = {
            "she and works belong to another text": _weights(scores, np.arange(6) <= row),
            "a blocked key gets 0, and only the others count in the sum": mask
            * _weights(scores, np.ones(6, dtype=bool)),
            "a blocked score is not 0 but minus infinity": _weights(
                scores * mask, np.ones(6, dtype=bool)
            ),
            "those are the exponentials: divide each by their sum": powers,
            "house comes after new: this mask is causal": _weights(scores, open_ring),
            "with the ring open, house is allowed, too": _weights(scores, allowed),
        }
        compare(given, right, mistakes, where=f"{name}: ", axes="(6,)", rtol=0, atol=0.006)
    print("Right.")


def _weights(scores: Numbers, mask: Flags) -> Numbers:
    weights: Numbers = masked_softmax(scores[None], mask[None])[0]
    return weights


def check_window(window: Answer) -> None:
    """Check the mask of a window of w keys, for queries that come last among the keys.

    Args:
        window: `window(q_len, k_len, w)` to a boolean mask (q, k): query i stands at position
            i + k_len - q_len and may attend to w keys, its own the last of them.
    """
    for q_len, k_len, w in ((6, 6, 3), (3, 8, 4), (1, 7, 2), (4, 5, 1)):
        offset = k_len - q_len
        made = partial(sliding_window_mask, q_len, k_len, offset=offset)
        from_start = partial(sliding_window_mask, q_len, k_len, offset=0)
        right, too_short, first = made(left=w - 1), made(left=max(w - 2, 0)), from_start(left=w - 1)
        got = answers.called(window, q_len, k_len, w)
        if getattr(got, "dtype", None) != np.bool_:
            came = getattr(got, "dtype", None) or answers.named(got)
            fail(f"got {came}, wanted a boolean array, True = may attend")
        mistakes = {
            "that is w + 1 keys: its own position and w before it; count its own": made(left=w),
            "that is w - 1 keys: its own position is one of the w": too_short,
            "the last query stands at the last key, not the first query at the first": first,
            "w + 1 keys, and the last query does not stand at the last key": from_start(left=w),
            "keys after its own position are the future": made(left=w - 1, right=w - 1),
            "that is causal, without a left end": causal_mask(q_len, k_len, offset=offset),
            "the mask is upside down: True means may attend": ~right,
        }
        otherwise = f"window({q_len}, {k_len}, {w}): the shape is right, the mask is not"
        answers.compare(got, right, mistakes, axes="(q, k)", otherwise=otherwise)
    print("Right.")


def check_sees_the_future(sees_the_future: Answer) -> None:
    """Check a function that finds out whether a model sees letters that are still to come.

    Args:
        sees_the_future: `sees_the_future(model, letters)`, from a model, which turns letters (n,)
            from 0 to 15 into one row of numbers for each, and some letters to try, to True or
            False.
    """
    letters = np.array([3, 14, 1, 5, 9, 2])
    only = np.eye(SIX, dtype=bool)
    far = causal_mask(SIX) | (np.add.outer(10 * np.arange(SIX), np.arange(SIX)) == 4)
    cases: Mapping[str, tuple[Flags, bool, str]] = {
        "causal": (causal_mask(SIX), False, "a causal model is accused: an output may change "
                   "from the letter that you changed on, only not before it"),
        "diagonal": (only, False, "a model in which each letter sees itself alone is accused: "
                     "compare only what stands before the letter that you changed"),
        "open by one": (causal_mask(SIX, offset=1), True, "a mask that is open by one position "
                        "is not found"),
        "upside down": (~causal_mask(SIX) | only, True, "a mask that is upside down is not found"),
        "far": (far, True, "letter 0 sees letter 4 in one model, and that is not found: change "
                "every letter in turn, and look at all outputs before it"),
    }  # fmt: skip
    for mask, wanted, hint in cases.values():
        got = answers.called(sees_the_future, _model(mask), letters)
        if not isinstance(got, bool | np.bool_):
            answers.refuse(got, "True or False")
        if bool(got) is not wanted:
            fail(hint)
    print("Right.")


def _model(mask: Flags) -> Model:
    """Return a model that averages what it may see."""
    table = np.random.default_rng(3).normal(size=(16, 4))
    weights = mask / mask.sum(-1, keepdims=True)

    def model(letters: Any) -> Numbers:
        outputs: Numbers = weights @ table[np.asarray(letters) % 16]
        return outputs

    return model
