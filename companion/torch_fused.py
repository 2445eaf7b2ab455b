"""Torch's own fused attention: the definitions' values without the (q, k) matrix of scores.

A function here bears the name of the definition that it computes and takes its arguments; it
returns the result, or NotImplemented where it does not take the call.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from companion.arrays import result_dtype
from companion.bands import Band
from companion.heads import offset_beside_heads, repeat_kv
from companion.masks import causal_mask

FEW_KEYS = 256  # up to which it pays to make all scores at once
ROWS = 128  # queries that share a call where a band moves along with them


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None,
    dropout_p: float = 0.0, is_causal: bool = False, *, scale: float | None = None,
    enable_gqa: bool = False, offset: Any = 0, softcap: float | None = None, sinks: Any = None,
) -> Any:  # fmt: skip
    """Run `F.scaled_dot_product_attention`, which wants four axes and one dtype.

    >>> import torch
    >>> x = torch.ones(1, 2, 3, 4)
    >>> scaled_dot_product_attention(x, x, x).shape
    torch.Size([1, 2, 3, 4])
    >>> scaled_dot_product_attention(x, x, x, softcap=2.0)
    NotImplemented
    """
    if softcap is not None or sinks is not None or not _takes(query, key, value, attn_mask):
        return NotImplemented
    if is_causal:
        offset = offset_beside_heads(offset, query, key)
        attn_mask, is_causal = _with_causal(attn_mask, query, key, offset)
    if is_causal and scale is not None and scale <= 0:
        return NotImplemented  # torch scales what it has masked, and -inf becomes inf
    if not query.ndim == key.ndim == value.ndim == 4:
        if max(query.ndim, key.ndim, value.ndim) > 4:
            return NotImplemented
        options = {"dropout_p": dropout_p, "scale": scale, "enable_gqa": enable_gqa}
        return _with_four_axes(query, key, value, attn_mask, is_causal=is_causal, **options)
    if attn_mask is not None:
        return _with_mask(query, key, value, attn_mask, dropout_p, scale, enable_gqa)
    alone = enable_gqa and not is_causal and dropout_p == 0
    if alone and query.shape[0] == key.shape[0] == value.shape[0]:  # `len` would fix a traced size
        return _side_by_side(query, key, value, scale)
    return _attend(query, key, value, None, dropout_p, is_causal, scale, enable_gqa)


def _attend(
    query: Any, key: Any, value: Any, mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """Run torch's function, with the kernel that is the quickest for few keys.

    In bfloat16 on the CPU the tiled one takes gradients head by head, and each of these small
    products costs more to set up than to compute.
    """
    if query.dtype == torch.bfloat16 and _is_small(query, key):
        with sdpa_kernel(SDPBackend.MATH):
            return F.scaled_dot_product_attention(
                query, key, value, mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
            )
    return F.scaled_dot_product_attention(
        query, key, value, mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )


def _is_small(query: Any, key: Any) -> bool:
    """Say whether gradients on the CPU are to come through few keys."""
    few = query.requires_grad and key.shape[-2] <= FEW_KEYS
    return few and query.device.type == "cpu" and not torch.compiler.is_compiling()


def _takes(query: Any, key: Any, value: Any, mask: Any) -> bool:
    """Say whether dtypes agree, a floating mask's included, which would else be rounded."""
    if not query.dtype == key.dtype == value.dtype:
        return False
    if mask is not None and mask.dtype.is_floating_point and mask.dtype != query.dtype:
        return False
    return bool(query.numel() and key.numel() and value.numel())


def _with_causal(mask: Any, query: Any, key: Any, offset: Any) -> tuple[Any, bool]:
    """Narrow a mask to key j for query i iff j <= i + offset, or leave it to the kernel: (_, True).

    Where every key is allowed there is nothing to narrow.
    """
    q_len, k_len = query.shape[-2], key.shape[-2]
    if isinstance(offset, int):
        if offset >= k_len - 1:
            return mask, False
        if offset == 0 and mask is None:
            return None, True
    causal = causal_mask(q_len, k_len, offset=offset, like=query)
    if mask is None:
        return causal, False
    narrowed = mask.where(causal, -math.inf) if mask.dtype.is_floating_point else mask & causal
    return narrowed, False


