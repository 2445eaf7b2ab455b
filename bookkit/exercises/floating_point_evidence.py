"""The exercise of "Softmax in floating point: evidence"."""

import math
from typing import Any

import numpy as np

from bookkit.exercises.answers import Answer, Flags, Numbers, Sign, as_array, fail, named
from bookkit.exercises.exercise import Function
from companion.masks import causal_mask

LEAST_PENALTY = -1e4
"""The most that is accepted on a forbidden key: no score makes up for it."""


def _penalty(allowed: Flags) -> Any:
    return np.where(allowed, 0, -math.inf).astype(np.float16)


def _read(given: Any, causal: Flags, padding: Flags) -> Numbers:
    """Read a mask; any penalty that is large enough is as good as another."""
    if getattr(given, "dtype", None) != np.float16:
        came = f"an array of {given.dtype}" if hasattr(given, "dtype") else named(given)
        fail(f"got {came}, wanted a float16 array")
    got, shape = as_array(given), (causal & padding).shape
    if got.shape != shape:
        fail(f"got shape {got.shape}, wanted (q, k), {shape}")
    if np.isnan(got).any():
        fail("NaN: -1e9 is -inf in float16, and 0 times infinity is not a number; choose instead")
    return np.where(got <= LEAST_PENALTY, -math.inf, got)


def _allowing(which: Answer) -> Sign:
    """Return the mistake to allow certain keys, whatever the others get."""
    return Sign(
        lambda got, *masks: np.array_equal(got >= 0, np.broadcast_to(which(*masks), got.shape)),
        lambda causal, padding: _penalty(which(causal, padding) & (causal | True)),
    )


def _off(got: Numbers, causal: Flags, padding: Flags) -> str:
    allowed = causal & padding
    if (got[allowed] != 0).any():
        return "an allowed key needs exactly 0: what is added there changes the weights"
    why = "too little, a score may be as large; use -inf, or what np.finfo calls min"
    return f"a forbidden key got {got[~allowed].max():g}: {why}"


check_additive = Function(
    "`additive(causal, padding)`, a float16 mask, to be added to scores, made of two boolean ones, "
    "(q, k) and (1, k): 0 where both allow, and far below every score elsewhere.",
    right=lambda causal, padding: _penalty(causal & padding),
    cases=[(causal_mask(5), np.array([[False, True, True, True, False]]))], mistakes={
        "upside down: the allowed keys got the penalty":
            _allowing(lambda causal, padding: ~(causal & padding)),
        "one mask that allows is not enough: a key needs both":
            _allowing(lambda causal, padding: causal | padding),
        "the padding mask is missing": _allowing(lambda causal, padding: causal),
        "the causal mask is missing": _allowing(lambda causal, padding: padding),
    }, examples={
        "NaN: -1e9 is -inf in float16":
            lambda c, p: (~(c & p)).astype(np.float16) * np.float16(-1e9),
        "an allowed key needs exactly 0": lambda c, p: _penalty(c & p) + 1,
        "a forbidden key got -9: too little":
            lambda c, p: np.where(c & p, 0, -9).astype(np.float16),
        "wanted a float16 array": lambda c, p: 1.0 * (c & p),
        "got shape (5,), wanted (q, k), (5, 5)": lambda c, p: _penalty(p[0]),
    }, read=_read, otherwise=_off,
)  # fmt: skip
