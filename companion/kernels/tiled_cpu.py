"""Tiled attention of torch tensors on the CPU, in the form that the loops of `cpu` work on."""

from __future__ import annotations

import math
from typing import Any

import torch

from companion.arrays import broadcast_shape, cast
from companion.bands import Band
from companion.kernels import cpu
from companion.tiled import merge_attention


def tiled_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, is_causal: bool = False, *,
    scale: float | None = None, enable_gqa: bool = False, offset: Any = 0,
    softcap: float | None = None, sinks: Any = None, need_lse: bool = False,
    left: int | None = None, right: int | None = None, block_size: Any = None,
) -> Any:  # fmt: skip
    """Attend on the CPU, with gradients that keep no tile.

    >>> x = torch.ones(1, 2, 3, 4)
    >>> tiled_attention(x, x, x).shape, tiled_attention(x, x, x, offset=torch.tensor([1]), right=2)
    (torch.Size([1, 2, 3, 4]), NotImplemented)
    """
    right = 0 if is_causal else right
    if left is None and right is None:
        offset = 0
    dtype = torch.promote_types(torch.promote_types(query.dtype, key.dtype), value.dtype)
    query, key, value = (cast(x, dtype) for x in (query, key, value))
    if isinstance(offset, torch.Tensor) or not cpu.takes(query, key, value, attn_mask):
        return NotImplemented
    rank = max(query.ndim, key.ndim, value.ndim)
    repeats = query.shape[-3] // key.shape[-3] if enable_gqa else 1
    query, key, value, mask = _in_groups(query, key, value, attn_mask, repeats)
    lead = query.shape[:-2]
    output, lse = cpu.attention(
        query.reshape(-1, *query.shape[-4:]),
        key.reshape(-1, *key.shape[-3:]),
        value.reshape(-1, *value.shape[-3:]),
        None if mask is None else mask.reshape(-1, *mask.shape[-4:]),
        band=Band(left, right, offset),
        scale=1 / math.sqrt(query.shape[-1]) if scale is None else scale,
        softcap=softcap,
        blocks=_pair(block_size),
    )
    heads = (*lead[:-2], lead[-2] * lead[-1])[: rank - 2] if rank > 2 else ()
    output = output.reshape(*heads, *output.shape[-2:])
    lse = lse.reshape(*heads, lse.shape[-1])
    if sinks is not None:  # a sink is a key whose value is zero
        logits = sinks.to(lse.dtype)[..., None].expand_as(lse)
        output, lse = merge_attention(output, lse, torch.zeros_like(output), logits)
    return (output, lse) if need_lse else output


def _pair(block_size: Any) -> tuple[int, int] | None:
    if block_size is None or isinstance(block_size, tuple):
        return block_size
    return int(block_size), int(block_size)


def _in_groups(query: Any, key: Any, value: Any, mask: Any, repeats: int) -> tuple[Any, ...]:
    """Split heads into (g, r), r query heads a key head, and stretch the leading axes.

    Returns:
        Query (..., g, r, q, d), key (..., g, k, d), value (..., g, k, v), mask (..., g, r, q, k).
    """
    query, key, value = (_split(query, repeats), _split(key, 1), _split(value, 1))
    lead: Any = query.shape[:-2]
    for array in (key, value):
        lead = broadcast_shape(lead, array.shape[:-2])
    if mask is not None:
        mask = _split(mask, repeats).expand(*lead, query.shape[-2], key.shape[-2])
    query = query.expand(*lead, *query.shape[-2:])
    key, value = (x.expand(*lead[:-1], 1, *x.shape[-2:]).squeeze(-3) for x in (key, value))
    return query, key, value, mask


def _split(array: Any, repeats: int) -> Any:
    """Return (..., h, x, y) as (..., h / repeats, repeats, x, y); a single head stays alone."""
    *lead, heads, rows, columns = (1,) * (3 - array.ndim) + tuple(array.shape)
    repeats = 1 if heads == 1 else repeats
    return array.reshape(*lead, heads // repeats, repeats, rows, columns)
