"""How a recurrent layer forgets: decays between 0 and 1, learned or fixed; and keys of length 1.

Today's layers compute how much of the state is left from the token itself. All decays are factors,
as `companion.linear` takes them, not their logarithms.
"""

from __future__ import annotations

import math
from typing import Any

from companion.arrays import Array, ArrayT, cast, namespace, widen
from companion.contracts import contract
from companion.positions.angles import library_like


@contract(x="...", log_rate="~...", bias="~...")
def softplus_decay(x: ArrayT, log_rate: ArrayT, bias: ArrayT) -> ArrayT:
    """Return exp(-exp(log_rate) * softplus(x + bias)) (Gu and Dao, 2023; Yang et al., 2025).

    Here softplus(y) is log(1 + exp(y)). A head forgets at its own rate, and the longer the step
    softplus(x + bias), the more it forgets. Gated DeltaNet has a step for each token and head,
    Kimi Delta Attention one for each channel, too.

    Args:
        x: what a token says about forgetting, (..., h) or (..., h, d).
        log_rate: logarithm of a head's rate, (h,), or (h, 1) beside channels.
        bias: added to x, (h,) or (h, d).

    Returns:
        Factors from 0 to 1, of the shape of x, in at least float32.

    >>> import numpy as np
    >>> zero = np.zeros(1)
    >>> softplus_decay(np.array([[-100.0], [0.0], [100.0]]), zero, zero)[:, 0].round(3)
    array([1. , 0.5, 0. ])
    """
    xp = namespace(x)
    step, log_rate, bias = widen(xp, x, log_rate, bias)
    step = step + bias
    return xp.exp(-xp.exp(log_rate) * xp.logaddexp(step, xp.zeros_like(step)))  # type: ignore[no-any-return]


@contract(x="...", log_rate="~...", bias="~...", floor="< 0")
def sigmoid_decay(
    x: ArrayT, log_rate: ArrayT, bias: ArrayT, *, floor: float
) -> ArrayT:
    """Return exp(floor * sigmoid(exp(log_rate) * (x + bias))): a decay that exp(floor) bounds.

    Recent layers of Kimi Delta Attention have it in place of `softplus_decay`. No product of c
    steps is then below exp(c * floor), so that kernels may divide one product by another.

    Args:
        x: what a token says about forgetting, (..., h) or (..., h, d).
        log_rate: logarithm of a head's slope, (h,), or (h, 1) beside channels.
        bias: added to x, (h,) or (h, d).
        floor: logarithm of the smallest decay.

    Returns:
        Factors from exp(floor) to 1, of the shape of x, in at least float32.

    >>> import numpy as np
    >>> zero = np.zeros(1)
    >>> sigmoid_decay(np.array([[-100.0], [100.0]]), zero, zero, floor=-1.0)[:, 0].round(3)
    array([1.   , 0.368])
    """
    xp = namespace(x)
    step, log_rate, bias = widen(xp, x, log_rate, bias)
    logit = xp.exp(log_rate) * (step + bias)
    zero = xp.zeros_like(logit)
    return xp.exp(floor * xp.exp(-xp.logaddexp(zero, -logit)))  # type: ignore[no-any-return]


@contract(num_heads=">= 1", scale=">= 0", like="any: ...")
def fixed_decay(
    num_heads: int, *, scale: float = 1.0, like: Array | None = None
) -> Any:
    """Return the decay of each head of lightning attention, exp(-scale * 2^(-8 i / h)), i = 1 to h.

    Nothing about it is learned: early heads forget fast, late ones slowly (Qin et al., 2024). The
    numbers 2^(-8 i / h) are the slopes of ALiBi where h is a power of two.

    Args:
        scale: factor on the slopes; MiniMax (2025) lets it fall from 1 in its first layer to
            nearly 0, which forgets nothing, in its last.
        like: array that gives the library, the device and, if it is floating, the dtype; None
            means NumPy.

    Returns:
        Factors from 0 to 1, (h,), in at least float32.

    >>> fixed_decay(2).round(3)
    array([0.939, 0.996])
    """
    xp, device, dtype = library_like(like)
    dtype = xp.float32 if xp.finfo(dtype).bits < 32 else dtype
    decays = [
        math.exp(-scale * 2.0 ** (-8 * head / num_heads))
        for head in range(1, num_heads + 1)
    ]
    return xp.asarray(decays, dtype=dtype, device=device)


@contract(x="... d", eps=">= 0")
def l2_normalize(x: ArrayT, *, eps: float = 1e-6) -> ArrayT:
    """Divide every vector by its length: x / sqrt(sum of squares + eps).

    The delta rule wants keys of length 1: with them the share beta of what is held under a key
    moves to the new value, and the state cannot grow without bound (Yang et al., 2024b). Half
    precision is added in float32.

    Args:
        eps: keeps a vector of zeros what it is.

    Returns:
        Of the shape and dtype of x.

    >>> import numpy as np
    >>> l2_normalize(np.array([3.0, 4.0])).round(3)
    array([0.6, 0.8])
    """
    xp = namespace(x)
    (wide,) = widen(xp, x)
    length = xp.sqrt(xp.sum(wide * wide, axis=-1, keepdims=True) + eps)
    return cast(wide / length, x.dtype)  # type: ignore[no-any-return]
