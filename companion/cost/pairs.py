"""How many pairs of a query and a key are allowed, and how many are computed, tile by tile."""

from __future__ import annotations

from typing import NamedTuple

from companion.arrays import check_whole
from companion.cost.layers import matmul_flops
from companion.kernels.tiles import Band
from companion.tiled import BLOCKS


def band_pairs(
    q_len: int,
    k_len: int | None = None,
    *,
    left: int | None = None,
    right: int | None = None,
    offset: int = 0,
) -> int:
    """Count the pairs that a causal mask or a window allows: fewer nobody can compute.

    Args:
        q_len: queries.
        k_len: keys; None means as many.
        left: keys allowed before a query's own place; None means all.
        right: keys allowed after it; None means all, 0 is causal.
        offset: keys before the first query.

    Raises:
        TypeError: a number that is not whole.
        ValueError: a number out of range.

    >>> band_pairs(5), band_pairs(5, right=0), band_pairs(5, left=1, right=0)
    (25, 15, 9)
    """
    keys, band = _checked(q_len, k_len, left, right, offset)
    return sum(len(band.seen(range(i, i + 1), keys)) for i in range(q_len))


def tiled_pairs(
    q_len: int,
    k_len: int | None = None,
    *,
    left: int | None = None,
    right: int | None = None,
    offset: int = 0,
    block_size: int | None = None,
) -> int:
    """Count the pairs that `tiled_attention` computes: whole tiles, and none that is empty.

    A block of queries meets the keys that some of them may attend to, so at the edges of the band
    pairs are computed and thrown away. Where a window is narrow, blocks of 64 queries take the
    place of those of 256.

    Args:
        q_len: queries.
        k_len: keys; None means as many.
        left: keys allowed before a query's own place; None means all.
        right: keys allowed after it; None means all, 0 is causal.
        offset: keys before the first query.
        block_size: queries a tile; None is what `tiled_attention` chooses for float32 and float64.
            How many keys a tile has changes nothing.

    Raises:
        TypeError: a number that is not whole.
        ValueError: a number out of range.

    >>> tiled_pairs(1024, right=0) / band_pairs(1024, right=0)  # doctest: +ELLIPSIS
    1.248...
    """
    keys, band = _checked(q_len, k_len, left, right, offset)
    if block_size is not None:
        check_whole(1, block_size=block_size)
        return _in_blocks(band, range(q_len), keys, block_size)
    inside = band.interior(q_len, keys)
    if not inside:
        return _in_blocks(band, range(q_len), keys, BLOCKS[0])
    return (
        _in_blocks(band, range(inside.start), keys, BLOCKS[0])
        + _in_blocks(band, range(inside.start, inside.stop), keys, inside.step)
        + _in_blocks(band, range(inside.stop, q_len), keys, BLOCKS[0])
    )


class TiledFlops(NamedTuple):
    """Operations of tiled attention.

    Attributes:
        forward: two products a pair, its score and its share of the blend.
        backward: five, for the scores are not kept but made again: 5/2 of the forward pass where
            d = v, not twice.
    """

    forward: int
    backward: int


def tiled_flops(
    num_heads: int, pairs: int, *, head_dim: int, value_dim: int | None = None, batch_size: int = 1
) -> TiledFlops:
    """Count `tiled_attention` on the CPU (Dao et al., 2022), and its backward pass (Dao, 2023).

    Args:
        num_heads: query heads.
        pairs: pairs that a head computes, from `tiled_pairs`.
        head_dim: width d of a query and a key.
        value_dim: width v of a value; None means d.
        batch_size: sequences.

    Raises:
        TypeError: a number that is not whole.
        ValueError: a number out of range.

    >>> tiled_flops(3, tiled_pairs(5), head_dim=4)
    TiledFlops(forward=1200, backward=3000)
    """
    d, v = head_dim, head_dim if value_dim is None else value_dim
    check_whole(1, num_heads=num_heads, head_dim=d, value_dim=v, batch_size=batch_size)
    check_whole(0, pairs=pairs)
    widths = d + v, 3 * d + 2 * v  # of score and blend; of the score again and four gradients
    return TiledFlops(*(batch_size * num_heads * matmul_flops(pairs, w, 1) for w in widths))


def _in_blocks(band: Band, queries: range, keys: int, size: int) -> int:
    """Count block by block: all of its queries with all keys that some of them see."""
    starts = range(queries.start, queries.stop, size)
    blocks = (range(start, min(start + size, queries.stop)) for start in starts)
    return sum(len(block) * len(band.seen(block, keys)) for block in blocks)


def _checked(
    q_len: int, k_len: int | None, left: int | None, right: int | None, offset: int
) -> tuple[int, Band]:
    keys = q_len if k_len is None else k_len
    widths = {"left": left, "right": right}
    check_whole(0, q_len=q_len, k_len=keys)
    check_whole(0, **{name: width for name, width in widths.items() if width is not None})
    check_whole(offset=offset)
    return keys, Band(left, right, offset)
