"""Distance as a penalty on the scores, its own for every head."""

from __future__ import annotations

from typing import Any

from companion.arrays import Array, cast
from companion.contracts import contract
from companion.positions.angles import library_like, positions_from


@contract(num_heads=">= 1", like="any: ...")
def alibi_slopes(num_heads: int, *, like: Array | None = None) -> Any:
    """Return the penalty of one step of distance for each head (Press et al., 2022).

    A power of two n has 2^(-8 / n), its square, its cube and so on. Any other number of heads has
    the slopes of the power of two below it, then every second slope of the one above it.

    Args:
        num_heads: number of heads h.
        like: array that gives the library, the device and, if it is floating, the dtype; None
            means NumPy.

    Returns:
        (h,) slopes, in at least float32.

    >>> alibi_slopes(3)
    array([0.0625    , 0.00390625, 0.25      ])
    """
    return _slopes(num_heads, *library_like(like))


@contract(
    num_heads=">= 1",
    q_len=">= 0",
    k_len=">= 0",
    offset="integers: ...",
    like="any: ...",
)
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
    `causal_mask` or `is_causal`. For later keys, this bias falls with the distance on both sides,
    as encoders want it. Libraries that write slope * (j - i) reward later keys instead, and some
    write slope * j, which differs by a constant in each row; under a causal mask the weights of
    all three are the same.

    Args:
        num_heads: number of heads h.
        q_len: number of queries.
        k_len: number of keys; None means as many as queries.
        offset: position of the first query among the keys.
        like: array that gives the library, the device and, if it is floating, the dtype; None
            means NumPy, or those of offset.

    Returns:
        -slope * |i + offset - j|: (..., h, q, k), the leading axes those of offset, in at least
        float32, since bfloat16 cannot tell distances above 256 apart.

    >>> alibi_bias(1, 2, 3, offset=1) * 2**8
    array([[[-1.,  0., -1.],
            [-2., -1.,  0.]]])
    """
    xp, device, dtype = library_like(like, offset)
    slopes = _slopes(num_heads, xp, device, dtype)
    i = positions_from(offset, q_len, xp, device)[..., None]
    j = xp.arange(q_len if k_len is None else k_len, device=device)
    return (
        slopes[:, None, None]
        * cast(-xp.abs(i - j), slopes.dtype)[..., None, :, :]
    )


def _slopes(num_heads: int, xp: Any, device: Any, dtype: Any) -> Any:
    below = 1 << int(num_heads).bit_length() - 1
    exponents = [8 * head / below for head in range(1, below + 1)]
    exponents += [
        4 * head / below for head in range(1, 2 * (num_heads - below), 2)
    ]
    dtype = xp.float32 if xp.finfo(dtype).bits < 32 else dtype
    return xp.asarray(
        [2.0**-exponent for exponent in exponents], dtype=dtype, device=device
    )
