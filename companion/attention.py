# mypy: disable-error-code="no-any-return"
# (array namespaces are untyped: whatever they return is Any)
"""Attention: scores to weights to a blend of values, for the arrays of any library."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, TypedDict, Unpack, overload

from companion.arrays import (
    Array,
    ArrayT,
    check_flag,
    check_floating,
    check_mask,
    check_rank,
    check_size,
    constant,
    device_of,
    is_number,
    is_torch,
    namespace,
)
from companion.calls import aligned, check_call, check_sinks, masked, widen
from companion.masks import causal_mask
from companion.scores import scaled_dot_score

SHORT = 256  # keys up to which all scores may be made at once


def masked_softmax(
    scores: ArrayT, mask: Array | None = None, *, sinks: Array | None = None
) -> ArrayT:
    """Turn scores into weights over the allowed keys; a row without one is all zeros.

    Half precision is widened to float32 inside.

    Args:
        scores: (..., q, k).
        mask: broadcast to (..., q, k): boolean, True = may attend, or floating, added to the
            scores. None allows every key.
        sinks: logit of each head's sink (Xiao et al., 2024), which joins the denominator and
            nothing else; its shape broadcasts to the axes before (q, k), (h,) for (b, h, q, k).

    Returns:
        Weights (..., q, k). A row sums to 1 less its sink's share.

    Raises:
        TypeError: not floating arrays of one library.
        ValueError: shapes that do not fit.

    >>> import numpy as np
    >>> masked_softmax(np.zeros((2, 2)), np.array([[True, False], [False, False]]))
    array([[1., 0.],
           [0., 0.]])
    """
    xp = namespace(scores=scores, mask=mask, sinks=sinks)
    check_floating(xp, scores=scores, sinks=sinks)
    check_rank(2, "(..., q, k)", scores=scores)
    check_mask(xp, tuple(scores.shape), mask=mask)
    check_sinks(sinks, tuple(scores.shape[:-2]))

    exponentials, total, _ = _exponentials(xp, scores, mask, sinks)
    weights = exponentials / xp.where(total > 0, total, 1.0)
    return xp.astype(weights, scores.dtype, copy=False)


def attend(weights: ArrayT, value: ArrayT) -> ArrayT:
    """Blend values by weights.

    Args:
        weights: (..., q, k).
        value: (..., k, v).

    Returns:
        (..., q, v); leading axes broadcast.

    Raises:
        TypeError: not floating arrays of one library.
        ValueError: too few axes, or numbers of keys that differ.

    >>> import numpy as np
    >>> attend(np.array([[0.25, 0.75]]), np.array([[0.0], [4.0]]))
    array([[3.]])
    """
    xp = namespace(weights=weights, value=value)
    check_floating(xp, weights=weights, value=value)
    check_rank(2, "(..., q, k)", weights=weights)
    check_rank(2, "(..., k, v)", value=value)
    check_size(weights.shape[-1], "the keys of weights", -2, value=value)
    return xp.matmul(weights, value)


class _Options(TypedDict, total=False):
    scale: float | None
    enable_gqa: bool
    offset: int | Array
    softcap: float | None
    sinks: Array | None


@overload
def scaled_dot_product_attention(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    need_weights: Literal[False] = False,
    need_lse: Literal[False] = False,
    **options: Unpack[_Options],
) -> ArrayT: ...
@overload
def scaled_dot_product_attention(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    need_weights: Literal[True],
    need_lse: Literal[False] = False,
    **options: Unpack[_Options],
) -> tuple[ArrayT, ArrayT]: ...
@overload
def scaled_dot_product_attention(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    need_weights: Literal[False] = False,
    need_lse: Literal[True],
    **options: Unpack[_Options],
) -> tuple[ArrayT, ArrayT]: ...
@overload
def scaled_dot_product_attention(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    need_weights: Literal[True],
    need_lse: Literal[True],
    **options: Unpack[_Options],
) -> tuple[ArrayT, ArrayT, ArrayT]: ...
@overload
def scaled_dot_product_attention(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    need_weights: bool = False,
    need_lse: bool = False,
    **options: Unpack[_Options],
) -> ArrayT | tuple[ArrayT, ...]: ...
def scaled_dot_product_attention(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
    offset: int | Array = 0,
    softcap: float | None = None,
    sinks: Array | None = None,
    need_weights: bool = False,
    need_lse: bool = False,
) -> ArrayT | tuple[ArrayT, ...]:
    """Blend the values by how well their keys answer the queries (Vaswani et al., 2017).

    Half precision accumulates in float32. Torch's fused kernel does the work where it can; what
    is computed is defined here.

    Args:
        query: (..., h, q, d).
        key: (..., g, k, d).
        value: (..., g, k, v).
        attn_mask: broadcast to (..., h, q, k): boolean, True = may attend, or floating, added.
        dropout_p: probability of dropping a weight; torch only.
        is_causal: allow key j for query i only if j <= i + offset, on top of `attn_mask`.
        scale: factor on the dot products; None means 1 / sqrt(d).
        enable_gqa: let h / g consecutive query heads share a key head (Ainslie et al., 2023).
        offset: keys before the first query, a number or integers (b,), one a sequence.
        softcap: bound on the scores, softcap * tanh(scores / softcap), before the mask.
        sinks: (h,) logits that join the denominators of their heads.
        need_weights: also return the weights (..., h, q, k), before dropout.
        need_lse: also return the log-sum-exp of the rows (..., h, q), natural and with the sinks,
            in at least float32; -inf where there is nothing to sum.

    Returns:
        (..., h, q, v), then the weights, then the log-sum-exp, if asked for. A query that may
        attend to no key gets zeros.

    Raises:
        TypeError: not floating arrays of one library, or a mask that is neither kind.
        ValueError: shapes that do not fit, numbers out of range, or dropout without torch.

    >>> import numpy as np
    >>> value = np.array([[1.0], [2.0], [6.0]])
    >>> scaled_dot_product_attention(np.zeros((3, 4)), np.ones((3, 4)), value, is_causal=True)
    array([[1. ],
           [1.5],
           [3. ]])
    """
    wanted = need_weights is not False or need_lse is not False
    extras = softcap is not None or sinks is not None or wanted
    settled = not extras and is_causal is False and dropout_p == 0 and scale is None is attn_mask
    if settled and type(offset) is int and _fits(query, key, value, enable_gqa):
        return _open_attention(query, key, value)
    check_flag(is_causal=is_causal, enable_gqa=enable_gqa)
    check_flag(need_weights=need_weights, need_lse=need_lse)
    xp = check_call(
        query,
        key,
        value,
        attn_mask,
        scale=scale,
        enable_gqa=enable_gqa,
        offset=offset,
        softcap=softcap,
        sinks=sinks,
    )
    _check_dropout(dropout_p, query)
    if not extras and _has_kernel(query, key, value, attn_mask):
        return _fused_attention(
            query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, offset
        )

    dtype = xp.result_type(query, key, value)
    mask = _with_causal(attn_mask, query, key, offset) if is_causal else attn_mask
    query, key, value = widen(xp, query, key, value)
    if enable_gqa:
        key, value = _share_heads(xp, query, key, value)

    scores = scaled_dot_score(query, key, scale=scale)
    if softcap is not None:
        scores = softcap * xp.tanh(scores / softcap)
    weights = masked_softmax(scores, mask, sinks=sinks)
    output = attend(_dropout(weights, dropout_p), value)

    results = [xp.astype(output, dtype, copy=False)]
    if need_weights:
        results.append(xp.astype(weights, dtype, copy=False))
    if need_lse:
        results.append(_log_sum_exp(scores, mask, sinks))
    return tuple(results) if len(results) > 1 else results[0]


def _log_sum_exp(scores: Array, mask: Array | None, sinks: Array | None) -> Any:
    """Return the natural logarithm of every softmax denominator, (..., q)."""
    xp = namespace(scores)
    _, total, highest = _exponentials(xp, scores, mask, sinks)
    logarithm = highest + xp.log(xp.where(total > 0, total, 1.0))
    return xp.where(total > 0, logarithm, -math.inf)[..., 0]


def _exponentials(
    xp: Any, scores: Array, mask: Array | None, sinks: Array | None
) -> tuple[Any, Any, Any]:
    """Return exp(scores - highest), its row sums with the sinks, and highest, (..., q, 1).

    The largest term of a row is exp(0) = 1, so that nothing overflows and only a row with nothing
    to sum has a total of 0.
    """
    (scores,) = widen(xp, scores)
    scores = masked(xp, scores, mask)
    if sinks is not None:
        sinks = xp.astype(sinks, scores.dtype, copy=False)[..., None, None]
    highest = constant(_highest_logit(xp, scores, sinks))
    exponentials = xp.exp(scores - highest)
    total = xp.sum(exponentials, axis=-1, keepdims=True)
    if sinks is not None:
        total = total + xp.exp(sinks - highest)
    return exponentials, total, highest


def _highest_logit(xp: Any, scores: Any, sinks: Any | None) -> Any:
    """Return the largest logit of every row, 0 where there is none above -inf: (..., q, 1)."""
    highest = sinks
    if scores.shape[-1] > 0:
        highest = xp.max(scores, axis=-1, keepdims=True)
        highest = highest if sinks is None else xp.maximum(highest, sinks)
    if highest is None:
        return xp.zeros((1, 1), dtype=scores.dtype, device=device_of(scores))
    return xp.where(highest > -math.inf, highest, 0.0)


def _share_heads(xp: Any, query: Array, *memories: Any) -> Any:
    """Repeat every key head for its consecutive query heads: [g0, g0, g1, g1]."""
    repeats = query.shape[-3] // memories[0].shape[-3]
    return tuple(xp.repeat(memory, repeats, axis=-3) for memory in memories)


def _dropout(weights: Any, dropout_p: float) -> Any:
    if dropout_p == 0:
        return weights
    import torch.nn.functional as F

    return F.dropout(weights, dropout_p)


def _with_causal(mask: Array | None, query: Array, key: Array, offset: Any) -> Any:
    """Narrow a mask to key j for query i iff j <= i + offset; None where that allows all keys."""
    q_len, k_len = query.shape[-2], key.shape[-2]
    if is_number(offset) and offset >= k_len - 1:
        return mask
    causal = causal_mask(q_len, k_len, offset=aligned(offset, query), like=query)
    if mask is None:
        return causal
    xp = namespace(mask)
    return mask & causal if xp.isdtype(mask.dtype, "bool") else xp.where(causal, mask, -math.inf)


def _has_kernel(query: Any, key: Any, value: Any, mask: Any | None) -> bool:
    """Say whether torch's fused kernel takes these arrays as they are.

    It would round a wider floating mask to query's dtype, and some devices refuse one.
    """
    arrays = [query, key, value]
    if not is_torch(query) or any(x.ndim > 4 or min(x.shape) == 0 for x in arrays):
        return False
    if mask is not None and mask.dtype.is_floating_point:
        arrays.append(mask)
    return all(x.dtype == query.dtype for x in arrays)


def _fits(query: Any, key: Any, value: Any, enable_gqa: bool) -> bool:
    """Say whether a call needs no other check: in a decoding step they would cost more than it.

    So it is for torch tensors of four axes that agree in all but their heads and lengths.
    """
    if not (is_torch(query) and type(query) is type(key) is type(value)):
        return False
    if not (query.dtype == key.dtype == value.dtype and query.dtype.is_floating_point):
        return False
    if not (query.device == key.device == value.device and query.ndim == key.ndim == 4):
        return False
    (b, h, q, d), (c, g, k, width) = query.shape, key.shape
    fit = b == c and d == width and key.shape == value.shape and (h == g or enable_gqa)
    return fit and min(b, g, q, k, d) > 0 and h > 0 and h % g == 0


def _open_attention(query: Any, key: Any, value: Any) -> Any:
    """Run torch's fused kernel on queries that may attend to every key.

    Those of all the heads that share a key head stand in a row: nothing tells them apart, and the
    keys are read once for all of them.
    """
    import torch.nn.functional as F

    b, h, q, d = query.shape
    if h != key.shape[1]:
        query = query.reshape(b, key.shape[1], -1, d)
    with fused_kernel(query, key.shape[-2]):
        output = F.scaled_dot_product_attention(query, key, value)
    return output if h == key.shape[1] else output.reshape(b, h, q, d)


def fused_kernel(query: Any, k_len: int) -> AbstractContextManager[Any]:
    """Choose among torch's kernels for some keys: its tiled one multiplies head by head.

    On a processor that rounds to bfloat16 each of these small products costs more to set up than
    to compute, forward and backward in float32, and backward in bfloat16.

    Args:
        query: torch tensor, for its dtype and device.
        k_len: number of keys.

    Returns:
        What torch's `scaled_dot_product_attention` is to be called under.
    """
    import torch

    if query.device.type != "cpu" or k_len > SHORT or torch.compiler.is_compiling():
        return nullcontext()
    from companion.kernels.cpu import rounds_float32

    slow = rounds_float32() if query.dtype == torch.float32 else query.requires_grad
    if not slow or query.dtype == torch.float64:
        return nullcontext()
    from torch.nn.attention import SDPBackend, sdpa_kernel

    return sdpa_kernel(SDPBackend.MATH)


def _fused_attention(
    query: Any,
    key: Any,
    value: Any,
    mask: Any | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
    offset: int | Array,
) -> Any:
    """Run torch's fused kernel, which knows no offsets and wants all arrays with four axes."""
    import torch.nn.functional as F

    if is_causal and not (mask is None and is_number(offset) and offset == 0):
        mask, is_causal = _with_causal(mask, query, key, offset), False
    missing = 4 - max(query.ndim, key.ndim, value.ndim)
    query, key, value, mask = (
        array if array is None else array[(None,) * (4 - array.ndim)]
        for array in (query, key, value, mask)
    )
    alive = None
    if mask is not None:
        mask, alive = _open_dead_rows(mask)
    with fused_kernel(query, key.shape[-2]):
        output = F.scaled_dot_product_attention(
            query, key, value, mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
        )
    if alive is not None:
        output = output.where(alive, 0.0)
    return output[(0,) * missing]


def _open_dead_rows(mask: Any) -> tuple[Any, Any]:
    """Allow every key to the rows that have none, and say which rows have some, (..., q, 1).

    What a kernel gives for a row without keys, and for its gradients, differs between devices and
    versions of torch. It never gets one: the row's output is thrown away instead.
    """
    if mask.dtype.is_floating_point:
        alive = (mask > -math.inf).any(-1, keepdim=True)
        return mask.where(alive, 0.0), alive
    alive = mask.any(-1, keepdim=True)
    return mask | ~alive, alive


def _check_dropout(dropout_p: float, query: Array) -> None:
    if not is_number(dropout_p):
        raise TypeError(f"dropout_p: got {type(dropout_p).__name__}, wanted a number")
    if not 0 <= dropout_p <= 1:
        raise ValueError(f"dropout_p: got {dropout_p}, wanted a probability from 0 to 1")
    if dropout_p > 0 and not is_torch(query):
        raise ValueError(f"dropout_p: got {dropout_p}, wanted 0.0 without torch")
