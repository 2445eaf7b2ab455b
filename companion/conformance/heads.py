"""Heads that leave each other be, and groups of query heads that share a key head."""

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
from companion.conformance.visibility import influence
from companion.contracts import contract

WIDTH = 8
QUERY_HEADS, KEY_HEADS = 6, 2
"""Three query heads a key head: in no order by mistake does the right one come out by luck."""


@contract()
def check_heads(attention: Function, *, like: Array) -> None:
    """Check that each head attends by itself: it depends on its own query, key and value alone.

    Args:
        attention: `attention(query, key, value)` from and to (b, h, n, d).
        like: array that gives the library, the device and the dtype.

    Raises:
        AssertionError: heads are mixed; the message says which.

    >>> from companion.attention import scaled_dot_product_attention
    >>> check_heads(scaled_dot_product_attention, like=np.ones(1))
    """
    draw = np.random.default_rng(0)
    x, other = (
        constant_like(like, draw.normal(size=(2, 3, 4, WIDTH)))
        for _ in range(2)
    )
    # Axis 1 has the heads.
    seen = influence(lambda x: attention(x, x, x), x, other)
    fail_if(
        seen.shape != (3, 3),
        f"3 heads gave {len(seen)}, wanted (b, h, n, d) as came",
    )
    fail_if(
        not seen.any(),
        "no output depends on any input: is the input read at all?",
    )
    for i, j in np.argwhere(seen & ~np.eye(3, dtype=bool)):
        raise AssertionError(
            f"head {i} depends on head {j}: are the axes (b, h, n, d), and is the softmax over "
            f"the keys of one head?"
        )
    fail_if(
        not seen.diagonal().all(),
        "a head does not depend on its own query, key and value",
    )


@contract()
def check_grouped(attention: Function, *, like: Array) -> None:
    """Check which query heads share a key head: consecutive ones, [g0, g0, g1, g1].

    Values that are the number of their head come out whatever the weights are, so they tell which
    value head a query head reads. Then each key head has one key that stands out.

    Args:
        attention: `attention(query, key, value)` from (1, h, q, d), (1, g, k, d) and (1, g, k, v)
            to (1, h, q, v), where g divides h (Ainslie et al., 2023).
        like: array that gives the library, the device and the dtype.

    Raises:
        AssertionError: another order; the message says which, and hints at the cause.

    >>> from companion.attention import scaled_dot_product_attention as attention
    >>> check_grouped(lambda *qkv: attention(*qkv, enable_gqa=True), like=np.ones(1))
    >>> tiled = lambda query, key, value: attention(
    ...     query, np.tile(key, (1, 3, 1, 1)), np.tile(value, (1, 3, 1, 1))
    ... )
    >>> check_grouped(tiled, like=np.ones(1))
    Traceback (most recent call last):
    AssertionError: query heads read the value heads [0, 1, 0, 1, 0, 1], wanted \
[0, 0, 0, 1, 1, 1]: the key heads are tiled; repeat each one for its consecutive query heads \
(repeat_interleave in PyTorch, repeat in NumPy)
    """
    number = np.arange(KEY_HEADS, dtype=np.float64)[:, None, None] * np.ones(
        (1, 2, WIDTH)
    )
    query, same_key = (
        np.ones((QUERY_HEADS, 1, WIDTH)),
        np.zeros((KEY_HEADS, 2, WIDTH)),
    )
    _compare("value", _read(attention, query, same_key, number, like))
    # Head j: key j.
    stands_out = np.eye(2)[:, :, None] * np.full((1, 1, WIDTH), 10.0)
    position = np.arange(2.0)[None, :, None] * np.ones((KEY_HEADS, 1, WIDTH))
    _compare("key", _read(attention, query, stands_out, position, like))


def _read(
    attention: Function,
    query: Numbers,
    key: Numbers,
    value: Numbers,
    like: Array,
) -> list[int]:
    given = (constant_like(like, array[None]) for array in (query, key, value))
    outputs = outputs_of(attention, *given)
    wanted = (1, QUERY_HEADS, 1, WIDTH)
    fail_if(
        outputs.shape != wanted,
        f"gave the shape {outputs.shape}, wanted {wanted}",
    )
    return [round(head) for head in outputs[0, :, 0, 0].tolist()]


def _compare(part: str, read: list[int]) -> None:
    shared = QUERY_HEADS // KEY_HEADS
    wanted = [head // shared for head in range(QUERY_HEADS)]
    if read == wanted:
        return
    told = f"query heads read the {part} heads {read}, wanted {wanted}"
    fail_if(
        read == [head % KEY_HEADS for head in range(QUERY_HEADS)],
        f"{told}: the key heads are tiled; repeat each one for its consecutive query heads "
        f"(repeat_interleave in PyTorch, repeat in NumPy)",
    )
    raise AssertionError(told)
