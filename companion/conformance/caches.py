"""A cache changes the work, not the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from companion.arrays import Array
from companion.conformance._outputs import (
    Function,
    Numbers,
    changed_numbers,
    check_positions,
    differ,
    fail_if,
    outputs_of,
    steady_outputs,
)
from companion.contracts import contract

Step = Callable[[Any], Any]


@contract()
def check_cached(whole: Function, start: Callable[[], Step], x: Array) -> None:
    """Check that a sequence in pieces, with a cache, gives what it gives as a whole.

    Args:
        whole: from (b, n, ...) to (b, n, ...), without a cache.
        start: begins a text: gives a function that takes the next positions, (b, m, ...), any
            number of them, and gives their outputs, (b, m, ...).
        x: (b, n, ...) ids or features, n at least 4.

    Raises:
        AssertionError: the pieces give something else; the message hints at the cause.
        ValueError: fewer than four positions.

    >>> def start():
    ...     seen = [np.zeros((1, 1))]
    ...     def step(piece):
    ...         sums = seen[-1] + piece.cumsum(axis=1)
    ...         seen.append(sums[:, -1:])
    ...         return sums
    ...     return step
    >>> check_cached(lambda x: x.cumsum(axis=1), start, np.array([[1.0, 2.0, 4.0, 8.0]]))
    """
    check_positions(4, x)
    wanted, n = steady_outputs(whole, x), x.shape[1]
    fail_if(
        differ(wanted, _in_pieces(start(), x, [n])),
        "the whole text as one piece gives something else: not the same model",
    )
    fail_if(
        differ(wanted, _in_pieces(start(), x, [n])),
        "a second text gives something else than the first: the cache was not emptied",
    )
    for sizes in ([1] * n, [n - 2, 1, 1], [1, n - 1], [2, n - 2]):
        outputs = _in_pieces(start(), x, sizes)
        if differ(wanted, outputs):
            first = int(
                np.argwhere(changed_numbers(wanted, outputs))[:, 1].min()
            )
            raise AssertionError(
                f"in pieces of {sizes} positions, output {first} is another: does the causal mask "
                f"begin at the number of cached keys (offset), do positions, too, and does a "
                f"window of w keep w - 1 keys beside the new one?"
            )


def _in_pieces(step: Step, x: Any, sizes: list[int]) -> Numbers:
    ends = np.cumsum(sizes).tolist()
    spans = [
        slice(end - size, end) for size, end in zip(sizes, ends, strict=True)
    ]
    pieces = [outputs_of(step, x[:, span]) for span in spans]
    return np.concatenate(pieces, axis=1)
