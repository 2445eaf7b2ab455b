# mypy: disable-error-code="no-any-return"
# (array namespaces are untyped: whatever they return is Any)
"""Distance as a penalty on the scores, its own for every head."""

from __future__ import annotations

from typing import Any

from companion.arrays import Array, check_whole
from companion.positions.places import Home, home_of, places_from


def alibi_slopes(num_heads: int, *, like: Array | None = None) -> Any:
    """Return what one place of distance costs each head (Press et al., 2022).

    A power of two n has 2^(-8 / n), its square, its cube and so on. Any other number of heads has
    the slopes of the power of two below it, then every second slope of the one above it.

    Args:
        num_heads: number of heads h.
        like: array that gives the library, the device and, if it is floating, the dtype; None
            means NumPy.

    Returns:
        (h,) slopes, in at least float32.

    Raises:
        TypeError: a number of heads that is not whole.
        ValueError: a number of heads below 1.

    >>> alibi_slopes(3)
    array([0.0625    , 0.00390625, 0.25      ])
    """
    return _slopes(home_of(like), num_heads)


def alibi_bias(
    num_heads: int,
    q_len: int,
    k_len: int | None = None,
    *,
    offset: int | Array = 0,
    like: Array | None = None,
) -> Any:
    """Return a penalty on the scores that grows with distance (Press et al., 2022).

    Add it to the scores as a floating mask. The paper attends to the past alone: compose it with
    `causal_mask` or `is_causal`. For keys to come, this bias falls with the distance on both
    sides, as encoders want it. Libraries that write slope * (j - i) reward keys to come instead,
    and some write slope * j, which differs by a constant a row; under a causal mask the weights
    of all three are the same.

    Args:
        num_heads: number of heads h.
        q_len: number of queries.
        k_len: number of keys; None means as many as queries.
        offset: place of the first query among the keys, an integer or an integer array (...).
        like: array that gives the library, the device and, if it is floating, the dtype; None
            means NumPy, or those of offset.

    Returns:
        -slope * |i + offset - j|: (..., h, q, k), the leading axes those of offset, in at least
        float32, since bfloat16 cannot tell distances above 256 apart.

    Raises:
        TypeError: a number or offset that is not whole, or arrays of two libraries.
        ValueError: a negative length, or a number of heads below 1.

    >>> alibi_bias(1, 2, 3, offset=1) * 2**8
    array([[[-1.,  0., -1.],
            [-2., -1.,  0.]]])
    """
    k_len = q_len if k_len is None else k_len
    check_whole(0, q_len=q_len, k_len=k_len)
    home = home_of(like, offset)
    slopes = _slopes(home, num_heads)
    queries = places_from(home, q_len, offset)
    keys = home.xp.arange(k_len, device=home.device)
    nearness = -home.xp.abs(queries[..., None] - keys)
    return slopes[:, None, None] * home.xp.astype(nearness, slopes.dtype)[..., None, :, :]


def _slopes(home: Home, num_heads: int) -> Any:
    check_whole(1, num_heads=num_heads)
    below = 1 << int(num_heads).bit_length() - 1
    exponents = [8 * head / below for head in range(1, below + 1)]
    exponents += [4 * head / below for head in range(1, 2 * (num_heads - below), 2)]
    dtype = home.xp.float32 if home.xp.finfo(home.dtype).bits < 32 else home.dtype
    slopes = [2.0**-exponent for exponent in exponents]
    return home.xp.asarray(slopes, dtype=dtype, device=home.device)
