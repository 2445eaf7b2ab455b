"""Which tokens of a text each rank has, and how much work that gives it."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from companion.bands import Band
from companion.contracts import contract
from companion.cost.pairs import band_pairs
from companion.parallel.ranks import Group, place_in, ranks_of

Layout = Literal["in order", "balanced", "striped"]
"""How a text is cut.

"in order": rank 0 has the first part, the last rank the last one. "balanced": of twice as many
parts as ranks, rank r has one from the front and the one as far from the end, so that under a
causal mask all have equal work, as in PyTorch's context parallelism. "striped": rank r has every
token whose position leaves r when divided by the number of ranks (Brandon et al., 2023).
"""

Runs = tuple[range, ...]
"""Positions of the tokens of one rank, in the order in which it holds them."""


def runs_of(length: int, size: int, layout: Layout) -> list[Runs]:
    """Return the positions that each rank has of a text.

    >>> runs_of(7, 2, "balanced")
    [(range(0, 1), range(5, 7)), (range(1, 3), range(3, 5))]
    """
    if layout == "striped":
        return [(range(rank, length, size),) for rank in range(size)]
    parts = 2 * size if layout == "balanced" else size
    cuts = [length * part // parts for part in range(parts + 1)]
    ranges = [range(cuts[part], cuts[part + 1]) for part in range(parts)]
    if layout == "in order":
        return [(one,) for one in ranges]
    return [(ranges[rank], ranges[-1 - rank]) for rank in range(size)]


def count_of(runs: Runs) -> int:
    """Return how many tokens a rank has."""
    return sum(map(len, runs))


@contract(length=">= 0")
def positions_of(
    length: int, *, layout: Layout = "balanced", group: Group = None
) -> Tensor:
    """Return the positions of this rank's tokens, (n,), for embeddings and rotations.

    Args:
        length: of the whole text.
        layout: how it is cut.
        group: the ranks.
    """
    rank, size = place_in(ranks_of(group))
    runs = runs_of(length, size, layout)[rank]
    return torch.tensor(
        [place for run in runs for place in run], dtype=torch.int64
    )


@contract(x="any: ...")
def shard(
    x: Tensor,
    *,
    dim: int = -2,
    layout: Layout = "balanced",
    group: Group = None,
) -> Tensor:
    """Return this rank's tokens of a tensor that every rank has, in the order of its positions.

    Args:
        x: any axes.
        dim: the axis of tokens.
        layout: how it is cut.
        group: the ranks.
    """
    places = positions_of(x.shape[dim], layout=layout, group=group)
    return x.index_select(dim, places.to(x.device))


def meeting(
    queries: range,
    keys: range,
    left: int | None,
    right: int | None,
    offset: int,
) -> Band | None:
    """Return which keys of a run the queries of a run may attend to, None where none may.

    Both runs have one step, so that the band of their positions is one of their numbers.

    >>> meeting(range(4, 8), range(4, 8), None, 0, 0)
    Band(left=None, right=0, offset=0)
    >>> meeting(range(1, 9, 2), range(0, 8, 2), 2, 0, 0), meeting(range(4), range(4, 8), None, 0, 0)
    (Band(left=0, right=0, offset=0), None)
    """
    step, ahead = queries.step, queries.start + offset - keys.start
    upper = None if right is None else (ahead + right) // step
    lower = None if left is None else -((left - ahead) // step)
    if upper is not None and upper >= len(keys) - 1:
        upper = None  # the first query sees all, and so do the others
    if lower is not None and lower + len(queries) - 1 <= 0:
        lower = None
    if upper is None:
        band = Band() if lower is None else Band(0, None, lower)
    else:
        band = Band(None if lower is None else upper - lower, 0, upper)
    if band.left is not None and band.left < 0:
        return None
    return band if band.seen(range(len(queries)), len(keys)) else None


@contract(length=">= 1", size=">= 1", left=">= 0", right=">= 0")
def ring_pairs(
    length: int,
    size: int,
    *,
    layout: Layout = "balanced",
    left: int | None = None,
    right: int | None = 0,
) -> list[list[int]]:
    """Count the pairs of a query and a key that each rank attends to in each round of a ring.

    In round t rank r has the keys of rank r - t. A round takes as long as its slowest rank.

    Args:
        length: of the text.
        size: number of ranks.
        layout: how the text is cut.
        left: keys allowed before a query's own position; None means all.
        right: keys allowed after it; 0 is causal, None means all.

    Returns:
        A list for every round, with a number for every rank.

    >>> ring_pairs(8, 2, layout="in order"), ring_pairs(8, 2)
    ([[10, 10], [0, 16]], [[10, 10], [8, 8]])
    """
    runs = runs_of(length, size, layout)
    return [
        [
            sum(
                band_pairs(len(q), len(k), **band._asdict())
                for q in runs[rank]
                for k in runs[(rank - turn) % size]
                if (band := meeting(q, k, left, right, 0))
            )
            for rank in range(size)
        ]
        for turn in range(size)
    ]
