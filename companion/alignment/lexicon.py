"""Which word translates which: the table that aligners learn, and the count that fills it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from companion.data.pairs import Pair

NULL_WORD = ""
"""The word that stands before every source sentence, for target words that translate none."""


class Lexicon:
    """Probabilities that a source word translates to a target word, for words seen together.

    They begin equal. All of them are one array, so that a pass over a corpus takes a few array
    operations: sentence pairs of one shape are read at once.

    Args:
        pairs: sentence pairs, those with an empty side left out.
        null_word: whether every source sentence begins with the null word.

    Attributes:
        groups: for each shape of sentence pair the indices of its probabilities, (n, q, k): n
            pairs, q target words, k source words, the null word included.
        probabilities: one for every two words seen together.
    """

    def __init__(self, pairs: Sequence[Pair], *, null_word: bool) -> None:
        self._first = (NULL_WORD,) if null_word else ()
        self._index: dict[tuple[str, str], int] = {}
        grids: dict[tuple[int, int], list[list[list[int]]]] = defaultdict(list)
        for pair in pairs:
            if pair.source and pair.target:
                shape = len(pair.target), len(pair.source)
                grids[shape].append(
                    [
                        [self._number(s, t) for s in self._sources(pair)]
                        for t in pair.target
                    ]
                )
        self.groups = [np.array(grid) for grid in grids.values()]
        numbers: dict[str, int] = {}
        sources = [
            numbers.setdefault(source, len(numbers))
            for source, _ in self._index
        ]
        self._source = np.array(sources, dtype=np.int64)
        self.probabilities = np.ones(len(sources))

    def probability(self, source: str, target: str) -> float:
        """Return the probability that `source` translates to `target`; 0 if never seen together."""
        number = self._index.get((source, target))
        return 0.0 if number is None else float(self.probabilities[number])

    def table(self, pair: Pair) -> NDArray[np.float64]:
        """Return the probabilities of a sentence pair, (q, k), the null word included."""
        rows = [
            [self.probability(s, t) for s in self._sources(pair)]
            for t in pair.target
        ]
        return np.array(rows, dtype=np.float64)

    def learn(self, shares: Sequence[NDArray[np.float64]]) -> None:
        """Take for each source word the target words that it was linked to, by how often.

        Args:
            shares: for each of `groups` the probability of every link, (n, q, k).
        """
        counts = np.zeros_like(self.probabilities)
        for group, share in zip(self.groups, shares, strict=True):
            counts += np.bincount(group.ravel(), share.ravel(), len(counts))
        totals = np.bincount(self._source, counts)[self._source]
        self.probabilities = counts / np.where(totals > 0, totals, 1.0)

    def _sources(self, pair: Pair) -> tuple[str, ...]:
        return (*self._first, *pair.source)

    def _number(self, source: str, target: str) -> int:
        return self._index.setdefault((source, target), len(self._index))


def normalized(weights: ArrayLike) -> NDArray[np.float64]:
    """Divide every row by its sum; a row of zeros stays one.

    >>> normalized([[1, 3], [0, 0]])
    array([[0.25, 0.75],
           [0.  , 0.  ]])
    """
    rows = np.asarray(weights, dtype=np.float64)
    total = rows.sum(-1, keepdims=True)
    return rows / np.where(total > 0, total, 1.0)


def check_pairs(pairs: Sequence[object]) -> None:
    """Refuse to learn from nothing."""
    if not pairs:
        raise ValueError("pairs: got none, wanted at least one")
