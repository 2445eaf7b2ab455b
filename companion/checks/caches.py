"""A cache changes the work, not the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from companion.arrays import Array, check_rank
from companion.checks._outputs import Function, Numbers, changed_numbers, outputs_of, steady_outputs

Step = Callable[[Any], Any]


def check_cached(whole: Function, start: Callable[[], Step], x: Array) -> None:
    """Check that a sequence in pieces, with a cache, gives what it gives at once.

    Args:
        whole: from (b, n, ...) to (b, n, ...), without a cache.
        start: begins a text: gives a function that takes the next places, (b, m, ...), any number
            of them, and gives their outputs, (b, m, ...).
        x: (b, n, ...) ids or features, n at least 4.

    Raises:
        AssertionError: the pieces give something else; the message hints at the cause.
        ValueError: fewer than four places.

    >>> def start():
    ...     seen = [np.zeros((1, 1))]
    ...     def step(piece):
    ...         found = seen[-1] + piece.cumsum(axis=1)
    ...         seen.append(found[:, -1:])
    ...         return found
    ...     return step
    >>> check_cached(lambda x: x.cumsum(axis=1), start, np.array([[1.0, 2.0, 4.0, 8.0]]))
    """
    check_rank(2, "(b, n, ...)", x=x)
    if (n := x.shape[1]) < 4:
        raise ValueError(f"x: got shape {tuple(x.shape)}, wanted (b, n, ...), n at least 4")
    wanted = steady_outputs(whole, x)
    first = _in_pieces(start(), x, [n])
    if _differ(wanted, first):
        raise AssertionError("the whole text as one piece gives something else: not the same model")
    if _differ(wanted, _in_pieces(start(), x, [n])):
        raise AssertionError(
            "a second text gives something else than the first: the cache was not emptied"
        )
    for sizes in ([1] * n, [n - 2, 1, 1], [1, n - 1], [2, n - 2]):
        found = _in_pieces(start(), x, sizes)
        if _differ(wanted, found):
            place = int(np.argwhere(changed_numbers(wanted, found))[:, 1].min())
            raise AssertionError(
                f"in pieces of {sizes} places, output {place} is another: does the causal mask "
                f"begin at the number of cached keys (offset), and do positions, too?"
            )


def _in_pieces(step: Step, x: Any, sizes: list[int]) -> Numbers:
    ends = np.cumsum(sizes).tolist()
    spans = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    pieces = [outputs_of(step, x[:, span]) for span in spans]
    return np.concatenate(pieces, axis=1)


def _differ(wanted: Numbers, found: Numbers) -> bool:
    return wanted.shape != found.shape or bool(changed_numbers(wanted, found).any())
