"""An attention function that is right, and the same with one of many mistakes."""

import math
from functools import partial
from typing import Any

import numpy as np

from companion.arrays import device_of, namespace
from companion.conformance._outputs import Function


def attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, *, scale: float | None = None, enable_gqa: bool = False,
    softcap: float | None = None, sinks: Any = None, window: int | None = None, offset: int = 0,
    need_weights: bool = False, need_lse: bool = False, fault: str = "",
) -> Any:  # fmt: skip
    """Attend, for arrays of NumPy and torch, with the fault that is named."""
    xp, dtype = namespace(query), query.dtype

    def boolean(mask: Any) -> Any:
        return xp.asarray(mask, device=device_of(query))

    if fault not in ("sums in half precision", "double in single") and xp.finfo(dtype).bits < 32:
        query, key, value = (xp.astype(x, xp.float32) for x in (query, key, value))
    if fault == "double in single":
        query, key, value = (xp.astype(x, xp.float32) for x in (query, key, value))
    if fault == "first sequence for all":
        key, value = (xp.stack([x[0]] * x.shape[0]) for x in (key, value))
    if enable_gqa:
        shared = query.shape[1] // key.shape[1]
        tiled = {"tiled heads": (0, 1), "tiled keys": (0,), "tiled values": (1,)}.get(fault, ())
        key, value = (
            xp.concat([x] * shared, axis=1) if i in tiled else xp.repeat(x, shared, axis=1)
            for i, x in enumerate((key, value))
        )

    (h, q, d), k = query.shape[1:], key.shape[-2]
    standard = {"unscaled": 1.0, "width of the model": (h * d) ** -0.5}.get(fault, d**-0.5)
    factor = standard if scale is None or fault == "scale is ignored" else scale
    factor = standard * factor if fault == "scaled twice" and scale is not None else factor
    scores = query @ key.mT
    if softcap is not None and fault == "bound before the scale":
        scores = factor * softcap * xp.tanh(scores / softcap)
    else:
        scores = factor * scores
        if softcap is not None and fault not in ("bound after the mask", "no bound"):
            scores = softcap * xp.tanh(scores / softcap)

    forbidden = -1e9 if fault == "a large penalty" else -math.inf
    if attn_mask is not None:
        if fault == "first mask for all" and attn_mask.ndim == 4:
            attn_mask = attn_mask[:1]
        if fault == "one row for all queries" and attn_mask.shape[-2] == 1:
            attn_mask = xp.ones_like(attn_mask)
        if attn_mask.dtype == xp.bool:
            allowed = ~attn_mask if fault == "upside down" else attn_mask
            scores = xp.where(allowed, scores, forbidden)
        elif fault == "numbers as booleans":
            scores = xp.where(attn_mask != 0, scores, forbidden)
        elif fault != "numbers are ignored":
            scores = scores + attn_mask
    shift = {"leaks one": 1, "ends at the last key": k - q}.get(fault, 0)
    start = shift if fault == "offset is ignored" else offset + shift
    if is_causal and not (fault == "mask replaces causality" and attn_mask is not None):
        scores = xp.where(boolean(np.tri(q, k, start, dtype=bool)), scores, forbidden)
    if window is not None:
        reach = window + {"w + 1": 1, "w - 1": -1}.get(fault, 0)
        scores = xp.where(boolean(~np.tri(q, k, start - reach, dtype=bool)), scores, forbidden)
    if softcap is not None and fault == "bound after the mask":
        scores = softcap * xp.tanh(scores / softcap)

    over = -2 if fault == "softmax over the queries" else -1
    highest = xp.max(scores, axis=over, keepdims=True)
    if fault != "NaN in a dead row":
        highest = xp.where(highest == -math.inf, 0.0, highest)
    if fault == "largest score stays":
        highest = xp.zeros_like(highest)
    powers = xp.exp(scores - highest)
    if fault == "heads share a sum":
        total = xp.sum(powers, axis=(1, -1), keepdims=True)
    elif fault == "sums in half precision":
        total = xp.cumulative_sum(powers, axis=-1)[..., -1:]  # one after the other
    else:
        total = xp.sum(powers, axis=over, keepdims=True)
    if sinks is not None and fault != "no sinks":
        logits = xp.astype(sinks, scores.dtype)[:, None, None]
        logits = 0.0 * logits if fault == "sinks of zero" else logits
        logits = xp.flip(logits, axis=0) if fault == "sinks of other heads" else logits
        logits = factor * logits if fault == "sinks are scaled" else logits
        total = total + xp.exp(logits - (0.0 if fault == "sinks not shifted" else highest))
    if fault != "NaN in a dead row":
        total = xp.where(total > 0, total, 1.0)
    weights = powers / total
    if fault == "grows with the text":
        weights = weights * (1 + 0.01 * k)
    output = weights @ value
    results = [output if fault == "another dtype" else xp.astype(output, dtype)]
    if need_weights:
        shown = xp.mean(weights, axis=1) if fault == "mean over heads" else weights
        results += [scores if fault == "scores for weights" else shown]
    if need_lse:
        lse = (highest + xp.log(total))[..., 0]
        lse = lse / math.log(2) if fault == "lse in base 2" else lse
        results += [lse - highest[..., 0] if fault == "lse less the largest" else lse]
    return tuple(results) if len(results) > 1 else results[0]


