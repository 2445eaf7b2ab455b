"""Which tiles of the (q, k) matrix of scores hold a pair of a query and a key that may meet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from companion.masks import causal_mask


class Tile(NamedTuple):
    """A run of queries and a run of keys.

    Attributes:
        queries: the queries.
        keys: the keys.
        partial: some of the queries may not attend to some of the keys.
    """

    queries: slice
    keys: slice
    partial: bool


def part_of_mask(mask: Any, tile: Tile) -> Any:
    """Return the part of a mask, which broadcasts to (..., q, k), that belongs to a tile.

    >>> import numpy as np
    >>> part_of_mask(np.ones((5, 7)), Tile(slice(0, 2), slice(3, 7), False)).shape
    (2, 4)
    """
    if mask is None or mask.ndim == 1:
        return None if mask is None else mask[tile.keys]
    queries = slice(None) if mask.shape[-2] == 1 else tile.queries
    return mask[..., queries, tile.keys]


class Band(NamedTuple):
    """Key j is in the band of query i iff i + offset - left <= j <= i + offset + right.

    Attributes:
        left: keys before the query's own position; None means all.
        right: keys after the query's own position; None means all, 0 is causal.
        offset: position of the first query among the keys.
    """

    left: int | None = None
    right: int | None = None
    offset: Any = 0

    def tiles(self, queries: range, keys: int, size: int) -> Iterator[Tile]:
        """Cut what a block of queries sees of the keys into tiles, and leave out the rest.

        Tiles in the middle of the band are apart from those on its edges: they need no mask.

        >>> [(tile.keys, tile.partial) for tile in Band(right=0).tiles(range(32, 64), 80, 33)]
        [(slice(0, 33, None), False), (slice(33, 64, None), True)]
        """
        rows, seen = (
            slice(queries.start, queries.stop),
            self.seen(queries, keys),
        )
        shared = self._shared(queries, seen)
        for part in (
            range(seen.start, shared.start),
            shared,
            range(shared.stop, seen.stop),
        ):
            for start in range(part.start, part.stop, size):
                yield Tile(
                    rows,
                    slice(start, min(start + size, part.stop)),
                    part is not shared,
                )

    def seen(self, queries: range, keys: int) -> range:
        """Return the keys that some of the queries see.

        >>> Band(left=2, right=1).seen(range(5, 7), keys=20)
        range(3, 8)
        """
        first = (
            0
            if self.left is None
            else max(0, queries.start + self.offset - self.left)
        )
        last = (
            keys
            if self.right is None
            else min(keys, queries.stop + self.offset + self.right)
        )
        return range(first, max(first, last))

    def _shared(self, queries: range, seen: range) -> range:
        """Return the keys among those seen that every query sees."""
        first, last = seen.start, seen.stop
        if self.left is not None:
            first = max(first, queries.stop - 1 + self.offset - self.left)
        if self.right is not None:
            last = min(last, queries.start + 1 + self.offset + self.right)
        return (
            range(first, last)
            if first < last
            else range(seen.start, seen.start)
        )

    def mask(self, queries: slice, keys: slice, like: Any) -> Any:
        """Return which of the keys are in the band of which of the queries, (q, k); None: all.

        The offset may be an array here: the mask then has its axes in front.

        >>> import numpy as np
        >>> Band(right=0).mask(slice(4, 6), slice(3, 6), np.ones(1)).astype(int)
        array([[1, 1, 0],
               [1, 1, 1]])
        """
        q_len, k_len = queries.stop - queries.start, keys.stop - keys.start
        first, mask = self.offset + queries.start - keys.start, None
        if self.right is not None:
            mask = causal_mask(
                q_len, k_len, offset=first + self.right, like=like
            )
        if self.left is not None:
            before = causal_mask(
                q_len, k_len, offset=first - self.left - 1, like=like
            )
            mask = ~before if mask is None else mask & ~before
        return mask
