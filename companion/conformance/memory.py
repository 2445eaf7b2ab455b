"""The delta rule: what a state holds under a key is replaced."""

from __future__ import annotations

import numpy as np

from companion.arrays import Array
from companion.conformance._outputs import (
    Function,
    constant_like,
    fail_if,
    outputs_of,
)
from companion.contracts import contract

OLD, NEW, DECAY = 10.0, 2.0, 0.5


@contract()
def check_delta_rule(recurrence: Function, *, like: Array) -> None:
    """Check a delta rule that decays: what was written in full is read back.

    A step forgets, compares what is left under its key with the new value, and writes the
    difference (Yang et al., 2025). With beta = 1 and a key of length 1, the state then holds the
    new value under the key, whatever it held before and however much was forgotten.

    Args:
        recurrence: `recurrence(query, key, value, decay, beta)` from (n, d), (n, d), (n, v), (n,)
            and (n,) to (n, v): decay is what is left of the state at a step, beta how much of the
            difference is written.
        like: array that gives the library, the device and the dtype.

    Raises:
        AssertionError: something else is read; the message hints at the cause.

    >>> from companion.linear import recurrent_linear_attention
    >>> def recurrence(query, key, value, decay, beta):
    ...     return recurrent_linear_attention(query, key, value, decay=decay, beta=beta)[0]
    >>> check_delta_rule(recurrence, like=np.ones(1))
    """
    key = np.array([[0.6, 0.8], [0.6, 0.8]])
    rows = key, key, np.array([[OLD], [NEW]]), np.full(2, DECAY), np.ones(2)
    read = outputs_of(recurrence, *(constant_like(like, row) for row in rows))
    fail_if(
        read.shape != (2, 1),
        f"gave the shape {read.shape}, wanted (n, v), (2, 1)",
    )
    last = float(read[1, 0])
    if abs(last - NEW) < 1e-4 and abs(read[0, 0] - OLD) < 1e-4:
        return
    told = f"after {OLD:g} and then {NEW:g} were written under one key, {last:.4g} is read"
    for mistake, hint in (
        (
            NEW - (1 - DECAY) * OLD,
            "the value is compared with the state before it has forgotten",
        ),
        (
            DECAY * NEW,
            "the state forgets after it has written, the new value included",
        ),
        (
            NEW + DECAY * OLD,
            "the new value is added to what is left: nothing is compared",
        ),
        (NEW + OLD, "the state neither forgets nor compares"),
    ):
        fail_if(abs(last - mistake) < 1e-4, f"{told}, wanted {NEW:g}: {hint}")
    fail_if(abs(last - NEW) > 1e-4, f"{told}, wanted {NEW:g}")
    raise AssertionError(
        f"{read[0, 0]:.4g} is read after {OLD:g} was written into an empty state"
    )