def _with_four_axes(query: Any, key: Any, value: Any, mask: Any, **options: Any) -> Any:
    """Lend the arrays the leading axes that they lack."""
    missing = 4 - max(query.ndim, key.ndim, value.ndim)
    query, key, value = (x[(None,) * (4 - x.ndim)] for x in (query, key, value))
    return scaled_dot_product_attention(query, key, value, mask, **options)[(0,) * missing]


def _with_mask(
    query: Any, key: Any, value: Any, mask: Any, dropout_p: float, scale: Any, enable_gqa: bool
) -> Any:
    """Allow every key to the rows that have none, and throw these rows' output away.

    What the kernel gives for a row without keys, and for its gradients, differs between devices and
    versions of torch: it never gets one.
    """
    mask = mask[(None,) * (4 - mask.ndim)]
    if mask.dtype.is_floating_point:
        alive = (mask > -math.inf).any(-1, keepdim=True)
        mask = mask.where(alive, 0.0)
    else:
        alive = mask.any(-1, keepdim=True)
        mask = mask | ~alive
    output = _attend(query, key, value, mask, dropout_p, False, scale, enable_gqa)
    return output.where(alive, 0.0)


def _side_by_side(query: Any, key: Any, value: Any, scale: float | None) -> Any:
    """Put the queries of all the heads that share a key head in a row.

    Nothing tells them apart where all may attend to every key, and the keys are read once for all
    of them: in decoding that is most of the time.
    """
    b, h, q, d = query.shape
    rows = query.reshape(b, key.shape[1], -1, d)
    output = _attend(rows, key, value, scale=scale)
    return output.reshape(b, h, q, -1)


def tiled_attention(query: Any, key: Any, value: Any, *arguments: Any, **options: Any) -> Any:
    """Attend with memory that grows with the length, on the CPU.

    >>> x = torch.ones(1, 2, 3, 4)
    >>> tiled_attention(x, x, x, left=1).shape, tiled_attention(x, x, x, softcap=2.0)
    (torch.Size([1, 2, 3, 4]), NotImplemented)
    """
    result = _tiled(query, key, value, *arguments, **options)
    return result if result is NotImplemented else result[0]


def tiled_attention_with_lse(
    query: Any, key: Any, value: Any, *arguments: Any, **options: Any
) -> Any:
    """Attend, and return the log-sum-exp of the rows, of which torch has no gradient.

    >>> x = torch.zeros(1, 1, 3, 4)
    >>> tiled_attention_with_lse(x, x, x, is_causal=True)[1].exp()
    tensor([[[1., 2., 3.]]])
    >>> tiled_attention_with_lse(x.requires_grad_(), x, x)
    NotImplemented
    """
    if _wants_gradient(query, key):
        return NotImplemented
    return _tiled(query, key, value, *arguments, **options)


def _tiled(
    query: Any, key: Any, value: Any, attn_mask: Any = None, is_causal: bool = False, *,
    scale: float | None = None, enable_gqa: bool = False, offset: Any = 0,
    softcap: float | None = None, sinks: Any = None, left: int | None = None,
    right: int | None = None, block_size: Any = None,
) -> Any:  # fmt: skip
    """Return the output and the log-sum-exp, or NotImplemented."""
    dtype, right = result_dtype(query, key, value), 0 if is_causal else right
    band = Band(left, right, 0 if left is None and right is None else offset)
    refused = (
        softcap is not None
        or isinstance(band.offset, torch.Tensor)
        or (sinks is not None and _wants_gradient(query, key, sinks))
        or not _fits(query, key, value, attn_mask, dtype)
    )
    if refused:
        return NotImplemented
    if enable_gqa:
        key, value = repeat_kv(key, query), repeat_kv(value, query)
    shapes = (x.shape[:-2] for x in (query, key, value))
    lead = torch.broadcast_shapes(*shapes)  # type: ignore[no-untyped-call]
    query, key, value = (_on_four_axes(x.to(dtype), lead) for x in (query, key, value))
    if attn_mask is not None:
        mask = attn_mask[(None,) * (max(len(lead), 2) + 2 - attn_mask.ndim)]
        mask = mask.expand(*mask.shape[:-2], query.shape[-2], key.shape[-2])
        if mask.ndim > 4:
            mask = mask.expand(*lead[:-1], *mask.shape[-3:]).flatten(0, -4)
        attn_mask = mask
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    output, lse = _in_band(query, key, value, attn_mask, band, scale)
    output, lse = output.reshape(*lead, *output.shape[-2:]), lse.reshape(*lead, lse.shape[-1])
    if sinks is None:
        return output, lse
    logits = sinks.to(lse.dtype)[..., None]  # one more key, whose value is zero
    share = torch.sigmoid(lse - logits)[..., None]
    return (output * share).to(dtype), torch.logaddexp(lse, logits)


