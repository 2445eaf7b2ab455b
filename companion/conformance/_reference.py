"""What the kit compares with: attention in NumPy's float64, every keyword a line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from companion.conformance._outputs import (
    Numbers,
    as_heads,
    as_library,
    farthest,
    plain_numbers,
)
from companion.conformance.signature import Subject


def attend(query: Any, key: Any, value: Any, **options: Any) -> Numbers:
    """Return the output, (b, h, q, v); the options are those of `weigh`."""
    weights, _ = weigh(query, key, **options)
    shared = weights.shape[1] // value.shape[1]
    return weights @ np.repeat(plain_numbers(value), shared, axis=1)


def weigh(
    query: Any, key: Any, *, scale: float | None = None, softcap: float | None = None,
    attn_mask: Any = None, attn_bias: Any = 0.0, is_causal: bool = False,
    window: float = math.inf, offset: int = 0, sinks: Any = None, **_: Any,
) -> tuple[Numbers, Numbers]:  # fmt: skip
    """Return the weights, (b, h, q, k), and the log-sum-exp, (b, h, q).

    Of grouped heads, consecutive ones share a key head. A window is causal.
    """
    query, key = plain_numbers(query), plain_numbers(key)
    key = np.repeat(key, query.shape[1] // key.shape[1], axis=1)
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    scores = factor * (query @ key.mT)
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    scores = scores + attn_bias
    q, k = scores.shape[-2:]
    back = np.arange(q)[:, None] + offset - np.arange(k)
    allowed = (back < window) & ((back >= 0) | (not is_causal))
    if attn_mask is not None:
        allowed = allowed & attn_mask
    scores = np.where(allowed, scores, -np.inf)
    if sinks is not None:
        beside = np.broadcast_to(sinks[:, None, None], (*scores.shape[:-1], 1))
        scores = np.concatenate([scores, beside], axis=-1)
    highest = scores.max(-1, keepdims=True)
    powers = np.exp(scores - highest)
    total = powers.sum(-1, keepdims=True)
    return (powers / total)[..., :k], (highest + np.log(total))[..., 0]


def rows_of_size(
    *, b: int = 2, h: int = 3, g: int = 0, q: int, k: int, d: int = 16, v: int = 0,
    seed: int = 0,
) -> list[Numbers]:  # fmt: skip
    """Return a query, a key, whose length grows along the text, and a value."""
    dice, g, v = np.random.default_rng(seed), g or h, v or d
    shapes = (b, h, q, d), (b, g, k, d), (b, g, k, v)
    query, key, value = (dice.normal(size=shape) for shape in shapes)
    return [query, np.linspace(0.5, 2, k)[:, None] * key, value]


def answer(asked: Subject, given: Sequence[Any], options: Any) -> Any:
    """Call with options of NumPy's; return the output as numbers, or all results in a list."""
    like = given[0]
    named = {name: as_library(like, what) for name, what in options.items()}
    came = asked(*given, **named)
    several = isinstance(came, tuple | list)
    return [*map(plain_numbers, came)] if several else plain_numbers(came)


def off_by(
    asked: Subject, rows: Sequence[Numbers], like: Any = None, **options: Any
) -> float:
    """Return how far a call is from float64; what is asked for beside the output counts, too."""
    given = as_heads(asked.like if like is None else like, *rows)
    came = answer(asked, given, options)
    # Of the numbers as this dtype holds them.
    weights, lse = weigh(*given[:2], **options)
    beside = {"need_weights": weights, "need_lse": lse}
    wanted = [attend(*given, **options)]
    wanted += [beside[name] for name in beside if options.get(name)]
    results = came if isinstance(came, list) else [came]
    if len(results) != len(wanted):
        return math.inf
    return max(map(farthest, wanted, results))
