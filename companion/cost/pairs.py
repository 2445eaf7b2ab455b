"""How many pairs of a query and a key are allowed, and how many are computed, tile by tile."""

from __future__ import annotations

from typing import Any, NamedTuple

from companion.bands import Band
from companion.contracts import contract
from companion.cost.layers import matmul_flops
from companion.torch_fused import queries_at_once

_BAND: dict[str, Any] = dict.fromkeys(
    ("q_len", "k_len", "left", "right"), ">= 0"
)


@contract(**_BAND)
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
        left: keys allowed before a query's own position; None means all.
        right: keys allowed after it; None means all, 0 is causal.
        offset: keys before the first query.

    >>> band_pairs(5), band_pairs(5, right=0), band_pairs(5, left=1, right=0)
    (25, 15, 9)
    """
    keys = q_len if k_len is None else k_len
    band = Band(left, right, offset)
    return sum(len(band.seen(range(i, i + 1), keys)) for i in range(q_len))


@contract(block_size=">= 1", **_BAND)
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
    pairs are computed and thrown away. Where a window moves along with the queries, blocks have 64
    queries instead of 256.

    Args:
        q_len: queries.
        k_len: keys; None means as many.
        left: keys allowed before a query's own position; None means all.
        right: keys allowed after it; None means all, 0 is causal.
        offset: keys before the first query.
        block_size: queries a tile; None is what `tiled_attention` or torch chooses.
            How many keys a tile has changes nothing.

    >>> tiled_pairs(1024, right=0) / band_pairs(1024, right=0)  # doctest: +ELLIPSIS
    1.248...
    """
    keys = q_len if k_len is None else k_len
    band = Band(left, right, offset)
    size = block_size or queries_at_once(band)
    starts = range(0, q_len, size)
    blocks = (range(start, min(start + size, q_len)) for start in starts)
    return sum(len(block) * len(band.seen(block, keys)) for block in blocks)


class TiledFlops(NamedTuple):
    """Operations of tiled attention.

    Attributes:
        forward: two products a pair, its score and its share of the blend.
        backward: five, for the scores are not kept but made again: 5/2 of the forward pass where
            d = v, not twice.
    """

    forward: int
    backward: int


@contract(
    num_heads=">= 1",
    pairs=">= 0",
    head_dim=">= 1",
    value_dim=">= 1",
    batch_size=">= 1",
)
def tiled_flops(
    num_heads: int,
    pairs: int,
    *,
    head_dim: int,
    value_dim: int | None = None,
    batch_size: int = 1,
) -> TiledFlops:
    """Count `tiled_attention` on the CPU (Dao et al., 2022), and its backward pass (Dao, 2023).

    Args:
        num_heads: query heads.
        pairs: pairs that a head computes, from `tiled_pairs`.
        head_dim: width d of a query and a key.
        value_dim: width v of a value; None means d.
        batch_size: sequences.

    >>> tiled_flops(3, tiled_pairs(5), head_dim=4)
    TiledFlops(forward=1200, backward=3000)
    """
    d, v = head_dim, head_dim if value_dim is None else value_dim
    # Of score and blend; of the score again and four gradients.
    widths = (d + v, 3 * d + 2 * v)
    heads = batch_size * num_heads
    return TiledFlops(*(heads * matmul_flops(pairs, w, 1) for w in widths))
