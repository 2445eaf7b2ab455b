"""Attention as plain loops in float64: slow, obvious, and imported by nothing but tests."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]


class Attention(NamedTuple):
    output: Float
    weights: Float
    lse: Float


def draw(*shape: int, seed: int = 0) -> Any:
    """Draw normal numbers, the same at every call."""
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def as_numpy(array: Any) -> npt.NDArray[Any]:
    """Bring an array of any library to NumPy."""
    return np.asarray(array.detach() if hasattr(array, "detach") else array)


def assert_matches(actual: Any, expected: Any, tolerance: float = 1e-12) -> None:
    """Compare an array of any library with NumPy's, infinities included."""
    found = as_numpy(actual)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def softmax(logits: list[float], sink: float = -math.inf) -> tuple[list[float], float]:
    """Return the weights of one row and the logarithm of its denominator."""
    largest = max([sink, *logits])
    if largest == -math.inf:
        return [0.0] * len(logits), -math.inf
    powers = [math.exp(logit - largest) for logit in logits]
    total = math.fsum([*powers, math.exp(sink - largest)])
    return [power / total for power in powers], largest + math.log(total)


def attention(
    query: Float,
    key: Float,
    value: Float,
    attn_mask: npt.NDArray[Any] | None = None,
    *,
    is_causal: bool = False,
    offset: int | npt.NDArray[np.int64] = 0,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: Float | None = None,
) -> Attention:
    """Attend for (b, h, q, d), (b, g, k, d), (b, g, k, v), one number at a time."""
    batch, heads, queries, width = query.shape
    groups, keys, value_width = value.shape[1:]
    offsets = np.broadcast_to(np.asarray(offset), (batch,))
    mask = np.broadcast_to(
        np.asarray(True if attn_mask is None else attn_mask), (batch, heads, queries, keys)
    )
    scale = width**-0.5 if scale is None else scale
    result = Attention(
        np.zeros((batch, heads, queries, value_width)),
        np.zeros((batch, heads, queries, keys)),
        np.zeros((batch, heads, queries)),
    )
    for b, h, i in np.ndindex(batch, heads, queries):
        group = h * groups // heads
        logits = []
        for j in range(keys):
            logit = scale * math.fsum(query[b, h, i, c] * key[b, group, j, c] for c in range(width))
            if softcap is not None:
                logit = softcap * math.tanh(logit / softcap)
            if mask.dtype != bool:
                logit += float(mask[b, h, i, j])
            elif not mask[b, h, i, j]:
                logit = -math.inf
            if is_causal and j > i + offsets[b]:
                logit = -math.inf
            logits.append(logit)
        weights, lse = softmax(logits, -math.inf if sinks is None else float(sinks[h]))
        result.weights[b, h, i] = weights
        result.lse[b, h, i] = lse
        for c in range(value_width):
            result.output[b, h, i, c] = math.fsum(
                weight * value[b, group, j, c] for j, weight in enumerate(weights)
            )
    return result


def scores(score: Callable[[Float, Float], float], query: Float, key: Float) -> Float:
    """Score every query (b, q, d) against every key (b, k, .), one pair at a time."""
    result = np.zeros((query.shape[0], query.shape[1], key.shape[1]))
    for b, i, j in np.ndindex(*result.shape):
        result[b, i, j] = score(query[b, i], key[b, j])
    return result


def blend(
    logits: Float, memory: Float, allowed: npt.NDArray[np.bool_], factor: Float | None = None
) -> tuple[Float, Float]:
    """Blend (b, k, v) by the softmax of the allowed (b, q, k) logits, then multiplied if asked."""
    weights, output = np.zeros(logits.shape), np.zeros((*logits.shape[:2], memory.shape[-1]))
    for b, i in np.ndindex(*logits.shape[:2]):
        row = [x if ok else -math.inf for x, ok in zip(logits[b, i], allowed[b, i], strict=True)]
        weights[b, i], _ = softmax(row)
        if factor is not None:
            weights[b, i] *= factor[b, i]
        for c in range(memory.shape[-1]):
            output[b, i, c] = math.fsum(weights[b, i] * memory[b, :, c])
    return output, weights


def mask(queries: int, keys: int, allowed: Callable[[int, int], bool]) -> npt.NDArray[np.bool_]:
    """Ask for every query and key whether they may meet."""
    return np.array([[allowed(i, j) for j in range(keys)] for i in range(queries)], dtype=bool)
