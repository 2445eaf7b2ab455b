"""Which tiles of the (q, k) matrix of scores hold a pair of a query and a key that may meet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

VECTOR = 16  # floats a register: tiles that are whole multiples wide leave no rest to work off
WINDOW_BLOCK = 32  # queries that share the keys of their windows
WIDEST = 1024  # reach of a window up to which they do


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


class Visit(NamedTuple):
    """A tile, and where its keys stand.

    Attributes:
        tile: the tile.
        block: which block of keys.
        part: the tile's keys within that block; None is all of them.
    """

    tile: Tile
    block: int
    part: slice | None


class Band(NamedTuple):
    """Key j lies in the band of query i iff i + offset - left <= j <= i + offset + right.

    Attributes:
        left: keys before the query's own position; None means all.
        right: keys after the query's own position; None means all, 0 is causal.
        offset: position of the first query among the keys.
    """

    left: int | None = None
    right: int | None = None
    offset: int = 0

    def tiles(self, queries: range, keys: int, size: int) -> Iterator[Tile]:
        """Cut what a block of queries sees of the keys into tiles, and leave out the rest.

        Tiles in the middle of the band are apart from those on its edges: they need no mask.

        >>> [(tile.keys, tile.partial) for tile in Band(right=0).tiles(range(32, 64), 80, 32)]
        [(slice(0, 32, None), False), (slice(32, 64, None), True)]
        """
        rows, seen = slice(queries.start, queries.stop), self.seen(queries, keys)
        shared = self._shared(queries, keys, seen)
        for part in (range(seen.start, shared.start), shared, range(shared.stop, seen.stop)):
            for start in range(part.start, part.stop, size):
                yield Tile(rows, slice(start, min(start + size, part.stop)), part is not shared)

    def rows(self, queries: int, keys: int, sizes: tuple[int, int]) -> Iterator[list[Visit]]:
        """Cut the queries into blocks, and say for each which blocks of keys it sees what of.

        >>> for visits in Band(right=0).rows(4, 4, (2, 2)):
        ...     print([(visit.tile.queries, visit.tile.keys) for visit in visits])
        [(slice(0, 2, None), slice(0, 2, None))]
        [(slice(2, 4, None), slice(0, 2, None)), (slice(2, 4, None), slice(2, 4, None))]
        """
        size, width = sizes
        for start in range(0, queries, size):
            rows = range(start, min(start + size, queries))
            seen = self.seen(rows, keys)
            clear = self._shared(rows, keys, seen)
            visits = []
            for i in range(seen.start // width, -(-seen.stop // width)):
                block = range(i * width, min((i + 1) * width, keys))
                first, last = max(block.start, seen.start), min(block.stop, seen.stop)
                if first < last:
                    partial = not clear.start <= first < last <= clear.stop
                    tile = Tile(slice(rows.start, rows.stop), slice(first, last), partial)
                    whole = last - first == len(block)
                    part = None if whole else slice(first - block.start, last - block.start)
                    visits.append(Visit(tile, i, part))
            yield visits

    def seen(self, queries: range, keys: int) -> range:
        """Return the keys that some of the queries see.

        >>> Band(left=2, right=1).seen(range(5, 7), keys=20)
        range(3, 8)
        """
        first = 0 if self.left is None else max(0, queries.start + self.offset - self.left)
        last = keys if self.right is None else min(keys, queries.stop + self.offset + self.right)
        return range(first, max(first, last))

    def _shared(self, queries: range, keys: int, seen: range) -> range:
        """Return the keys that every query sees, in whole vectors; none if that saves no mask."""
        first, last = 0, keys
        if self.left is not None:
            first = max(0, queries.stop - 1 + self.offset - self.left)
        if self.right is not None:
            last = min(keys, queries.start + 1 + self.offset + self.right)
        if (first, last) == (seen.start, seen.stop):
            return seen
        first += -(first - seen.start) % VECTOR
        if last < seen.stop:
            last -= (last - first) % VECTOR
        return range(first, last) if first < last else range(seen.start, seen.start)

    def interior(self, queries: int, keys: int, size: int = WINDOW_BLOCK) -> range:
        """Return the queries whose windows lie inside the keys, in whole blocks of a size.

        There are none if the windows are so wide that cutting them to shape is not worth it.

        >>> Band(left=3, right=1).interior(20, 20, size=4)
        range(3, 19, 4)
        """
        if self.left is None or self.right is None or self.left + self.right > WIDEST:
            return range(0, 0, size)
        first = max(0, self.left - self.offset)
        last = min(queries, keys - self.right - self.offset)
        return range(first, first + max(0, last - first) // size * size, size)
