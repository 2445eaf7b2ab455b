"""Check functions of "Softmax in floating point, and in blocks".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.attention import masked_softmax, scaled_dot_product_attention
from companion.masks import causal_mask
from companion.pages.exercises import answers
from companion.pages.exercises.answers import Answer, Numbers, fail
from companion.pages.exercises.tiles import check_merge as check_merge

Flags = NDArray[np.bool_]

LEAST_PENALTY = -1e4
"""The most that `check_additive` accepts on a forbidden key: no score makes up for it."""


def check_softmax(softmax: Answer) -> None:
    """Check a masked softmax: large scores, forbidden keys, and a row with nothing allowed.

    Args:
        softmax: `softmax(scores, mask)`, from an array (q, k) and a boolean one, True = may
            attend, to weights (q, k); zeros in a row where nothing is allowed.
    """
    generator = np.random.default_rng(5)
    scores = generator.normal(size=(4, 6))
    mask = np.arange(6) <= np.arange(4)[:, None] + 1
    _check_weights(softmax, scores, mask)
    _check_weights(softmax, scores + 1000.0, mask, "with scores near 1000")
    lonely = mask.copy()
    lonely[2] = False
    _check_weights(softmax, scores, lonely, "with nothing allowed in a row")
    decoy = np.where(mask, scores - 1000.0, 1000.0)
    _check_weights(softmax, decoy, mask, "where the forbidden scores are the largest")
    print("Right.")


def _check_weights(softmax: Answer, scores: Numbers, mask: Flags, when: str = "") -> None:
    with np.errstate(all="ignore"):
        got = answers.as_array(answers.called(softmax, scores, mask), axes="(q, k)")
    right = masked_softmax(scores, mask)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    everywhere = powers / powers.sum(-1, keepdims=True)
    over_queries = masked_softmax(np.ascontiguousarray(scores.T), np.ascontiguousarray(mask.T)).T
    of_zeros = masked_softmax(scores * mask)
    mistakes = {
        "the mask is upside down: True means may attend": masked_softmax(scores, ~mask),
        "the mask is missing": everywhere,
        "the mask has to come before the softmax: what it takes away afterwards, the others do "
        "not get": everywhere * mask,
        "a score of 0 is a score like any other: a forbidden key needs -inf": of_zeros,
        "a row sums to 1; that is the axis of the keys, the last": over_queries,
    }
    otherwise = _weights_hint(got, scores, mask, when)
    answers.compare(got, right, mistakes, axes="(q, k)", otherwise=otherwise, atol=1e-9)


def _weights_hint(got: Numbers, scores: Numbers, mask: Flags, when: str) -> str:
    """Say what goes wrong with some weights that no known mistake gives."""
    if got.shape != scores.shape:
        return ""
    dead = ~mask.any(-1)
    if dead.any() and np.isnan(got[dead]).any():
        return "a row with nothing allowed is NaN: its maximum is -inf, or its sum is 0"
    if dead.any() and np.allclose(got[dead], 1 / scores.shape[-1]):
        return "a row with nothing allowed averages all keys: with -1e9 all scores tie; use -inf"
    lost = np.isnan(got).any() or np.allclose(got[~dead], 0)
    if lost and scores[~mask].min() > scores[mask].max():
        return f"all weights are lost {when}: subtract the largest of the allowed scores"
    if not np.isfinite(got).all():
        return f"not all weights are finite {when}: subtract the largest score of the row first"
    return f"the shape is right, the weights are not {when}".strip()


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
