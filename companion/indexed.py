"""Indexed attention: a small scorer chooses the keys, or blocks of them, that a query may see."""

from __future__ import annotations

import math
from typing import Any

from companion.arrays import (
    Array,
    ArrayT,
    cast,
    device_of,
    finite,
    namespace,
    result_dtype,
    widen,
)
from companion.attention import log_sum_exp, masked_softmax
from companion.contracts import contract
from companion.masks import masked


@contract(
    query="... h q d", key="... k d", weight="... h q", h=">= 1", d=">= 1"
)
def indexer_scores(
    query: ArrayT,
    key: ArrayT,
    weight: ArrayT | None = None,
    *,
    scale: float | None = None,
) -> ArrayT:
    """Score keys by the lightning indexer: sum_h weight_h ReLU(query_h . key) (DeepSeek-AI, 2025).

    Half precision accumulates in float32.

    Args:
        query: of the indexer's heads, which share the keys.
        weight: how much a head counts for a query, of either sign; None means 1.
        scale: factor on the sums; None means 1 / sqrt(d h), as DeepSeek's code has it. It changes
            no choice of keys, but it does change `indexer_divergence`.

    Returns:
        Scores (..., q, k), one for all heads of the attention.

    >>> import numpy as np
    >>> query, key = np.array([[[1.0]], [[-1.0]]]), np.array([[2.0], [-3.0]])
    >>> indexer_scores(query, key, np.array([[10.0], [1.0]]), scale=1.0)
    array([[20.,  3.]])
    """
    xp, dtype = namespace(query), result_dtype(query, key)
    scale = (
        (query.shape[-1] * query.shape[-3]) ** -0.5 if scale is None else scale
    )
    query, key = widen(xp, query, key)
    products = query @ key[..., None, :, :].mT
    matches = xp.where(products < 0, 0.0, products)  # NaN stays
    if weight is not None:
        matches = cast(weight, matches.dtype)[..., None] * matches
    return cast(scale * xp.sum(matches, axis=-3), dtype)


@contract(scores="... q k", mask="mask: ~... ~q k", count=">= 1")
def top_keys(scores: ArrayT, count: int, mask: Array | None = None) -> ArrayT:
    """Allow every query its `count` best keys (DeepSeek-AI, 2025).

    Of equal scores, which ReLU makes at 0, the earlier key comes first: what a query sees does not
    depend on keys that follow.

    Args:
        scores: a key with -inf is never allowed.
        count: how many keys a query may see at most.
        mask: boolean, True = may attend, or floating, added to the scores: among which keys to
            choose.

    Returns:
        Boolean mask (..., q, k): `count` keys a query, or all that the given mask leaves it. Where
        the scores serve all heads, pass it on as [..., None, :, :].

    >>> import numpy as np
    >>> top_keys(np.array([[1.0, 3.0, 0.0, 1.0]]), 2).astype(int)
    array([[1, 1, 0, 0]])
    """
    xp = namespace(scores)
    candidates = masked(xp, scores, mask)
    best_first = xp.argsort(-candidates, axis=-1, stable=True)
    rank = xp.argsort(best_first, axis=-1, stable=True)
    return (rank < count) & (candidates != -math.inf)


