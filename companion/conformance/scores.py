"""What happens to scores before the softmax: they are bounded, and a mask is added to them."""

from __future__ import annotations

import math

import numpy as np

from companion.arrays import Array
from companion.conformance._outputs import Function, Numbers, constant_like, fail_if, outputs_of
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

    Raises:
        AssertionError: other weights; the message hints at the cause.

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
    if math.isclose(actual, wanted, rel_tol=1e-2):
        return
    told = f"a scaled product of {scaled:.3g} becomes a score of {actual:.3g}, wanted {wanted:.3g}"
    fail_if(math.isclose(actual, scaled, rel_tol=1e-2), f"{told}: the bound changes nothing")
    fail_if(
        math.isclose(actual, scale * CAP * math.tanh(PRODUCT / CAP), rel_tol=1e-2),
        f"{told}: the bound comes before the scale; scale the products, then bound them",
    )
    raise AssertionError(f"{told}, cap * tanh(scaled product / cap)")


def _two_weights(attention: Function, product: float, like: Array) -> Numbers:
    """Return the weights of two causal queries on two keys, whose products are given and 0."""
    one = np.eye(1, WIDTH)
    rows = np.concatenate([one, one]), np.concatenate([product * one, 0 * one]), np.eye(2, WIDTH)
    given = (constant_like(like, row[None, None]) for row in rows)
    return np.asarray(outputs_of(attention, *given, CAP)[0, 0, :, :2])


@contract()
def check_bias(attention: Function, *, like: Array) -> None:
    """Check that a mask of floating numbers is added to the scores, and -inf forbids.

    Args:
        attention: `attention(query, key, value, mask)` from (1, 1, q, d), (1, 1, k, d),
            (1, 1, k, d) and (q, k) floating numbers to (1, 1, q, d).
        like: array that gives the library, the device and the dtype.

    Raises:
        AssertionError: something else is done with it; the message hints at the cause.

    >>> from companion.attention import scaled_dot_product_attention
    >>> check_bias(scaled_dot_product_attention, like=np.ones(1))
    """
    bias = np.array([[0.0, math.log(3.0)], [0.0, -math.inf]])
    rows = np.zeros((2, WIDTH)), np.ones((2, WIDTH)), np.eye(2, WIDTH)
    given = [constant_like(like, row[None, None]) for row in rows]
    weights = outputs_of(attention, *given, constant_like(like, bias))[0, 0, :, :2]
    wanted = np.array([[0.25, 0.75], [1.0, 0.0]])
    if np.allclose(weights, wanted, atol=1e-4):
        return
    got = weights[0].round(3).tolist()
    told = f"two equal scores and a mask of [0, log 3] give the weights {got}"
    fail_if(np.allclose(weights[0], 0.5), f"{told}: the mask changes nothing, or is multiplied")
    fail_if(
        np.allclose(weights[0], [0.0, 1.0], atol=1e-4) or np.allclose(weights[0], [1.0, 0.0]),
        f"{told}: a mask of floating numbers is read as a mask of booleans",
    )
    fail_if(
        np.allclose(weights[0], wanted[0], atol=1e-4),
        f"-inf in the mask gives the weights {weights[1].round(3).tolist()}, wanted [1, 0]",
    )
    raise AssertionError(f"{told}, wanted [0.25, 0.75]: the mask is added to the scores as it is")
