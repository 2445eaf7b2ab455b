"""Check functions of "Softmax, masks and numerics".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.attention import masked_softmax, scaled_dot_product_attention
from companion.masks import causal_mask, sliding_window_mask
from companion.pages.exercises.answers import called, fail, named
from companion.tiled import merge_attention

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]

LEAST_PENALTY = -1e4
"""The most that `check_additive` accepts on a forbidden key: no score makes up for it."""


def check_softmax(softmax: Callable[..., Any]) -> None:
    """Check a masked softmax: large scores, forbidden keys, and a row with nothing allowed.

    Args:
        softmax: `softmax(scores, mask)`, from an array (q, k) and a boolean one, True = may
            attend, to weights (q, k); zeros in a row where nothing is allowed.

    Raises:
        AssertionError: the weights are wrong; the message hints at the cause.
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


def _check_weights(
    softmax: Callable[..., Any], scores: Numbers, mask: Flags, when: str = ""
) -> None:
    with np.errstate(all="ignore"):
        got = _array(called(softmax, scores.copy(), mask.copy()), scores.shape, "(q, k)")
    right = masked_softmax(scores, mask)
    if np.allclose(got, right, atol=1e-9):
        return
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    everywhere = powers / powers.sum(-1, keepdims=True)
    dead = ~mask.any(-1)
    _hint(
        got,
        {
            "the mask is upside down: True means may attend": masked_softmax(scores, ~mask),
            "the mask is missing": everywhere,
            "the mask has to come before the softmax: what it takes away afterwards, the others do "
            "not get": everywhere * mask,
            "a score of 0 is a score like any other: a forbidden key needs -inf": masked_softmax(
                scores * mask
            ),
            "a row sums to 1; that is the axis of the keys, the last": masked_softmax(
                np.ascontiguousarray(scores.T), np.ascontiguousarray(mask.T)
            ).T,
        },
    )
    if dead.any() and np.isnan(got[dead]).any():
        fail("a row with nothing allowed is NaN: its maximum is -inf, or its sum is 0")
    if dead.any() and np.allclose(got[dead], 1 / scores.shape[-1]):
        fail("a row with nothing allowed averages all keys: with -1e9 all scores tie; use -inf")
    lost = np.isnan(got).any() or np.allclose(got[~dead], 0)
    if lost and scores[~mask].min() > scores[mask].max():
        fail(f"all weights are lost {when}: subtract the largest of the allowed scores")
    if not np.isfinite(got).all():
        fail(f"not all weights are finite {when}: subtract the largest score of the row first")
    fail(f"the shape is right, the weights are not {when}".strip())


def check_merge(merge: Callable[..., Any]) -> None:
    """Check that attention to some keys and attention to others becomes attention to all.

    Args:
        merge: `merge(output, lse, other_output, other_lse)`, from outputs (q, v) and log-sum-exps
            (q,) to the merged pair; a half with -inf counts for nothing, and two of them give
            zeros and -inf.

    Raises:
        AssertionError: an output or a log-sum-exp is wrong; the message hints at the cause.
    """
    generator = np.random.default_rng(6)
    one, two = generator.normal(size=(2, 5, 3))
    lse, other = generator.normal(size=(2, 5))
    _check_merged(merge, one, lse, two, other)
    _check_merged(merge, one, lse + 900.0, two, other + 900.0, "with log-sum-exps near 900")
    other[1], lse[3] = -math.inf, -math.inf
    _check_merged(merge, one, lse, two, other, "where one half has no key")
    one[2], two[2], lse[2], other[2] = 0.0, 0.0, -math.inf, -math.inf
    _check_merged(merge, one, lse, two, other, "where neither half has a key")
    print("Right.")


def _check_merged(
    merge: Callable[..., Any],
    one: Numbers,
    lse: Numbers,
    two: Numbers,
    other: Numbers,
    when: str = "",
) -> None:
    with np.errstate(all="ignore"):
        got = called(merge, one.copy(), lse.copy(), two.copy(), other.copy())
        if not isinstance(got, tuple | list) or len(got) != 2:
            fail(f"got {_named(got)}, wanted two arrays, (output, lse)")
        output = _array(got[0], one.shape, "(q, v)", "output: ")
        total = _array(got[1], lse.shape, "(q,)", "lse: ")
        right, right_lse = merge_attention(one, lse, two, other)
        if np.isnan(output).any() or np.isnan(total).any():
            fail(f"NaN {when}: subtract the larger log-sum-exp first, unless it is -inf")
        if not np.allclose(output, right, atol=1e-9):
            share = lse / (lse + other)
            _hint(
                output,
                {
                    "output: halves weigh as their denominators do, not alike": (one + two) / 2,
                    "output: each half is a mean already; the sum has to be one, too": one + two,
                    "output: a log-sum-exp is a logarithm: its exponential is the weight": share[
                        :, None
                    ]
                    * one
                    + (1 - share)[:, None] * two,
                    "output: the weights are exchanged": merge_attention(one, other, two, lse)[0],
                },
            )
            fail(f"output: the shape is right, the numbers are not {when}".strip())
        if not np.allclose(total, right_lse, atol=1e-9):
            _hint(
                total,
                {
                    "lse: the sums add up, not their logarithms": lse + other,
                    "lse: that is the larger one; the smaller adds something": np.maximum(
                        lse, other
                    ),
                    "lse: that is the sum; its logarithm is wanted": np.exp(lse) + np.exp(other),
                    "lse: the logarithm of the sum, without the maximum added back": np.log(
                        1 + np.exp(-np.abs(lse - other))
                    ),
                },
            )
            fail(f"lse: the shape is right, the numbers are not {when}".strip())


