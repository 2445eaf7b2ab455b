"""Scores that know distances alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from companion.conformance._outputs import changed_numbers, fail_if, outputs_of
from companion.contracts import contract

MOVES = (1, 7, 50)


@contract()
def check_relative(scores: Callable[[Any, Any], Any]) -> None:
    """Check that scores depend on the distance of two positions, not on where they are.

    It holds for products of queries and keys that are rotated by their positions (Su et al.,
    2021), and for products of two sinusoidal encodings (Vaswani et al., 2017).

    Args:
        scores: `scores(query_positions, key_positions)`, from two NumPy arrays of whole numbers,
            (q,) and (k,), to (q, k), the queries and keys being the same at every call.

    Raises:
        AssertionError: they depend on more, or on nothing; the message hints at the cause.

    >>> check_relative(lambda query, key: np.cos(query[:, None] - key))
    >>> check_relative(lambda query, key: np.cos(query[:, None]) * np.cos(key))
    Traceback (most recent call last):
    AssertionError: moved by 1, the same distances give other scores: are the two features of \
every pair rotated by one angle, and queries and keys in the same layout?
    """
    positions = np.arange(5)
    before = outputs_of(scores, positions, positions)
    fail_if(
        before.shape != (5, 5),
        f"scores: got shape {before.shape}, wanted (q, k), (5, 5)",
    )
    fail_if(
        not changed_numbers(
            before, outputs_of(scores, positions + 3, positions)
        ).any(),
        "other distances give the same scores: are the positions used at all?",
    )
    for move in MOVES:
        moved = positions + move
        fail_if(
            changed_numbers(before, outputs_of(scores, moved, moved)).any(),
            f"moved by {move}, the same distances give other scores: are the two features of "
            f"every pair rotated by one angle, and queries and keys in the same layout?",
        )
