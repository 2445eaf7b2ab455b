"""Check functions of "Softmax in floating point: evidence".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, fail
from companion.attention import scaled_dot_product_attention
from companion.masks import causal_mask

Flags = NDArray[np.bool_]

LEAST_PENALTY = -1e4
"""The most that `check_additive` accepts on a forbidden key: no score makes up for it."""


def check_additive(additive: Answer) -> None:
    """Check a float16 mask, to be added to scores, made of two boolean ones.

    Args:
        additive: `additive(causal, padding)`, from boolean masks (q, k) and (1, k) to a float16
            array (q, k): 0 where both allow, and far below every score elsewhere.
    """
    causal: Flags = causal_mask(5)
    padding = np.array([[False, True, True, True, False]])
    allowed = causal & padding
    with np.errstate(all="ignore"):
        given = answers.called(additive, causal, padding)
    if getattr(given, "dtype", None) != np.float16:
        fail(f"got {_named(given)}, wanted a float16 array")
    got = answers.as_array(given)
    if got.shape != allowed.shape:
        fail(f"got shape {got.shape}, wanted (q, k), {allowed.shape}")
    if np.isnan(got).any():
        fail("NaN: -1e9 is -inf in float16, and 0 times infinity is not a number; choose instead")
    mistakes = {
        "upside down: the allowed keys got the penalty": ~allowed,
        "one mask that allows is not enough: a key needs both": causal | padding,
        "the padding mask is missing": causal,
        "the causal mask is missing": np.broadcast_to(padding, (5, 5)),
    }
    for hint, wrongly_allowed in mistakes.items():
        if np.array_equal(got >= 0, wrongly_allowed):
            fail(hint)
    if (got[allowed] != 0).any():
        fail("an allowed key needs exactly 0: what is added there changes the weights")
    if (got[~allowed] > LEAST_PENALTY).any():
        why = "too little, a score may be as large; use -inf, or what np.finfo calls min"
        fail(f"a forbidden key got {got[~allowed].max():g}: {why}")
    query, key = np.random.default_rng(7).normal(size=(2, 5, 4))
    value = np.eye(5)
    output = scaled_dot_product_attention(query, key, value, got)
    wanted = scaled_dot_product_attention(query, key, value, allowed)
    alive = allowed.any(-1)
    if not np.allclose(output[alive], wanted[alive], atol=1e-9):
        fail("with it, attention gives other weights than with the boolean masks")
    print("Right.")


def _named(got: Any) -> str:
    return f"an array of {got.dtype}" if hasattr(got, "dtype") else answers.named(got)
