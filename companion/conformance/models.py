"""Where a block's norms stand, and whether two ways to compute one thing agree."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from companion.conformance._outputs import (
    Function,
    changed_numbers,
    fail_if,
    outputs_of,
    plain_numbers,
    steady_outputs,
)
from companion.contracts import contract

Order = Literal["pre", "post"]
LARGE, LARGER = 1e3, 1e4


@contract()
def norm_order(block: Function, x: Any) -> Literal["pre", "post", "neither"]:
    """Find out from outside where the norms of a residual block stand.

    What x + f(norm(x)) adds to a large input does not grow with it, however many such sub-layers
    the block has; norm(x + f(x)) has no large outputs.

    Args:
        block: from (b, n, e) to (b, n, e), with its dropout off.
        x: (b, n, e) features of a size near 1.

    Raises:
        AssertionError: the block gives NaN, or two outputs for one input.

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
    if np.abs(added - added_to_larger).max() <= 0.02 * max(1.0, np.abs(added).max()):
        return "pre"
    return "post" if np.abs(large).max() <= 3 * np.abs(small).max() else "neither"


@contract()
def check_norm_order(block: Function, x: Any, order: Order) -> None:
    """Check that a block has its norms where its text says.

    Args:
        block: from (b, n, e) to (b, n, e), with its dropout off.
        x: (b, n, e) features of a size near 1.
        order: "pre" for x + f(norm(x)), "post" for norm(x + f(x)).

    Raises:
        AssertionError: it has them elsewhere; the message says where.

    >>> x = np.random.default_rng(0).normal(size=(2, 5, 8))
    >>> check_norm_order(lambda x: x + np.tanh(x / x.std(-1, keepdims=True)), x, "post")
    Traceback (most recent call last):
    AssertionError: the code is x + f(norm(x)), the text says norm(x + f(x))
    """
    formulas = {"pre": "x + f(norm(x))", "post": "norm(x + f(x))", "neither": "neither order"}
    actual = norm_order(block, x)
    fail_if(actual != order, f"the code is {formulas[actual]}, the text says {formulas[order]}")


@contract()
def check_agree(first: Function, second: Function, *given: Any) -> None:
    """Check that two ways to compute one thing give the same.

    Args:
        first: the one that you trust: slow, plain, or the numbers that the author published.
        second: the one that you use.
        *given: what both are called with.

    Raises:
        AssertionError: they differ; the message says by how much and where first.

    >>> check_agree(np.cumsum, np.add.accumulate, np.array([1.0, 2.0]))
    >>> check_agree(np.cumsum, np.cumprod, np.array([1.0, 2.0]))
    Traceback (most recent call last):
    AssertionError: the two differ by up to 1, first at [1]: one of them is another function
    """
    wanted, actual = outputs_of(first, *given), outputs_of(second, *given)
    fail_if(
        wanted.shape != actual.shape, f"the two differ in shape: {wanted.shape} and {actual.shape}"
    )
    for index in np.argwhere(changed_numbers(wanted, actual)):
        raise AssertionError(
            f"the two differ by up to {np.abs(wanted - actual).max():.3g}, "
            f"first at {index.tolist()}: one of them is another function"
        )