@contract(
    weights="... h q k", scores="... q k", mask="mask: ~... ~q k", h=">= 1"
)
def indexer_divergence(
    weights: ArrayT, scores: ArrayT, mask: Array | None = None
) -> ArrayT:
    """Tell how far an indexer is from the attention that it serves (DeepSeek-AI, 2025).

    It is KL(p || softmax(scores)), where p is the attention's weights, summed over heads and
    divided by their sum. An indexer learns by it alone, since no gradient passes a choice of keys;
    the weights are detached beforehand.

    Args:
        weights: of the attention.
        scores: of the indexer.
        mask: boolean, True = may attend, or floating, added to the scores: over which keys to
            compare, causal ones or those that `top_keys` has chosen. What it forbids counts on
            neither side.

    Returns:
        (..., q) nats, in at least float32; 0 for a query without a key, or without weights.

    >>> import numpy as np
    >>> weights = np.array([[[0.5, 0.5]], [[0.5, 0.5]]])
    >>> indexer_divergence(weights, np.array([[0.0, 0.0]])).round(2)
    array([0.])
    >>> indexer_divergence(weights, np.array([[0.0, np.log(9.0)]])).round(2)
    array([0.51])
    """
    xp = namespace(scores)
    weights, scores = widen(xp, weights, scores)
    logits = masked(xp, scores, mask)
    allowed = logits != -math.inf
    target = xp.where(allowed, xp.sum(weights, axis=-3), 0.0)
    total = xp.sum(target, axis=-1, keepdims=True)
    target = target / xp.where(total > 0, total, 1.0)

    log_target = xp.log(xp.where(target > 0, target, 1.0))
    lse = finite(xp, log_sum_exp(xp, logits))[..., None]
    log_share = xp.where(allowed, logits - lse, 0.0)
    return xp.sum(target * (log_target - log_share), axis=-1)


@contract(key="... k d", gate="... k d", size=">= 1")
def pool_blocks(
    key: ArrayT,
    gate: ArrayT | None = None,
    *,
    size: int,
    overlap: bool = False,
) -> ArrayT:
    """Pool every `size` consecutive keys into one (DeepSeek-AI, 2026).

    In each channel the pooled key is the mean of the block, weighted by the softmax of its gates;
    the plain mean is that of Lu et al. (2025). Keys after the last complete block are left out.
    Half precision accumulates in float32.

    Args:
        key: keys, or vectors that are key and value at once, before they are rotated.
        gate: logits, such as a projection and a bias for each place in a block; None weighs all
            keys of a block alike.
        size: keys a block.
        overlap: pool the first half of the channels of a block with the second half of the block
            after it, so that a pooled key comes from 2 * size keys.

    Returns:
        (..., k // size, d), or d / 2 channels with `overlap`.

    Raises:
        ValueError: `overlap` with an odd d.

    >>> import numpy as np
    >>> pool_blocks(np.array([[1.0], [3.0], [5.0], [5.0], [9.0]]), size=2)
    array([[2.],
           [5.]])
    """
    xp, dtype = namespace(key), key.dtype
    if overlap and key.shape[-1] % 2:
        raise ValueError(
            f"key: got d = {key.shape[-1]}, wanted an even one for overlap=True"
        )
    gate = xp.zeros_like(key) if gate is None else gate
    key, gate = (_split_blocks(xp, x, size) for x in widen(xp, key, gate))
    if overlap:
        key, gate = _overlap(xp, key, 0.0), _overlap(xp, gate, -math.inf)
    return cast(xp.sum(masked_softmax(gate.mT) * key.mT, axis=-1), dtype)