def _wants_gradient(*arrays: Any) -> bool:
    return torch.is_grad_enabled() and any(array.requires_grad for array in arrays)


def _fits(query: Any, key: Any, value: Any, mask: Any, dtype: Any) -> bool:
    """Say whether the operator is there, and loses nothing of a floating mask."""
    if torch.compiler.is_compiling() or not query.device.type == "cpu" == key.device.type:
        return False
    if mask is not None and mask.dtype.is_floating_point:
        rounded = torch.promote_types(mask.dtype, dtype) != dtype
        if rounded or _wants_gradient(mask):
            return False
    return bool(query.numel() and key.numel() and value.numel())


def _on_four_axes(array: Any, lead: Any) -> Any:
    """Return (*lead, n, d), stretched to its leading axes, as (b, h, n, d)."""
    array = array.expand(*lead, *array.shape[-2:])
    heads = lead[-1] if lead else 1
    return array.reshape(-1, heads, *array.shape[-2:])


def _in_band(
    query: Any, key: Any, value: Any, mask: Any, band: Band, scale: float
) -> tuple[Any, Any]:
    """Attend within a band: in one call where torch knows it, else in one a block of queries."""
    if band == Band():
        return _fused(query, key, value, mask, scale)
    if band == Band(right=0) and mask is None and scale > 0:
        return _fused(query, key, value, None, scale, is_causal=True)
    parts = []
    for start in range(0, query.shape[-2], ROWS):
        rows = range(start, min(start + ROWS, query.shape[-2]))
        seen = band.seen(rows, key.shape[-2])
        queries, keys = slice(rows.start, rows.stop), slice(seen.start, seen.stop)
        allowed = band.mask(queries, keys, like=query)
        if mask is not None:
            part = mask[..., queries, keys]
            floating = part.dtype.is_floating_point
            allowed = part.where(allowed, -math.inf) if floating else part & allowed
        arrays = query[..., queries, :], key[..., keys, :], value[..., keys, :]
        parts.append(_fused(*arrays, allowed, scale))
    output, lse = zip(*parts, strict=True)
    return torch.cat(output, -2), torch.cat(lse, -1)


def _fused(
    query: Any, key: Any, value: Any, mask: Any, scale: float, *, is_causal: bool = False
) -> tuple[Any, Any]:
    """Run torch's operator, which wants one width, an added mask, and a key for every query.

    Rows without an allowed key get all keys, and zeros and -inf for what comes of it.
    """
    alive = None
    if mask is not None:
        floating = mask.dtype.is_floating_point
        alive = (mask > -math.inf if floating else mask).any(-1)
        if not floating:
            mask = torch.zeros_like(mask, dtype=query.dtype).masked_fill_(~mask, -math.inf)
        mask = mask.to(query.dtype).where(alive[..., None], 0.0)
        mask = mask.expand(*mask.shape[:-2], query.shape[-2], key.shape[-2])
    if not key.shape[-2]:
        output = query @ key.mT @ value
        return output, output.sum(
            -1, dtype=torch.promote_types(query.dtype, torch.float32)
        ) - math.inf
    width = value.shape[-1]
    if query.shape[-1] != width:
        query, key, value = (_widened(x, max(width, query.shape[-1])) for x in (query, key, value))
    operator = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    output, lse = operator(query, key, value, 0.0, is_causal, attn_mask=mask, scale=scale)
    output = output[..., :width]
    if alive is None:
        return output, lse
    return output.where(alive[..., None], 0.0), lse.where(alive, -math.inf)


def _widened(array: Any, width: int) -> Any:
    """Append zeros: they add nothing to a score, and what they blend is cut off again."""
    return F.pad(array, (0, width - array.shape[-1]))
