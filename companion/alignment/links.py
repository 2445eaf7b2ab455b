"""Word links: those of the largest weights, of the diagonal and of the gold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from companion.contracts import contract

if TYPE_CHECKING:
    from companion.arrays import Array
    from companion.data.pairs import Pair

Links = frozenset[tuple[int, int]]
"""Word links as (target index, source index): the row and column of an attention matrix."""
Shares = NDArray[np.float64]
"""One row a target word: the probability that it comes from the null word, then from each source
word of its sentence, (q, 1 + k); a row of zeros for a word that nothing explains."""


@contract(weights="numbers: q k", k=">= 1")
def argmax_links(weights: Array) -> Links:
    """Link every target word to the source word of its largest weight.

    Args:
        weights: attention weights, one row a target word.

    Returns:
        One (row, column) link a row; of equal weights the first counts.

    >>> import numpy as np
    >>> sorted(argmax_links(np.array([[0.1, 0.9], [0.8, 0.2]])))
    [(0, 1), (1, 0)]
    """
    largest: Any = weights
    return frozenset(enumerate(largest.argmax(-1).tolist()))


@contract(q_len=">= 0", k_len=">= 1")
def diagonal_links(q_len: int, k_len: int) -> Links:
    """Link every target word to the source word at the same relative position.

    Args:
        q_len: number of target words.
        k_len: number of source words.

    >>> sorted(diagonal_links(3, 2))
    [(0, 0), (1, 1), (2, 1)]
    """
    return frozenset(
        (i, (2 * i + 1) * k_len // (2 * q_len)) for i in range(q_len)
    )


def oracle_links(pair: Pair) -> Links:
    """Give every target word the best single link that the gold allows.

    A sure link is taken before a possible one. This bounds what any aligner with one link a
    word can reach.

    Args:
        pair: a pair with gold links.

    >>> from companion.data.pairs import Pair
    >>> oracle_links(Pair(("he", "will", "go"), ("irá",), frozenset({(0, 2)}), frozenset({(0, 1)})))
    frozenset({(0, 2)})
    """
    best: dict[int, int] = {}
    for links in (pair.possible, pair.sure):
        best |= dict(sorted(links, reverse=True))
    return frozenset(best.items())


def best_links(shares: Shares) -> Links:
    """Link every target word to its most probable source word.

    Of equally probable source words, such as two copies of one word, the nearest to the diagonal
    is taken. A word that the null word explains strictly better, or that nothing explains, gets no
    link.

    Args:
        shares: (q, 1 + k) probabilities, those of the null word first.

    >>> sorted(best_links(np.array([[0.0, 0.5, 0.5], [0.2, 0.4, 0.4], [0.6, 0.2, 0.2]])))
    [(0, 0), (1, 0)]
    """
    null, words = np.split(np.atleast_2d(shares), [1], axis=1)
    if not words.size:
        return frozenset()
    best = words.max(-1, keepdims=True)
    tied = np.where(words == best, _from_diagonal(*words.shape), np.inf)
    linked = np.flatnonzero((best > 0) & (best >= null))
    return frozenset(
        zip(linked.tolist(), tied.argmin(-1)[linked].tolist(), strict=True)
    )


def _from_diagonal(q_len: int, k_len: int) -> NDArray[np.float64]:
    """Return how far every pair of words is from the same relative position, (q, k)."""
    rows, columns = (
        (np.arange(length) + 0.5) / length for length in (q_len, k_len)
    )
    return np.abs(rows[:, None] - columns)
