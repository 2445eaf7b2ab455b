"""Attention without the (q, k) matrix: tile by tile, with a softmax that is corrected on the way.

A softmax over two blocks of scores needs of the first block no more than its maximum and the sum of
its exponentials: when the maximum rises by r, the old sum shrinks by exp(-r), and so does the blend
of values that stands above it. Memory then grows with the length, and time with its square.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from companion.arrays import (
    Array,
    ArrayT,
    cast,
    constant,
    finite,
    is_number,
    namespace,
    result_dtype,
    row_maximum,
    widen,
)
from companion.bands import Band, Tile, part_of_mask
from companion.contracts import contract
from companion.dispatch import accelerated
from companion.heads import offset_beside_heads, repeat_kv
from companion.masks import masked
from companion.scores import scaled_dot_score

# Queries and keys a tile: with eight heads, a megabyte of scores in float32.
BLOCKS = (256, 128)


@contract(scores_blocks="each: ... q _")
def online_softmax(scores_blocks: Iterable[ArrayT]) -> tuple[ArrayT, ArrayT]:
    """Return the maximum and the sum of exp(score - maximum) of rows that come in blocks.

    One pass, one block in memory (Milakov & Gimelshein, 2018). A score's weight is then
    exp(score - maximum) / sum. Half precision is widened to float32.

    Args:
        scores_blocks: blocks of the scores (..., q, k), in any order.

    Returns:
        Maximum (..., q) and sum (..., q); -inf and 0 for a row with nothing above -inf.

    >>> import numpy as np
    >>> maximum, total = online_softmax([np.array([[0.0, 2.0]]), np.array([[2.0]])])
    >>> maximum, total.round(3)
    (array([2.]), array([2.135]))
    """
    maximum: Any = None
    for block in scores_blocks:
        xp = namespace(block)
        (scores,) = widen(xp, block)
        highest = row_maximum(xp, scores)
        if maximum is None:
            maximum, total = highest, xp.zeros_like(highest)
        risen = xp.maximum(maximum, highest)
        # The sum so far is less the old maximum.
        shrink = xp.exp(maximum - finite(xp, risen))
        powers = xp.exp(scores - finite(xp, risen))
        total = total * shrink + xp.sum(powers, axis=-1, keepdims=True)
        maximum = risen
    return maximum[..., 0], total[..., 0]


_SHAPES: dict[str, Any] = {
    "query": "...h q d", "key": "...g k d", "value": "...g k v", "attn_mask": "mask: ~... ~q k",
    "offset": "integers: b...", "sinks": "~...", "d": ">= 1", "softcap": "> 0",
    "enable_gqa": "g divides h", "left": ">= 0", "right": ">= 0", "block_size": ">= 1",
}  # fmt: skip


@contract(**_SHAPES)
@accelerated
def tiled_attention(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
    offset: int | Array = 0,
    softcap: float | None = None,
    sinks: Array | None = None,
    left: int | None = None,
    right: int | None = None,
    block_size: int | tuple[int, int] | None = None,
) -> ArrayT:
    """Compute `scaled_dot_product_attention` tile by tile (Rabe & Staats, 2021; Dao et al., 2022).

    No (q, k) matrix is made, and tiles in which nobody may attend are left out. Torch tensors on
    the CPU go to torch's own fused operator, which chooses its own tiles, recomputes them for the
    gradients and is once differentiable. It cannot take a softcap, an offset that is an array, a
    mask that wants a gradient, or a call that torch compiles: the loop below then runs, and for the
    gradients it keeps its tiles, which take as much memory as the matrix.

    Args:
        attn_mask: boolean, True = may attend, or floating, added to the scores.
        is_causal: allow key j for query i only if j <= i + offset, on top of `attn_mask`.
        scale: factor on the dot products; None means 1 / sqrt(d).
        enable_gqa: let h / g consecutive query heads share a key head (Ainslie et al., 2023).
        offset: keys before the first query, a number or one a sequence, (b,).
        softcap: bound on the scores, softcap * tanh(scores / softcap), before the mask.
        sinks: logits that join the denominators of their heads, (h,).
        left: keys allowed before a query's own position, i + offset; None means all.
        right: keys allowed after it; None means all.
        block_size: queries and keys a tile, one number or a pair; None leaves the choice open.

    Returns:
        (..., h, q, v). A query that may attend to no key gets zeros.

    >>> import numpy as np
    >>> value = np.array([[1.0], [2.0], [6.0]])
    >>> tiled_attention(np.zeros((3, 4)), np.ones((3, 4)), value, is_causal=True)
    array([[1. ],
           [1.5],
           [3. ]])
    """
    output, _ = tile_by_tile(
        query, key, value, attn_mask, is_causal, scale, enable_gqa, offset, softcap, sinks,
        left, right, block_size,
    )  # fmt: skip
    return output


@contract(**_SHAPES)
@accelerated
def tiled_attention_with_lse(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
    offset: int | Array = 0,
    softcap: float | None = None,
    sinks: Array | None = None,
    left: int | None = None,
    right: int | None = None,
    block_size: int | tuple[int, int] | None = None,
) -> tuple[ArrayT, ArrayT]:
    """Return the output of `tiled_attention`, and the log-sum-exp of the scores of every row.

    The arguments are the same. Gradients pass through both.

    Returns:
        Output (..., h, q, v), and log-sum-exp (..., h, q), natural and with the sinks, in at least
        float32; -inf where there is nothing to sum.

    >>> import numpy as np
    >>> x = np.zeros((3, 4))
    >>> np.exp(tiled_attention_with_lse(x, x, x, is_causal=True)[1]).round(3)
    array([1., 2., 3.])
    """
    return tile_by_tile(
        query, key, value, attn_mask, is_causal, scale, enable_gqa, offset, softcap, sinks,
        left, right, block_size,
    )  # fmt: skip


def tile_by_tile(
    query: Any, key: Any, value: Any, attn_mask: Any, is_causal: bool, scale: Any,
    enable_gqa: bool, offset: Any, softcap: Any, sinks: Any, left: Any, right: Any, block_size: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """Return output and log-sum-exp of attention, of which no more than a tile is in memory.

    >>> import numpy as np
    >>> x = np.ones((3, 4))
    >>> tile_by_tile(x, x, x, None, False, None, False, 0, None, None, 0, 0, 2)[1]
    array([2., 2., 2.])
    """
    xp, dtype = namespace(query), result_dtype(query, key, value)
    query, key, value = widen(xp, query, key, value)
    if enable_gqa:
        key, value = repeat_kv(key, query), repeat_kv(value, query)
    band = Band(
        left,
        0 if is_causal else right,
        offset_beside_heads(offset, query, key),
    )

    rows = []
    for queries, tiles in tiles_of(band, query, key, block_size):
        maximum, total, blend = first_state(
            xp, query[..., queries, :], key, value, sinks
        )
        for tile in tiles:
            scores = scaled_dot_score(
                query[..., queries, :], key[..., tile.keys, :], scale=scale
            )
            if softcap is not None:
                scores = softcap * xp.tanh(scores / softcap)
            scores = masked(xp, scores, part_of_mask(attn_mask, tile))
            if tile.partial:
                scores = masked(
                    xp, scores, band.mask(queries, tile.keys, like=scores)
                )
            risen = xp.maximum(maximum, row_maximum(xp, scores))
            powers = xp.exp(scores - finite(xp, risen))
            shrink = xp.exp(maximum - finite(xp, risen))
            total = total * shrink + xp.sum(powers, axis=-1, keepdims=True)
            blend = blend * shrink + powers @ value[..., tile.keys, :]
            maximum = risen
        rows.append(normalized(xp, blend, total, maximum))
    output, lse = (
        xp.concat(parts, axis=-2) for parts in zip(*rows, strict=True)
    )
    return cast(output, dtype), lse[..., 0]


def first_state(
    xp: Any, query: Any, key: Any, value: Any, sinks: Any
) -> tuple[Any, Any, Any]:
    """Return maximum and sum, (..., q, 1), and blend, (..., q, v), before the first tile.

    A sink is a key whose value is zero, and comes before all others. The zeros are products over no
    key, so that they have all leading axes, and gradients pass through them.

    >>> import numpy as np
    >>> first_state(np, np.ones((1, 2)), np.ones((3, 2)), np.ones((3, 1)), None)
    (array([[-inf]]), array([[0.]]), array([[0.]]))
    """
    no_scores = query @ key[..., :0, :].mT
    blend = no_scores @ value[..., :0, :]
    total = xp.sum(blend, axis=-1, keepdims=True)
    if sinks is None:
        return total - math.inf, total, blend
    return (
        total + cast(sinks, total.dtype)[..., None, None],
        total + 1.0,
        blend,
    )


def normalized(
    xp: Any, blend: Any, total: Any, maximum: Any
) -> tuple[Any, Any]:
    """Return the blend over its sum, and the log-sum-exp; 0 and -inf where the sum is 0.

    >>> import numpy as np
    >>> normalized(np, np.array([[6.0]]), np.array([[2.0]]), np.array([[0.0]]))[0]
    array([[3.]])
    """
    alive = total > 0
    total = xp.where(alive, total, 1.0)
    return blend / total, xp.where(
        alive, finite(xp, maximum) + xp.log(total), -math.inf
    )


def tiles_of(
    band: Band, query: Any, key: Any, block_size: int | tuple[int, int] | None
) -> Iterable[tuple[slice, Iterable[Tile]]]:
    """Cut the queries into blocks, and what each of them sees of the keys into tiles.

    Where the offsets are in an array, nobody looks at them: every tile may then be cut.

    >>> import numpy as np
    >>> blocks = tiles_of(Band(), np.ones((5, 1)), np.ones((7, 1)), 4)
    >>> [(rows, len(list(tiles))) for rows, tiles in blocks]
    [(slice(0, 4, None), 2), (slice(4, 5, None), 2)]
    """
    q_len, k_len = query.shape[-2], key.shape[-2]
    sizes = block_size or BLOCKS
    height, width = sizes if isinstance(sizes, tuple) else (sizes, sizes)
    for start in range(0, max(q_len, 1), height):
        rows = range(start, min(start + height, q_len))
        if is_number(band.offset):
            tiles = band.tiles(rows, k_len, width)
        else:
            tiles = (
                tile._replace(partial=True)
                for tile in Band().tiles(rows, k_len, width)
            )
        yield slice(rows.start, rows.stop), tiles


@contract(
    query="...h q d", key="...g k d", value="...g k v", d=">= 1", enable_gqa="g divides h",
    left=">= 0", right=">= 0",
)  # fmt: skip
def window_attention(
    query: ArrayT, key: ArrayT, value: ArrayT, *, left: int, right: int = 0,
    scale: float | None = None, enable_gqa: bool = False,
) -> ArrayT:  # fmt: skip
    """Attend to the query's own position, `left` keys before it and `right` after it.

    Time and memory grow with the length times the window (Beltagy et al., 2020).

    Args:
        left: keys before the query's own position; a window "of w keys" with itself is left=w - 1.
        right: keys after the query's own position.
        scale: factor on the dot products; None means 1 / sqrt(d).
        enable_gqa: let h / g consecutive query heads share a key head (Ainslie et al., 2023).

    Returns:
        (..., h, q, v).

    >>> import numpy as np
    >>> x = np.arange(4.0)[:, None]
    >>> window_attention(0 * x, x, x, left=1)[:, 0]
    array([0. , 0.5, 1.5, 2.5])
    """
    return tiled_attention(
        query,
        key,
        value,
        scale=scale,
        enable_gqa=enable_gqa,
        left=left,
        right=right,
    )


@contract(
    output="... q v", lse="... q", other_output="... q v", other_lse="... q"
)
def merge_attention(
    output: ArrayT, lse: ArrayT, other_output: ArrayT, other_lse: ArrayT
) -> tuple[ArrayT, ArrayT]:
    """Make attention to all keys out of attention to some keys and attention to the others.

    It takes each half's log-sum-exp: the halves weigh as their denominators do. A half whose
    log-sum-exp is -inf counts for nothing, whatever stands in its output.

    Args:
        lse: natural log-sum-exp of the same rows.

    Returns:
        Output (..., q, v) and log-sum-exp (..., q) over the keys of both.

    >>> import numpy as np
    >>> one, two = np.array([[3.0]]), np.array([[6.0]])
    >>> output, lse = merge_attention(one, np.log([2.0]), two, np.log([1.0]))
    >>> output, np.exp(lse).round(3)
    (array([[4.]]), array([3.]))
    """
    xp, dtype = namespace(output), result_dtype(output, other_output)
    output, lse, other_output, other_lse = widen(
        xp, output, lse, other_output, other_lse
    )
    highest = constant(finite(xp, xp.maximum(lse, other_lse)))
    weight, other_weight = (
        xp.exp(x - highest)[..., None] for x in (lse, other_lse)
    )
    total = weight + other_weight
    alive = total > 0
    total = xp.where(alive, total, 1.0)
    blend = weight / total * xp.where(weight > 0, output, 0.0)
    blend = blend + other_weight / total * xp.where(
        other_weight > 0, other_output, 0.0
    )
    merged_lse = xp.where(
        alive[..., 0], highest + xp.log(total[..., 0]), -math.inf
    )
    return cast(blend, dtype), merged_lse
