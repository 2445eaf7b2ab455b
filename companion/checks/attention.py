"""One attention function: its scale, and what it does with a query that may attend to nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from companion.arrays import Array, check_whole, device_of, is_torch, namespace
from companion.checks._outputs import Function, mask_like, plain_numbers
from companion.checks.influence import influence


def check_scale(attention: Function, head_width: int, num_heads: int = 2, *, like: Any) -> None:
    """Check that dot products are divided by the square root of a head's width.

    Args:
        attention: `attention(query, key, value)` from (1, h, 1, d), (1, h, 2, d) and (1, h, 2, 2)
            to (1, h, 1, 2).
        head_width: width d of a head.
        num_heads: number of heads h.
        like: array that gives the library, the device and the dtype.

    Raises:
        AssertionError: another scale; the message says which, and hints at the cause.
        TypeError: a width or number that is not whole.

    >>> from companion.attention import scaled_dot_product_attention
    >>> check_scale(scaled_dot_product_attention, 16, like=np.ones(1))
    """
    check_whole(2, head_width=head_width)
    check_whole(1, num_heads=num_heads)
    xp, root = namespace(like=like), math.sqrt(head_width)

    def filled(*shape: int) -> Any:
        return np.broadcast_to(np.zeros(shape[-2:]), (1, num_heads, *shape)).copy()

    query, key, value = filled(1, head_width), filled(2, head_width), filled(2, 2)
    query[..., 0], key[..., 0, 0], value[..., :, :] = 1.0, root, np.eye(2)
    given = (
        xp.asarray(array, dtype=like.dtype, device=device_of(like)) for array in (query, key, value)
    )
    weights = plain_numbers(attention(*given))[0, :, 0]
    scale = float(np.log(weights[:, 0] / weights[:, 1]).mean()) / root  # the products differ by it
    if math.isclose(scale, 1 / root, rel_tol=1e-3):
        return
    if math.isclose(scale, 1.0, rel_tol=1e-3):
        raise AssertionError(f"the scale is 1: divide by sqrt({head_width}), the width of a head")
    whole = num_heads * head_width
    if math.isclose(scale, whole**-0.5, rel_tol=1e-3):
        raise AssertionError(
            f"the scale is 1 / sqrt({whole}), by the width of the model: "
            f"a product has the {head_width} terms of one head"
        )
    raise AssertionError(f"the scale is {scale:.4g}, wanted {1 / root:.4g}, 1 / sqrt({head_width})")


def check_dead_row(function: Function, x: Array, other: Array) -> None:
    """Check a query that may attend to nothing: it reads nothing, and spoils no gradient.

    Libraries differ in what such a row is to give. Asked for here is what every part that comes
    later can live with: finite numbers that depend on no other place, and finite gradients.

    Args:
        function: `function(x, mask)`, from (b, n, ...) and (n, n) booleans, True = may attend, to
            (b, n, ...).
        x: (b, n, ...) features, n at least 3; gradients are looked at if it is a torch tensor.
        other: as x, with something else at every place.

    Raises:
        AssertionError: it gives NaN, or reads what it may not; the message hints at the cause.
        ValueError: x and other cannot show a change at every place.

    >>> from companion.attention import scaled_dot_product_attention as attention
    >>> x = np.random.default_rng(0).normal(size=(1, 4, 3))
    >>> check_dead_row(lambda x, mask: attention(x, x, x, mask), x, -x)
    """
    mask = np.tri(x.shape[1], dtype=bool)
    mask[1] = False
    given = mask_like(mask, x)
    if not np.isfinite(plain_numbers(function(x, given))).all():
        raise AssertionError(
            "a query that may attend to nothing gives NaN: the softmax has 0 / 0; "
            "give such a row zeros"
        )
    found = influence(lambda x: function(x, given), x, other)
    elsewhere = np.delete(found[1], 1)
    if elsewhere.all():
        raise AssertionError(
            "a query that may attend to nothing attends to everything: "
            "a penalty like -1e9 is the same for all keys, and a softmax does not see it"
        )
    if elsewhere.any():
        raise AssertionError("a query that may attend to nothing depends on other places")
    if is_torch(x) and not _gradient_is_finite(function, x, given):
        raise AssertionError(
            "the gradient is NaN, though the output is not: NaN was replaced after the softmax; "
            "keep it from arising"
        )


def _gradient_is_finite(function: Function, x: Any, mask: Any) -> bool:
    leaf = x.detach().clone().requires_grad_()
    output = function(leaf, mask)
    output[:, 2:].sum().backward()  # of rows that are alive
    return bool(np.isfinite(plain_numbers(leaf.grad)).all())
