"""What an attention function gives: the definition's numbers, weights, log-sum-exp, dtype."""

from __future__ import annotations

import math

import numpy as np

from companion.arrays import Array, namespace
from companion.conformance._outputs import (
    Function,
    Numbers,
    as_heads,
    differ,
    fail_at_shape,
    fail_if,
    outputs_of,
    plain_numbers,
    steady_outputs,
)
from companion.conformance.attention import measured_scale
from companion.contracts import contract

B, H, Q, K, D = 2, 3, 5, 7, 8


@contract()
def check_sums(
    attention: Function, *, like: Array, equal: bool = False
) -> None:
    """Check that the weights of a query sum to 1, by values of 1, and that two calls agree.

    Args:
        attention: `attention(query, key, value)` from (b, h, q, d), (b, h, k, d) and (b, h, k, d)
            to (b, h, q, d).
        like: array that gives the library, the device and the dtype.
        equal: ask with as many queries as keys.

    >>> from companion.attention import scaled_dot_product_attention
    >>> check_sums(scaled_dot_product_attention, like=np.ones(1))
    """
    query, key, value = _drawn(equal)
    outputs = steady_outputs(attention, *as_heads(like, query, key, value))
    fail_at_shape(outputs, query.shape)
    ones = np.ones_like(value)
    sums = outputs_of(attention, *as_heads(like, query, key, ones))
    if not differ(ones[:, :, : query.shape[2]], sums):
        return
    powers = np.exp(_scores(query, key))
    fail_if(
        not differ(powers / powers.sum(-2, keepdims=True) @ ones, sums),
        "the softmax runs over the queries: the weights of a query sum to 1 over the keys",
    )
    fail_if(
        not differ(powers @ ones, sums),
        "the weights of a query are not divided by their sum",
    )
    raise AssertionError(
        f"the weights of a query sum to {sums.min():.3g} to {sums.max():.3g}, wanted 1: is the "
        f"sum that of the query's own row, over its keys?"
    )


@contract()
def check_definition(
    attention: Function, *, like: Array, equal: bool = False
) -> None:
    """Check an attention function without a mask against loops in float64.

    Args:
        attention: `attention(query, key, value)` from (b, h, q, d), (b, h, k, d) and (b, h, k, d)
            to (b, h, q, d).
        like: array that gives the library, the device and the dtype.
        equal: ask with as many queries as keys.

    >>> from companion.attention import scaled_dot_product_attention
    >>> check_definition(scaled_dot_product_attention, like=np.ones(1))
    """
    check_sums(attention, like=like, equal=equal)
    query, key, value = _drawn(equal)
    outputs = outputs_of(attention, *as_heads(like, query, key, value))
    powers = np.exp(_scores(query, key))
    wanted = powers / powers.sum(-1, keepdims=True) @ value
    if not differ(wanted, outputs):
        return
    raise AssertionError(
        f"differs from a loop by up to {np.abs(wanted - outputs).max():.3g}, though the weights of "
        f"a query sum to 1: is the scale 1 / sqrt(d), and is each value blended with the weight of "
        f"its own key?"
    )


@contract()
def check_weights(attention: Function, *, like: Array) -> None:
    """Check the weights that come with an output: of every head, and those that made the output.

    Args:
        attention: `attention(query, key, value)` from (b, h, q, d), (b, h, k, d) and (b, h, k, d)
            to the output (b, h, q, d) and the weights (b, h, q, k).
        like: array that gives the library, the device and the dtype.

    >>> from companion.attention import attention_with_weights
    >>> check_weights(attention_with_weights, like=np.ones(1))
    """
    query, key, value = _drawn()
    output, weights = _pair(attention, like, query, key, value)
    fail_if(
        weights.shape == (B, Q, K),
        f"the weights have the shape {weights.shape}: they are averaged over the heads",
    )
    fail_if(
        weights.shape != (B, H, Q, K),
        f"the weights have the shape {weights.shape}, wanted {(B, H, Q, K)}",
    )
    fail_if(
        differ(np.ones((B, H, Q)), weights.sum(-1)) or (weights < 0).any(),
        f"the weights of a query sum to {weights.sum(-1).min():.3g} to "
        f"{weights.sum(-1).max():.3g}, wanted 1: are they scores, from before the softmax?",
    )
    fail_if(
        differ(output, weights @ value),
        f"the output is not the values blended by the weights: they differ by up to "
        f"{np.abs(output - weights @ value).max():.3g}",
    )


