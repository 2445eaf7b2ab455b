"""What a layer keeps of a text for the next token, part by part, and how many bytes that is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from companion.contracts import contract

INDEXER_KEYS = "indexer keys"
"""What the part is called by which a layer chooses the keys that it attends to."""


@contract(
    numbers=">= 1",
    tokens=">= 1",
    limit=">= 0",
    itemsize=">= 1",
    read=">= 0",
    read_limit=">= 0",
    beyond=">= 1",
)
@dataclass(frozen=True)
class Kept:
    """One part of a cache or of a state.

    Attributes:
        what: what it is, such as "keys and values".
        numbers: how many numbers an entry has.
        tokens: how many tokens share an entry; None means that the whole text has one entry,
            however long it is.
        beyond: entries are those of the tokens behind the last so many that are complete.
        limit: most entries that are kept; None means all.
        itemsize: bytes of a number, where it is not stored in the model's own precision.
        read: operations by which the next token reads an entry: those of matrix products, where a
            multiplication and an addition count as two.
        read_limit: most entries that it reads, its own included; None means all.

    >>> Kept("keys and values", numbers=64, tokens=1, limit=4).bytes(length=10, itemsize=2)
    512
    """

    what: str
    numbers: int
    tokens: int | None = 1
    limit: int | None = None
    itemsize: int | None = None
    read: int = 0
    read_limit: int | None = None
    beyond: int | None = None

    def entries(self, length: int) -> int:
        """Return how many entries a text of so many tokens has."""
        length = length if self.beyond is None else length % self.beyond
        entries = length // self.tokens if self.tokens else min(length, 1)
        return entries if self.limit is None else min(entries, self.limit)

    def bytes(
        self, length: int, batch_size: int = 1, itemsize: int = 2
    ) -> int:
        """Return the bytes of this part, of texts of so many tokens.

        Args:
            length: tokens read so far.
            batch_size: number of texts.
            itemsize: bytes of a number in the model's own precision.
        """
        numbers = batch_size * self.entries(length) * self.numbers
        return numbers * (self.itemsize or itemsize)

    def read_operations(self, length: int) -> int:
        """Return the operations by which one more token reads this part, and its own entry."""
        entries = 1
        if self.tokens is not None:
            entries = self.entries(length) + (self.tokens == 1)
        limit = self.read_limit
        return self.read * (entries if limit is None else min(entries, limit))


def bytes_kept(
    parts: Iterable[Kept], length: int, batch_size: int = 1, itemsize: int = 2
) -> int:
    """Return the bytes of several parts together."""
    return sum(part.bytes(length, batch_size, itemsize) for part in parts)
