"""What happens to scores before the softmax: a bound, a mask that is added, sinks beside them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from companion.arrays import Array
from companion.conformance._outputs import (
    Function,
    Numbers,
    as_heads,
    constant_like,
    fail_if,
    outputs_of,
)
from companion.conformance.attention import measured_scale
from companion.contracts import contract

WIDTH = 16
CAP, PRODUCT = 2.0, 12.0
SMALL = 0.02
"""A product so small that its bound cannot be told from itself."""


@contract()
def check_softcap(attention: Function, *, like: Array) -> None:
    """Check a bound on the scores: after the scale, before the mask.

    A score is to be cap * tanh(scaled product / cap). After the mask the bound would turn the
    -inf of a forbidden key into -cap, so that the future leaks; before the scale it would be
    another bound.

    Args:
        attention: causal `attention(query, key, value, cap)` from (1, 1, q, d), (1, 1, k, d),
            (1, 1, k, d) and a number to (1, 1, q, d).
        like: array that gives the library, the device and the dtype.

    >>> from companion.attention import scaled_dot_product_attention
    >>> def attention(query, key, value, cap):
    ...     return scaled_dot_product_attention(query, key, value, is_causal=True, softcap=cap)
    >>> check_softcap(attention, like=np.ones(1))
    """
    weights = _two_weights(attention, PRODUCT, like)
    fail_if(
        weights[0, 1] > 0,
        f"a forbidden key gets a weight of {weights[0, 1]:.2g}: the bound comes after the mask and "
        f"turns -inf into -{CAP:g}; bound the scores, then mask them",
    )
    small = _two_weights(attention, SMALL, like)[1]
    scale = float(np.log(small[0] / small[1])) / SMALL
    actual = float(np.log(weights[1, 0] / weights[1, 1]))
    scaled = scale * PRODUCT
    wanted = CAP * math.tanh(scaled / CAP)
    early = scale * CAP * math.tanh(PRODUCT / CAP)
    told = f"a scaled product of {scaled:.3g} becomes a score of {actual:.3g}, wanted {wanted:.3g}"
    for score, hint in (
        (wanted, ""),
        (scaled, ": the bound changes nothing"),
        (early, ": the bound comes before the scale; scale the products, then bound them"),
    ):  # fmt: skip
        if math.isclose(actual, score, rel_tol=1e-2):
            return fail_if(hint, f"{told}{hint}")
    raise AssertionError(f"{told}, cap * tanh(scaled product / cap)")


def _two_weights(attention: Function, product: float, like: Array) -> Numbers:
    """Return the weights of two causal queries on two keys, whose products are given and 0."""
    query = np.eye(1, WIDTH) * np.ones((2, 1))
    key = np.eye(1, WIDTH) * [[product], [0.0]]
    given = as_heads(like, query, key, np.eye(2, WIDTH))
    return np.asarray(outputs_of(attention, *given, CAP)[0, 0, :, :2])


@contract()
def check_bias(attention: Function, *, like: Array) -> None:
    """Check that a mask of floating numbers is added to the scores, and -inf forbids.

    Args:
        attention: `attention(query, key, value, mask)` from (1, 1, q, d), (1, 1, k, d),
            (1, 1, k, d) and (q, k) floating numbers to (1, 1, q, d).
        like: array that gives the library, the device and the dtype.

    >>> from companion.attention import scaled_dot_product_attention
    >>> check_bias(scaled_dot_product_attention, like=np.ones(1))
    """
    bias = np.array([[0.0, math.log(3.0)], [0.0, -math.inf]])
    rows = np.zeros((2, WIDTH)), np.ones((2, WIDTH)), np.eye(2, WIDTH)
    given = *as_heads(like, *rows), constant_like(like, bias)
    first, second = outputs_of(attention, *given)[0, 0, :, :2]
    told = f"two equal scores and a mask of [0, log 3] give the weights {first.round(3).tolist()}"
    fail_if(
        _close(first, [0.5, 0.5]),
        f"{told}: the mask changes nothing, or is multiplied",
    )
    fail_if(
        _close(first, [0.0, 1.0]) or _close(first, [1.0, 0.0]),
        f"{told}: a mask of floating numbers is read as a mask of booleans",
    )
    fail_if(
        not _close(first, [0.25, 0.75]),
        f"{told}, wanted [0.25, 0.75]: the mask is added to the scores as it is",
    )
    fail_if(
        not _close(second, [1.0, 0.0]),
        f"-inf in the mask gives the weights {second.round(3).tolist()}, wanted [1, 0]",
    )


KEYS = 3
SINKS = np.array([-1.0, 0.5, 2.0, 4.0])
"""None of them is zero: at zero a sink that is missing is hard to see, and its logit cannot be."""


@contract()
def check_sinks(attention: Function, *, like: Array) -> None:
    """Check that sinks take their share of every row, whatever the size of its scores.

    The weights of a row sum to sigmoid(lse - sink), where lse is the log-sum-exp of its scores
    without the sink (Xiao et al., 2024). With values of 1 an output is that sum. The scores are the
    same for all keys, so that lse is the score plus the logarithm of the number of keys.

    Args:
        attention: `attention(query, key, value, sinks)` from (1, h, 1, d), (1, h, k, d),
            (1, h, k, d) and (h,), or without sinks if called with three arrays, to (1, h, 1, d).
        like: array that gives the library, the device and the dtype.

    >>> from companion.attention import scaled_dot_product_attention as attention
    >>> check_sinks(lambda *qkv: attention(*qkv[:3], sinks=(*qkv, None)[3]), like=np.ones(1))
    >>> check_sinks(lambda *qkv: attention(*qkv[:3]), like=np.ones(1))
    Traceback (most recent call last):
    AssertionError: rows sum to 1, as without sinks: they never reach the softmax (a test with \
sinks of 0 and long rows would hardly see it)
    """
    scale = measured_scale(attention, WIDTH, len(SINKS), like=like)
    heads, one = np.ones((len(SINKS), 1, 1)), np.eye(1, WIDTH)
    for score in (0.0, 6.0, -6.0):
        keys = score / scale * one * np.ones((KEYS, 1))
        rows = (
            heads * one * np.ones((KEYS, 1)),
            heads * keys,
            heads * np.ones((KEYS, WIDTH)),
        )
        given = *as_heads(like, *rows), constant_like(like, SINKS)
        sums = outputs_of(attention, *given)[0, :, 0, 0]
        _check_sums(np.asarray(sums), score, scale)


def _check_sums(sums: Numbers, score: float, scale: float) -> None:
    def like(sinks: Numbers, largest: float = score) -> bool:
        return _close(sums, share(sinks, largest))

    def share(sinks: Numbers, largest: float = score) -> Numbers:
        lse = largest + np.log(KEYS)
        return np.asarray(1 / (1 + np.exp(sinks - lse)))  # sigmoid(lse - sink)

    if like(SINKS):
        return
    wanted = share(SINKS).round(4).tolist()
    told = f"rows of scores {score:g} and sinks {SINKS.tolist()} sum to {sums.round(4).tolist()}"
    fail_if(
        _close(sums, np.ones_like(sums)),
        "rows sum to 1, as without sinks: they never reach the softmax "
        "(a test with sinks of 0 and long rows would hardly see it)",
    )
    fail_if(
        like(0 * SINKS),
        f"{told}: all sinks count as a logit of 0, a term of 1 in the denominator",
    )
    fail_if(
        score and (like(SINKS, 0.0) or like(0 * SINKS, 0.0)),
        f"{told}, wanted {wanted}: the largest score was subtracted from the "
        f"scores but not from the sink; its term is exp(sink - maximum)",
    )
    fail_if(
        like(SINKS[::-1]) or like(SINKS[:1] + 0 * SINKS),
        f"{told}: a head has the sink of another head: is the axis that of the heads?",
    )
    fail_if(
        like(SINKS * scale),
        f"{told}: the sinks are scaled like products; a sink is a logit already",
    )
    raise AssertionError(f"{told}, wanted sigmoid(lse - sink), {wanted}")


def _close(numbers: Numbers, wanted: Any) -> bool:
    return bool(np.allclose(numbers, wanted, rtol=1e-3, atol=1e-5))