@contract()
def check_lse(attention: Function, *, like: Array) -> None:
    """Check the log-sum-exp of the scores that comes with an output.

    With it, a row of weights can be had from a kernel that keeps none, and two halves of the keys
    can be merged.

    Args:
        attention: `attention(query, key, value)` from (b, h, q, d), (b, h, k, d) and (b, h, k, d)
            to the output (b, h, q, d) and the log-sum-exp (b, h, q).
        like: array that gives the library, the device and the dtype.

    >>> from companion.attention import attention_with_lse
    >>> check_lse(attention_with_lse, like=np.ones(1))
    """
    query, key, value = _drawn()
    _, lse = _pair(attention, like, query, key, value)
    output_alone = lambda *given: attention(*given)[0]  # noqa: E731
    scale = measured_scale(output_alone, D, H, like=like)
    scores = _scores(query, key, scale)
    wanted = np.log(np.exp(scores).sum(-1))
    if not differ(wanted, lse):
        return
    fail_at_shape(lse, wanted.shape, "lse: ")
    unscaled = np.log(np.exp(scores / scale).sum(-1))
    for mistake, hint in (
        (wanted / math.log(2), "it is in base 2: multiply by log(2)"),
        (wanted - scores.max(-1), "the largest score was subtracted and not added again"),
        (np.exp(wanted), "it is the sum, wanted its logarithm"),
        (unscaled, "it is of products that are not scaled"),
    ):  # fmt: skip
        same = not differ(mistake, lse)
        fail_if(same, f"the log-sum-exp is another: {hint}")
    raise AssertionError(
        f"the log-sum-exp differs by up to {np.abs(wanted - lse).max():.3g}"
    )


@contract()
def check_dtype(attention: Function, *, like: Array) -> None:
    """Check that the output has the dtype of the input, and is as exact as that allows.

    A query of zeros averages 4,096 values. Sums that are kept in half precision stall long before
    they have counted so many, and a float64 that is computed in float32 has half its digits.

    Args:
        attention: `attention(query, key, value)` from (1, 1, 1, d), (1, 1, k, d) and (1, 1, k, d)
            to (1, 1, 1, d).
        like: array that gives the library, the device and the dtype.

    >>> from companion.attention import scaled_dot_product_attention
    >>> check_dtype(scaled_dot_product_attention, like=np.ones(1, np.float16))
    """
    keys, xp = 4096, namespace(like)
    value = np.ones((keys, D))
    value[..., 1] = np.arange(keys) % 8 / 8
    value[..., 2] = 1 / 3
    given = as_heads(like, np.zeros((1, D)), np.ones((keys, D)), value)
    output = attention(*given)
    fail_if(
        output.dtype != like.dtype,
        f"gave {output.dtype} for {like.dtype}: cast the result to the dtype that came",
    )
    # Of the values as this dtype holds them.
    wanted = plain_numbers(given[2]).mean(axis=-2)
    error = float(np.abs(plain_numbers(output)[0, 0] - wanted[0, 0]).max())
    rounding, bits = float(xp.finfo(like.dtype).eps), xp.finfo(like.dtype).bits
    fail_if(
        bits <= 32 and error > max(4 * rounding, 2e-5),
        f"an average of {keys} values in {like.dtype} is wrong by {error:.2g}, and one rounding is "
        f"{rounding:.2g}: keep the sums in at least float32",
    )
    fail_if(
        bits > 32 and error > 1e-10,
        f"an average in {like.dtype} is wrong by {error:.2g}: it is computed in single precision",
    )


def _drawn(equal: bool = False) -> tuple[Numbers, Numbers, Numbers]:
    draw = np.random.default_rng(0)
    lengths = (K if equal else Q, K, K)
    query, key, value = (draw.normal(size=(B, H, n, D)) for n in lengths)
    return query, key, value


def _scores(
    query: Numbers, key: Numbers, scale: float = 1 / math.sqrt(D)
) -> Numbers:
    scores = np.zeros((B, H, query.shape[2], key.shape[2]))
    for place in np.ndindex(scores.shape):
        *head, i, j = place
        scores[place] = scale * sum(query[(*head, i)] * key[(*head, j)])
    return scores


def _pair(
    attention: Function, like: Array, *rows: Numbers
) -> tuple[Numbers, Numbers]:
    results = attention(*as_heads(like, *rows))
    wanted = "wanted the output and one array more"
    fail_if(
        not isinstance(results, tuple | list),
        f"gave a {type(results).__name__}, {wanted}",
    )
    fail_if(len(results) != 2, f"gave {len(results)} results, {wanted}")
    output, beside = (plain_numbers(result) for result in results)
    return output, beside