def broken(fault: str) -> Function:
    """Return the function with a fault."""
    return partial(attention, fault=fault)


ANYTHING = None
NUMBERS = frozenset({"definition"})
SEQUENCES = NUMBERS | {"lse", "weights", "batch-mask"}
FAULTS: dict[str, tuple[str, str, frozenset[str] | None]] = {
    # the check that names the fault, what it says, and which others cannot but see it
    "unscaled": ("scale", "the scale is 1", NUMBERS),
    "width of the model": ("scale", "by the width of the model", NUMBERS),
    "scale is ignored": ("scale-argument", "though 0.3 was asked for", frozenset()),
    "scaled twice": ("scale-argument", "not beside it", frozenset()),
    "softmax over the queries": ("definition", "the softmax runs over the queries", ANYTHING),
    "largest score stays": ("large-scores", "subtract the largest score", frozenset()),
    "first sequence for all": ("batch", "alone than in its batch", SEQUENCES),
    "heads share a sum": ("heads", "head 0 depends on head 1", ANYTHING),
    "tiled heads": ("grouped", "read the value heads .* are tiled", frozenset()),
    "tiled values": ("grouped", "read the value heads .* are tiled", frozenset()),
    "tiled keys": ("grouped", "read the key heads .* are tiled", frozenset()),
    "upside down": ("mask", "read upside down", frozenset({"both-masks", "padding", "dead-row"})),
    "numbers as booleans": ("bias", "read as a mask of booleans", frozenset()),
    "numbers are ignored": ("bias", "changes nothing", frozenset()),
    "leaks one": ("causal", "begins one position too late", ANYTHING),
    "ends at the last key": ("first-key", "ends at the last key", frozenset({"offset", "cached"})),
    "offset is ignored": ("offset", "the offset changes nothing", frozenset({"cached"})),
    "mask replaces causality": ("both-masks", "which it must not", frozenset()),
    "first mask for all": ("batch-mask", "alone than in its batch", frozenset()),
    "one row for all queries": ("padding", "a mask is missing", frozenset()),
    "NaN in a dead row": ("dead-row", "gives NaN", frozenset()),
    "a large penalty": ("dead-row", "attends to everything", frozenset()),
    "grows with the text": ("prefixes", "is another when there are 6", ANYTHING),
    "w + 1": ("window", "reach 4 positions, wanted 3", frozenset()),
    "w - 1": ("window", "reach 2 positions, wanted 3", frozenset()),
    "no bound": ("softcap", "the bound changes nothing", frozenset()),
    "bound after the mask": ("softcap", "a forbidden key gets a weight", frozenset()),
    "bound before the scale": ("softcap", "before the scale", frozenset()),
    "no sinks": ("sinks", "never reach the softmax", frozenset()),
    "sinks of zero": ("sinks", "count as a logit of 0", frozenset()),
    "sinks of other heads": ("sinks", "the sink of another head", frozenset()),
    "sinks are scaled": ("sinks", "scaled like products", frozenset()),
    "sinks not shifted": ("sinks", "not from the sink", frozenset()),
    "mean over heads": ("weights", "averaged over the heads", frozenset()),
    "scores for weights": ("weights", "from before the softmax", frozenset()),
    "lse in base 2": ("lse", "in base 2", frozenset()),
    "lse less the largest": ("lse", "not added again", frozenset()),
    "another dtype": ("float16", "cast the result", frozenset({"bfloat16"})),
    "sums in half precision": ("float16", "sums in at least float32", frozenset({"bfloat16"})),
    "double in single": ("float64", "in single precision", frozenset()),
}