@contract(scores="... q k", size=">= 1")
def block_maxima(scores: ArrayT, size: int) -> ArrayT:
    """Score blocks of keys by the best of their keys, the unfinished last block included.

    A future key has to have the score -inf; a block of such keys alone has it too.

    Returns:
        (..., q, m), m being k / size, rounded up.

    >>> import numpy as np
    >>> block_maxima(np.array([[1.0, 4.0, 2.0, 3.0, 0.0]]), 2)
    array([[4., 3., 0.]])
    """
    xp, (*lead, length) = namespace(scores), scores.shape
    count = -(-length // size)
    missing = (*lead, count * size - length)
    missing = xp.full(
        missing, -math.inf, dtype=scores.dtype, device=device_of(scores)
    )
    padded = xp.concat([scores, missing], axis=-1)
    return xp.max(xp.reshape(padded, (*lead, count, size)), axis=-1)


@contract(mask="booleans: ... q k", size=">= 1")
def complete_blocks(mask: ArrayT, size: int) -> ArrayT:
    """Allow a query the blocks of which it may see every key, so that a pooled key leaks nothing.

    Args:
        mask: True = may attend.
        size: keys a block.

    Returns:
        Boolean mask (..., q, m), m being k // size: the unfinished last block is none.

    >>> from companion import causal_mask
    >>> complete_blocks(causal_mask(4, 5), 2).astype(int)
    array([[0, 0],
           [1, 0],
           [1, 0],
           [1, 1]])
    """
    xp = namespace(mask)
    return xp.all(_split_blocks(xp, mask.mT, size), axis=-2).mT


@contract(blocks="booleans: ... q m", k_len=">= 0", size=">= 1")
def keys_of_blocks(blocks: ArrayT, k_len: int, size: int) -> ArrayT:
    """Allow a query all keys of its blocks, and none after the last block.

    Args:
        blocks: True = may attend.
        k_len: number of keys; what a block has beyond them is left out.
        size: keys a block.

    Returns:
        Boolean mask (..., q, k).

    >>> import numpy as np
    >>> keys_of_blocks(np.array([[False, True]]), 5, 2).astype(int)
    array([[0, 0, 1, 1, 0]])
    """
    xp = namespace(blocks)
    keys = xp.repeat(blocks, size, axis=-1)[
        ..., : min(k_len, blocks.shape[-1] * size)
    ]
    missing = (*keys.shape[:-1], k_len - keys.shape[-1])
    none = xp.zeros(missing, dtype=keys.dtype, device=device_of(keys))
    return xp.concat([keys, none], axis=-1)


@contract(
    scores="... q m", mask="booleans: ... q k", count=">= 1", size=">= 1"
)
def keys_of_top_blocks(
    scores: ArrayT, count: int, mask: ArrayT, size: int
) -> ArrayT:
    """Allow a query the keys of its `count` best complete blocks, and those after the last of them.

    The blocks' scores come from keys that `pool_blocks` has pooled. Ties go as in `top_keys`.

    Args:
        scores: of the complete blocks, k // size.
        count: how many blocks a query may see at most.
        mask: True = may attend, such as a causal mask.
        size: keys a block.

    Returns:
        Boolean mask (..., q, k).

    Raises:
        ValueError: scores for another number of blocks.

    >>> import numpy as np
    >>> from companion import causal_mask
    >>> scores = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> keys_of_top_blocks(scores, 1, causal_mask(5), 2).astype(int)
    array([[1, 0, 0, 0, 0],
           [1, 1, 0, 0, 0],
           [1, 1, 1, 0, 0],
           [0, 0, 1, 1, 0],
           [0, 0, 1, 1, 1]])
    """
    wanted = mask.shape[-1] // size
    if scores.shape[-1] != wanted:
        blocks = scores.shape[-1]
        raise ValueError(
            f"scores: got m = {blocks}, wanted {wanted}, the complete blocks of mask"
        )
    k_len, complete = mask.shape[-1], complete_blocks(mask, size)
    chosen: Any = keys_of_blocks(
        top_keys(scores, count, complete), k_len, size
    )
    pooled: Any = keys_of_blocks(complete, k_len, size)
    return mask & (chosen | ~pooled)


def _split_blocks(xp: Any, x: Any, size: int) -> Any:
    """Cut (..., k, d) into whole blocks (..., k // size, size, d)."""
    *lead, length, width = x.shape
    x = x[..., : length // size * size, :]
    return xp.reshape(x, (*lead, length // size, size, width))


def _overlap(xp: Any, blocks: Any, fill: float) -> Any:
    """Join the first half of the channels of the block before to the second half of a block."""
    *lead, count, size, width = blocks.shape
    earlier, own = blocks[..., : width // 2], blocks[..., width // 2 :]
    form = {"dtype": blocks.dtype, "device": device_of(blocks)}
    none = xp.full((*lead, 1, size, width // 2), fill, **form)
    earlier = xp.concat([none, earlier], axis=-3)[..., :count, :, :]
    return xp.concat([earlier, own], axis=-2)
