"""One attention function: its scale, large scores, its heads, a query that sees nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from companion.arrays import Array, is_torch
from companion.conformance._outputs import (
    Function,
    Numbers,
    as_heads,
    check_positions,
    fail_at_shape,
    fail_if,
    mask_like,
    outputs_of,
    plain_numbers,
)
from companion.conformance.visibility import influence
from companion.contracts import contract

WIDTH = 8
QUERY_HEADS, KEY_HEADS = 6, 2
"""Three query heads a key head: in no order by mistake does the right one come out by luck."""


@contract(head_width=">= 2", num_heads=">= 1")
def check_scale(
    attention: Function, head_width: int, num_heads: int = 2, *, like: Array,
    scale: float | None = None,
) -> None:  # fmt: skip
    """Check that dot products are divided by the square root of a head's width.

    Args:
        attention: `attention(query, key, value)` from and to (1, h, 2, d).
        head_width: width d of a head.
        num_heads: number of heads h.
        like: array that gives the library, the device and the dtype.
        scale: the factor that the function was asked for; None means 1 / sqrt(d).

    >>> from companion.attention import scaled_dot_product_attention
    >>> check_scale(scaled_dot_product_attention, 16, like=np.ones(1))
    """
    root, whole = math.sqrt(head_width), num_heads * head_width
    wanted = 1 / root if scale is None else scale
    actual = measured_scale(attention, head_width, num_heads, like=like)
    if math.isclose(actual, wanted, rel_tol=1e-3):
        return
    fail_if(
        scale is not None,
        f"the scale is {actual:.4g}, though {wanted:.4g} was asked for: is the argument used, "
        f"and used instead of 1 / sqrt({head_width}), not beside it?",
    )
    fail_if(
        math.isclose(actual, 1.0, rel_tol=1e-3),
        f"the scale is 1: divide by sqrt({head_width}), the width of a head",
    )
    fail_if(
        math.isclose(actual, whole**-0.5, rel_tol=1e-3),
        f"the scale is 1 / sqrt({whole}), by the width of the model: "
        f"a product has the {head_width} terms of one head",
    )
    raise AssertionError(
        f"the scale is {actual:.4g}, wanted {wanted:.4g}, 1 / sqrt({head_width})"
    )


def measured_scale(
    attention: Function, head_width: int, num_heads: int = 2, *, like: Array
) -> float:
    """Read the scale off an attention function: the weights of two keys whose products differ.

    >>> from companion.attention import scaled_dot_product_attention
    >>> round(measured_scale(scaled_dot_product_attention, 16, like=np.ones(1)), 6)
    0.25
    """
    root, heads = math.sqrt(head_width), np.ones((num_heads, 1, 1))
    unit = np.eye(2, head_width)
    given = as_heads(
        like, *(heads * row for row in (unit[[0, 0]], root * unit, unit))
    )
    weights = plain_numbers(attention(*given))[0, :, 0]
    # Products: root and 0.
    return float(np.log(weights[:, 0] / weights[:, 1]).mean()) / root


@contract()
def check_large_scores(attention: Function, *, like: Array) -> None:
    """Check that scores of ten thousand, positive and negative, do not overflow.

    Args:
        attention: `attention(query, key, value)` from (1, 1, q, d), (1, 1, k, d) and (1, 1, k, d)
            to (1, 1, q, d).
        like: array that gives the library, the device and the dtype, at least 32 bits wide.

    >>> from companion.attention import scaled_dot_product_attention
    >>> check_large_scores(scaled_dot_product_attention, like=np.ones(1))
    """
    one, values = np.eye(1, 4), np.array([[1.0], [3.0]]) * np.ones(4)
    query = 200 * np.concatenate([one, -one])  # scores of 200 * 100 / sqrt(4)
    for name, signs, wanted in (
        ("one large and one small", [[1.0], [-1.0]], [1.0, 3.0]),
        ("two equal and large", [[1.0], [1.0]], [2.0, 2.0]),
    ):
        key = 100 * np.array(signs) * one
        given = as_heads(like, query, key, values)
        outputs = plain_numbers(attention(*given))[0, 0, :, 0]
        fail_if(
            not np.isfinite(outputs).all(),
            f"{name}: scores near 10000 or -10000 give NaN or infinity: "
            f"subtract the largest score of a row before exp",
        )
        fail_if(
            np.abs(outputs - wanted).max() > 1e-3,
            f"{name}: scores near 10000 or -10000 blend the values 1 and 3 to "
            f"{outputs.round(3).tolist()}, wanted {wanted}: what is subtracted before exp has to "
            f"be the largest score of the row, and every term of the sum has to be shifted by it",
        )


@contract()
def check_dead_row(function: Function, x: Array, other: Array) -> None:
    """Check a query that may attend to nothing: it reads nothing, and spoils no gradient.

    Libraries differ in what such a row is to give. Asked for here is what every part that comes
    later can live with: finite numbers that depend on no other position, and finite gradients.

    Args:
        function: `function(x, mask)`, from (b, n, ...) and (n, n) booleans, True = may attend, to
            (b, n, ...).
        x: (b, n, ...) features, n at least 3; gradients are looked at if it is a torch tensor.
        other: as x, with something else at every position.

    >>> from companion.attention import scaled_dot_product_attention as attention
    >>> x = np.random.default_rng(0).normal(size=(1, 4, 3))
    >>> check_dead_row(lambda x, mask: attention(x, x, x, mask), x, -x)
    """
    check_positions(3, x, other)
    mask = np.tri(x.shape[1], dtype=bool)
    mask[1] = False
    given = mask_like(mask, x)
    fail_if(
        not np.isfinite(plain_numbers(function(x, given))).all(),
        "a query that may attend to nothing gives NaN: the softmax has 0 / 0; "
        "give such a row zeros",
    )
    seen = influence(lambda x: function(x, given), x, other)
    elsewhere = np.delete(seen[1], 1)
    fail_if(
        elsewhere.all(),
        "a query that may attend to nothing attends to everything: "
        "a penalty like -1e9 is the same for all keys, and a softmax does not see it",
    )
    fail_if(
        elsewhere.any(),
        "a query that may attend to nothing depends on other positions",
    )
    fail_if(
        is_torch(x) and not _gradient_is_finite(function, x, given),
        "the gradient is NaN, though the output is not: NaN was replaced after the softmax; "
        "keep it from arising",
    )


def _gradient_is_finite(function: Function, x: Any, mask: Any) -> bool:
    leaf = x.detach().clone().requires_grad_()
    output = function(leaf, mask)
    if not output.requires_grad:
        return True
    output[:, 2:].sum().backward()  # of rows that are alive
    return bool(np.isfinite(plain_numbers(leaf.grad)).all())


@contract()
def check_heads(attention: Function, *, like: Array) -> None:
    """Check that each head attends by itself: it depends on its own query, key and value alone.

    Args:
        attention: `attention(query, key, value)` from and to (b, h, n, d).
        like: array that gives the library, the device and the dtype.

    >>> from companion.attention import scaled_dot_product_attention
    >>> check_heads(scaled_dot_product_attention, like=np.ones(1))
    """
    draw = np.random.default_rng(0)
    x, other = as_heads(like, *draw.normal(size=(2, 2, 3, 4, WIDTH)))
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
            f"the keys of one head? (--attention-layout bnhd takes (b, n, h, d))"
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
    equal = np.zeros((KEY_HEADS, 2, WIDTH))
    head, place = np.arange(2.0)[:, None, None], np.arange(2.0)[:, None]
    _check_groups("value", attention, equal, equal + head, like)
    # Head j: key j stands out.
    stands_out = equal + 10.0 * (head == place)
    _check_groups("key", attention, stands_out, equal + place, like)


def _check_groups(
    part: str, attention: Function, key: Numbers, value: Numbers, like: Array
) -> None:
    query = np.ones((QUERY_HEADS, 2, WIDTH))
    outputs = outputs_of(attention, *as_heads(like, query, key, value))
    fail_at_shape(outputs, (1, QUERY_HEADS, 2, WIDTH))
    read = [round(head) for head in outputs[0, :, 0, 0].tolist()]
    shared = QUERY_HEADS // KEY_HEADS
    wanted = [head // shared for head in range(QUERY_HEADS)]
    told = f"query heads read the {part} heads {read}, wanted {wanted}"
    fail_if(
        read == [head % KEY_HEADS for head in range(QUERY_HEADS)],
        f"{told}: the key heads are tiled; repeat each one for its consecutive query heads "
        f"(repeat_interleave in PyTorch, repeat in NumPy)",
    )
    fail_if(read != wanted, told)
