"""The aligner that expects words near the diagonal: fast_align."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from companion.alignment.lexicon import Lexicon, check_pairs, normalized
from companion.alignment.links import Links, Shares, best_links
from companion.attention import masked_softmax
from companion.contracts import contract

if TYPE_CHECKING:
    from companion.data.pairs import Pair

MOST_TENSION = 100.0
"""A tension at which no two words of a sentence share a position any more."""


@contract(null="> 0 and < 1", tension=">= 0")
class FastAlign:
    """IBM Model 1 with a preference for the diagonal (Dyer et al., 2013).

    Before its words are read, target word i of q comes from the null word with a fixed
    probability, else from source word j of k with a probability proportional to
    exp(-tension |i / q - j / k|), both counted from 1: a softmax that looks at positions alone.
    Expectation-maximisation learns the tension together with the word translation probabilities.
    The authors' program can also put a Dirichlet prior on these; this class does not.

    Args:
        null: probability of the null word.
        tension: what the tension is before training; 0 means that all positions are equal.

    >>> from companion.data.pairs import Pair
    >>> pair = Pair(("the", "cat", "sees", "the", "dog"), ("el", "gato", "ve", "el", "perro"))
    >>> sorted(FastAlign().fit([pair], iterations=5).links(pair))
    [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]
    """

    def __init__(self, *, null: float = 0.08, tension: float = 4.0) -> None:
        self.null, self.tension = null, tension
        self._lexicon = Lexicon((), null_word=True)

    @contract(iterations=">= 1")
    def fit(self, pairs: Sequence[Pair], *, iterations: int = 10) -> FastAlign:
        """Learn from pairs by expectation-maximisation, starting from uniform probabilities.

        Args:
            pairs: sentence pairs; links are not read.
            iterations: passes over the pairs.

        Raises:
            ValueError: no pairs.
        """
        check_pairs(pairs)
        lexicon = self._lexicon = Lexicon(pairs, null_word=True)
        for _ in range(iterations):
            shares = []
            for group in lexicon.groups:
                prior = self._prior(*group.shape[1:])
                shares.append(normalized(prior * lexicon.probabilities[group]))
            lexicon.learn(shares)
            links = [share[..., 1:].sum(0) for share in shares]
            self.tension = _best_tension(links)
        return self

    def probability(self, source: str, target: str) -> float:
        """Return the probability that `source` translates to `target`; 0 if never seen together."""
        return self._lexicon.probability(source, target)

    def posteriors(self, pair: Pair) -> Shares:
        """Return the probability that each target word comes from each source word.

        Returns:
            (q, 1 + k), the null word's first.
        """
        table = self._lexicon.table(pair)
        if not table.size:
            return table
        return normalized(self._prior(*table.shape) * table)

    def links(self, pair: Pair) -> Links:
        """Link every target word to the source word that it most probably comes from.

        Which of equally probable words is taken, and which word gets no link, `best_links` says.
        """
        return best_links(self.posteriors(pair))

    def _prior(self, q_len: int, columns: int) -> Shares:
        """Return the probability of every link before the words are read, (q, 1 + k)."""
        words = masked_softmax(-self.tension * _distance(q_len, columns - 1))
        null = np.full((q_len, 1), self.null)
        return np.hstack([null, (1 - self.null) * words])


def _distance(q_len: int, k_len: int) -> NDArray[np.float64]:
    """Return |i / q - j / k| for positions counted from 1, (q, k)."""
    rows, columns = (
        np.arange(1, length + 1) / length for length in (q_len, k_len)
    )
    return np.abs(rows[:, None] - columns)


def _best_tension(links: Sequence[NDArray[np.float64]]) -> float:
    """Return the tension under which links, counted by shape (q, k), are most probable.

    There the links are as far from the diagonal as the softmax expects them to be. More tension
    brings what is expected nearer to the diagonal, so that halving an interval finds the point.
    """
    distances = [_distance(*link.shape) for link in links]
    observed = sum(
        float((link * far).sum())
        for link, far in zip(links, distances, strict=True)
    )

    def expected(tension: float) -> float:
        total = 0.0
        for link, far in zip(links, distances, strict=True):
            mean = (masked_softmax(-tension * far) * far).sum(-1)
            total += float((link.sum(-1) * mean).sum())
        return total

    low, high = 0.0, MOST_TENSION
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (
            (middle, high) if expected(middle) > observed else (low, middle)
        )
    return (low + high) / 2
