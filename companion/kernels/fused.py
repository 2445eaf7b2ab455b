"""Torch's fused kernel, for every device: it knows no offsets, softcaps or sinks."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from companion.attention import beside_heads
from companion.masks import causal_mask

FEW_KEYS = 256  # up to which it pays to make all scores at once


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
        offset = beside_heads(offset, query, key)
        attn_mask, is_causal = _with_causal(attn_mask, query, key, offset)
    if is_causal and scale is not None and scale < 0:
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