def check_window(window: Callable[..., Any]) -> None:
    """Check the mask of a window of w keys, for queries that come last among the keys.

    Args:
        window: `window(q_len, k_len, w)` to a boolean mask (q, k): query i stands at place
            i + k_len - q_len and may attend to w keys, its own place the last of them.

    Raises:
        AssertionError: the mask is wrong; the message hints at the cause.
    """
    for q_len, k_len, w in ((6, 6, 3), (3, 8, 4), (1, 7, 2), (4, 5, 1)):
        offset = k_len - q_len

        def made(
            left: int,
            right: int = 0,
            offset: int = offset,
            size: tuple[int, int] = (q_len, k_len),
        ) -> Flags:
            found: Flags = sliding_window_mask(*size, left=max(left, 0), right=right, offset=offset)
            return found

        right = made(w - 1)
        given = called(window, q_len, k_len, w)
        if getattr(given, "dtype", None) != np.bool_:
            fail(f"got {_named(given)}, wanted a boolean array, True = may attend")
        got: Flags = np.asarray(given)
        if got.shape != right.shape:
            fail(f"got shape {got.shape}, wanted (q, k), {right.shape}")
        if not np.array_equal(got, right):
            _hint(
                got,
                {
                    "that is w + 1 keys: the own place and w before it; count the own place": made(
                        w
                    ),
                    "that is w - 1 keys: the own place is one of the w": made(w - 2),
                    "the last query stands at the last key, not the first query at the first": made(
                        w - 1, offset=0
                    ),
                    "w + 1 keys, and the last query does not stand at the last key": made(
                        w, offset=0
                    ),
                    "keys after the own place are the future": made(w - 1, w - 1),
                    "that is causal, without a left end": causal_mask(q_len, k_len, offset=offset),
                    "the mask is upside down: True means may attend": ~right,
                },
            )
            fail(f"window({q_len}, {k_len}, {w}): the shape is right, the mask is not")
    print("Right.")


def check_additive(additive: Callable[..., Any]) -> None:
    """Check a float16 mask, to be added to scores, made of two boolean ones.

    Args:
        additive: `additive(causal, padding)`, from boolean masks (q, k) and (1, k) to a float16
            array (q, k): 0 where both allow, and far below every score elsewhere.

    Raises:
        AssertionError: an entry is wrong; the message hints at the cause.
    """
    causal: Flags = causal_mask(5)
    padding = np.array([[False, True, True, True, False]])
    allowed = causal & padding
    with np.errstate(all="ignore"):
        given = called(additive, causal.copy(), padding.copy())
    if getattr(given, "dtype", None) != np.float16:
        fail(f"got {_named(given)}, wanted a float16 array")
    got = _array(given, allowed.shape, "(q, k)")
    if np.isnan(got).any():
        fail("NaN: -1e9 is -inf in float16, and 0 times infinity is not a number; choose instead")
    _hint(
        np.where(got < 0, 1.0, 0.0),
        {
            "upside down: the allowed keys got the penalty": np.where(allowed, 1.0, 0.0),
            "one mask that allows is not enough: a key needs both": np.where(
                causal | padding, 0.0, 1.0
            ),
            "the padding mask is missing": np.where(causal, 0.0, 1.0),
            "the causal mask is missing": np.broadcast_to(np.where(padding, 0.0, 1.0), (5, 5)),
        },
    )
    if (got[allowed] != 0).any():
        fail("an allowed key needs exactly 0: what is added there changes the weights")
    if (got[~allowed] > LEAST_PENALTY).any():
        fail(
            f"a forbidden key got {got[~allowed].max():g}: too little, a score may be as large; "
            "use -inf, or what np.finfo calls min"
        )
    query, key = np.random.default_rng(7).normal(size=(2, 5, 4))
    value = np.eye(5)
    output = scaled_dot_product_attention(query, key, value, got)
    wanted = scaled_dot_product_attention(query, key, value, allowed)
    alive = allowed.any(-1)
    if not np.allclose(output[alive], wanted[alive], atol=1e-9):
        fail("with it, attention gives other weights than with the boolean masks")
    print("Right.")


def _array(got: Any, shape: tuple[int, ...], axes: str, where: str = "") -> Numbers:
    try:
        array = np.asarray(got, dtype=np.float64)
    except (TypeError, ValueError):
        fail(f"{where}got {_named(got)}, wanted an array {axes}")
    if array.ndim == 0 and shape != ():
        fail(f"{where}got {_named(got)}, wanted an array {axes}")
    if array.shape != shape:
        fail(f"{where}got shape {array.shape}, wanted {axes}, {shape}")
    return array


def _hint(got: Any, mistakes: Mapping[str, Any]) -> None:
    """Fail with the hint of the known wrong array that was given, if it is one."""
    for hint, wrong in mistakes.items():
        if got.shape == wrong.shape and np.allclose(got, wrong, atol=1e-9):
            fail(hint)


def _named(got: Any) -> str:
    return f"an array of {got.dtype}" if hasattr(got, "dtype") else named(got)
