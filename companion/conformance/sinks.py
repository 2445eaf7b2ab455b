"""Sinks: a logit of each head that joins the denominator of its softmax, and nothing else."""

from __future__ import annotations

import numpy as np

from companion.arrays import Array
from companion.conformance._outputs import (
    Function,
    Numbers,
    constant_like,
    fail_if,
    outputs_of,
)
from companion.conformance.attention import measured_scale
from companion.contracts import contract

WIDTH, KEYS = 16, 3
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

    Raises:
        AssertionError: other sums; the message hints at the cause.

    >>> from companion.attention import scaled_dot_product_attention as attention
    >>> check_sinks(lambda *qkv: attention(*qkv[:3], sinks=(*qkv, None)[3]), like=np.ones(1))
    >>> check_sinks(lambda *qkv: attention(*qkv[:3]), like=np.ones(1))
    Traceback (most recent call last):
    AssertionError: rows sum to 1, as without sinks: they never reach the softmax (a test with \
sinks of 0 and long rows would hardly see it)
    """
    scale = measured_scale(attention, WIDTH, len(SINKS), like=like)
    for score in (0.0, 6.0, -6.0):
        _compare(_row_sums(attention, score / scale, like), score, scale)


def _row_sums(attention: Function, product: float, like: Array) -> Numbers:
    heads = np.ones((1, len(SINKS), 1, 1))
    rows = (
        np.eye(1, WIDTH),
        product * np.eye(1, WIDTH) * np.ones((KEYS, 1)),
        np.ones((KEYS, WIDTH)),
    )
    given = [constant_like(like, heads * row) for row in rows]
    outputs = outputs_of(attention, *given, constant_like(like, SINKS))
    return np.asarray(outputs[0, :, 0, 0])


def _compare(sums: Numbers, score: float, scale: float) -> None:
    # As if the largest score were 0.
    lse, unshifted = (score + np.log(KEYS), np.log(KEYS))

    def share(sinks: Numbers, lse: float = lse) -> Numbers:
        return np.asarray(1 / (1 + np.exp(sinks - lse)))  # sigmoid(lse - sink)

    wanted = share(SINKS)
    if _close(sums, wanted):
        return
    told = f"rows of scores {score:g} and sinks {SINKS.tolist()} sum to {sums.round(4).tolist()}"
    fail_if(
        _close(sums, np.ones_like(sums)),
        "rows sum to 1, as without sinks: they never reach the softmax "
        "(a test with sinks of 0 and long rows would hardly see it)",
    )
    fail_if(
        _close(sums, share(0 * SINKS)),
        f"{told}: all sinks count as a logit of 0, a term of 1 in the denominator",
    )
    fail_if(
        score
        and any(
            _close(sums, share(sinks, unshifted))
            for sinks in (SINKS, 0 * SINKS)
        ),
        f"{told}, wanted {wanted.round(4).tolist()}: the largest score was subtracted from the "
        f"scores but not from the sink; its term is exp(sink - maximum)",
    )
    fail_if(
        _close(sums, share(SINKS[::-1]))
        or _close(sums, share(SINKS[:1] + 0 * SINKS)),
        f"{told}: a head has the sink of another head: is the axis that of the heads?",
    )
    fail_if(
        _close(sums, share(SINKS * scale)),
        f"{told}: the sinks are scaled like products; a sink is a logit already",
    )
    raise AssertionError(
        f"{told}, wanted sigmoid(lse - sink), {wanted.round(4).tolist()}"
    )


def _close(sums: Numbers, wanted: Numbers) -> bool:
    return bool(np.allclose(sums, wanted, rtol=1e-3, atol=1e-5))
