"""Parts of models: norms, positions, a memory, and whether two ways to compute one thing agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from companion.arrays import Array
from companion.conformance._outputs import (
    Function,
    changed_numbers,
    constant_like,
    fail_if,
    outputs_of,
    plain_numbers,
    steady_outputs,
)
from companion.contracts import contract

Order = Literal["pre", "post"]
LARGE, LARGER = 1e3, 1e4
MOVES = (1, 7, 50)
OLD, NEW, DECAY = 10.0, 2.0, 0.5


@contract()
def norm_order(block: Function, x: Any) -> Literal["pre", "post", "neither"]:
    """Find out from outside where the norms of a residual block stand.

    What x + f(norm(x)) adds to a large input does not grow with it, however many such sub-layers
    the block has; norm(x + f(x)) has no large outputs.

    Args:
        block: from (b, n, e) to (b, n, e), with its dropout off.
        x: (b, n, e) features of a size near 1.

    >>> x = np.random.default_rng(0).normal(size=(2, 5, 8))
    >>> norm = lambda x: x / x.std(-1, keepdims=True)
    >>> norm_order(lambda x: x + np.tanh(norm(x)), x)
    'pre'
    >>> norm_order(lambda x: norm(x + np.tanh(x)), x)
    'post'
    """
    small, large = steady_outputs(block, x), outputs_of(block, LARGE * x)
    added = large - plain_numbers(LARGE * x)
    added_to_larger = outputs_of(block, LARGER * x) - plain_numbers(LARGER * x)
    grown = np.abs(added - added_to_larger).max()
    if grown <= 0.02 * max(1.0, np.abs(added).max()):
        return "pre"
    bounded = np.abs(large).max() <= 3 * np.abs(small).max()
    return "post" if bounded else "neither"


@contract()
def check_norm_order(block: Function, x: Any, order: Order) -> None:
    """Check that a block has its norms where its text says.

    Args:
        block: from (b, n, e) to (b, n, e), with its dropout off.
        x: (b, n, e) features of a size near 1.
        order: "pre" for x + f(norm(x)), "post" for norm(x + f(x)).

    >>> x = np.random.default_rng(0).normal(size=(2, 5, 8))
    >>> check_norm_order(lambda x: x + np.tanh(x / x.std(-1, keepdims=True)), x, "post")
    Traceback (most recent call last):
    AssertionError: the code is x + f(norm(x)), the text says norm(x + f(x))
    """
    formulas = {
        "pre": "x + f(norm(x))",
        "post": "norm(x + f(x))",
        "neither": "neither order",
    }
    actual = norm_order(block, x)
    told = f"the code is {formulas[actual]}, the text says {formulas[order]}"
    fail_if(actual != order, told)


@contract()
def check_agree(first: Function, second: Function, *given: Any) -> None:
    """Check that two ways to compute one thing give the same.

    Args:
        first: the one that you trust: slow, plain, or the numbers that the author published.
        second: the one that you use.
        *given: what both are called with.

    >>> check_agree(np.cumsum, np.add.accumulate, np.array([1.0, 2.0]))
    >>> check_agree(np.cumsum, np.cumprod, np.array([1.0, 2.0]))
    Traceback (most recent call last):
    AssertionError: the two differ by up to 1, first at [1]: one of them is another function
    """
    wanted, actual = outputs_of(first, *given), outputs_of(second, *given)
    fail_if(
        wanted.shape != actual.shape,
        f"the two differ in shape: {wanted.shape} and {actual.shape}",
    )
    for index in np.argwhere(changed_numbers(wanted, actual)):
        raise AssertionError(
            f"the two differ by up to {np.abs(wanted - actual).max():.3g}, "
            f"first at {index.tolist()}: one of them is another function"
        )


@contract()
def check_relative(scores: Callable[[Any, Any], Any]) -> None:
    """Check that scores depend on the distance of two positions, not on where they are.

    It holds for products of queries and keys that are rotated by their positions (Su et al.,
    2021), and for products of two sinusoidal encodings (Vaswani et al., 2017).

    Args:
        scores: `scores(query_positions, key_positions)`, from two NumPy arrays of whole numbers,
            (q,) and (k,), to (q, k), the queries and keys being the same at every call.

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
    apart = outputs_of(scores, positions + 3, positions)
    fail_if(
        not changed_numbers(before, apart).any(),
        "other distances give the same scores: are the positions used at all?",
    )
    for move in MOVES:
        after = outputs_of(scores, positions + move, positions + move)
        fail_if(
            changed_numbers(before, after).any(),
            f"moved by {move}, the same distances give other scores: are the two features of "
            f"every pair rotated by one angle, and queries and keys in the same layout?",
        )


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
        (NEW - (1 - DECAY) * OLD, "the value is compared with the state before it has forgotten"),
        (DECAY * NEW, "the state forgets after it has written, the new value included"),
        (NEW + DECAY * OLD, "the new value is added to what is left: nothing is compared"),
        (NEW + OLD, "the state neither forgets nor compares"),
    ):  # fmt: skip
        fail_if(abs(last - mistake) < 1e-4, f"{told}, wanted {NEW:g}: {hint}")
    fail_if(abs(last - NEW) > 1e-4, f"{told}, wanted {NEW:g}")
    raise AssertionError(
        f"{read[0, 0]:.4g} is read after {OLD:g} was written into an empty state"
    )
