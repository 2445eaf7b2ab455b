"""Attention functions that are right, and one edit of a line for each of many mistakes."""

import inspect
import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml

from companion.arrays import device_of, is_torch, namespace
from companion.conformance._outputs import Function

FAULTS: dict[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("broken.yaml").read_text(encoding="utf8")
)


def attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, *, scale: float | None = None, enable_gqa: bool = False,
    softcap: float | None = None, sinks: Any = None, window: int | None = None, offset: int = 0,
    need_weights: bool = False, need_lse: bool = False,
) -> Any:  # fmt: skip
    """Attend, for arrays of NumPy and torch."""
    xp, dtype = namespace(query), query.dtype
    (h, q, d), (g, k) = query.shape[1:], key.shape[1:3]
    wide = xp.float32 if xp.finfo(dtype).bits < 32 else dtype
    query, key, value = (xp.astype(x, wide) for x in (query, key, value))
    if enable_gqa:
        key = xp.repeat(key, h // g, axis=1)
        value = xp.repeat(value, h // g, axis=1)
    standard = d**-0.5
    factor = standard if scale is None else scale
    scores = query @ key.mT
    scores = factor * scores
    if softcap is not None:
        scores = softcap * xp.tanh(scores / softcap)
    forbidden = -math.inf
    start = offset
    if attn_mask is not None:
        if attn_mask.dtype == xp.bool:
            allowed = attn_mask
            scores = xp.where(allowed, scores, forbidden)
        else:
            scores = scores + attn_mask
    seen = np.ones((q, k), dtype=bool)
    if is_causal:
        seen &= np.tri(q, k, start, dtype=bool)
    if window is not None:
        seen &= ~np.tri(q, k, start - window, dtype=bool)
    visible = xp.asarray(seen, device=device_of(query))
    scores = xp.where(visible, scores, forbidden)
    highest = xp.max(scores, axis=-1, keepdims=True)
    highest = xp.where(highest == -math.inf, 0.0, highest)
    powers = xp.exp(scores - highest)
    total = xp.sum(powers, axis=-1, keepdims=True)
    if sinks is not None:
        logits = xp.astype(sinks, wide)[:, None, None]
        total = total + xp.exp(logits - highest)
    total = xp.where(total > 0, total, 1.0)
    weights = powers / total
    shown = weights
    if dropout_p > 0:
        dice = torch.rand(weights.shape).numpy()
        keep = xp.asarray(dice >= dropout_p, device=device_of(query))
        weights = xp.where(keep, weights / (1 - dropout_p), 0.0)
    output = weights @ value
    results = [xp.astype(output, dtype)]
    if need_weights:
        results += [shown]
    if need_lse:
        lse = highest + xp.log(total)
        results += [lse[..., 0]]
    return tuple(results) if len(results) > 1 else results[0]


def tiled(
    query: Any, key: Any, value: Any, attn_mask: Any = None, is_causal: bool = False
) -> Any:  # fmt: skip
    """Attend tile by tile, as fast kernels do."""
    q, k, size = query.shape[-2], key.shape[-2], 32
    dtype = query.dtype
    wide = torch.promote_types(dtype, torch.float32)
    query, key, value = (x.to(wide) for x in (query, key, value))
    query = query / query.shape[-1] ** 0.5
    mask = torch.ones(q, k, dtype=torch.bool)
    if is_causal:
        mask = mask.tril()
    if attn_mask is not None:
        mask = mask & attn_mask
    outputs = []
    for i in range(0, q, size):
        rows = query[..., i : i + size, :]
        highest = torch.full((*rows.shape[:-1], 1), -math.inf, dtype=wide)
        total, blend = torch.zeros_like(highest), 0.0
        for j in range(0, k, size):
            scores = rows @ key[..., j : j + size, :].mT
            allowed = mask[..., i : i + size, j : j + size]
            scores = scores.masked_fill(~allowed, -math.inf)
            new = torch.maximum(highest, scores.amax(-1, keepdim=True))
            shift = torch.where(new.isinf(), 0.0, new)
            again, powers = torch.exp(highest - shift), torch.exp(scores - shift)
            total = again * total + powers.sum(-1, keepdim=True)
            blend = again * blend + powers @ value[..., j : j + size, :]
            highest = new
        outputs.append(blend / torch.where(total > 0, total, 1.0))
    return torch.cat(outputs, -2).to(dtype)


def own_backward(
    query: Any, key: Any, value: Any, is_causal: bool = False, scale: float | None = None
) -> Any:
    """Attend with a backward function by hand."""

    class Attend(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, query: Any, key: Any, value: Any, factor: float) -> Any:
            scores = factor * query @ key.mT
            if is_causal:
                future = torch.ones(scores.shape[-2:]).triu(1) > 0
                scores = scores.masked_fill(future, -math.inf)
            weights = scores.softmax(-1)
            ctx.save_for_backward(query, key, value, weights)
            ctx.factor = factor
            return weights @ value

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            query, key, value, weights = ctx.saved_tensors
            slope = gradient @ value.mT
            slope = weights * (slope - (weights * slope).sum(-1, keepdim=True))
            of_query = ctx.factor * slope @ key
            of_key = ctx.factor * slope.mT @ query
            of_value = weights.mT @ gradient
            return of_query, of_key, of_value, None

    factor = query.shape[-1] ** -0.5 if scale is None else scale
    return Attend.apply(query, key, value, factor)  # type: ignore[no-untyped-call]


def broken(fault: str) -> Function:
    """Return the function of a fault, whose old words are replaced by new ones."""
    row = FAULTS[fault]
    source = inspect.getsource(globals()[row.get("of", "attention")])
    for old, new in row["edit"].items():
        assert source.count(old) == 1, (fault, old)
        source = source.replace(old, new)
    scope = {**globals(), "is_torch": is_torch}
    exec(source, scope)
    function: Function = scope[row.get("of", "attention")]
    return function
