"""The aligner that expects the next word near the last: a hidden Markov model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from companion.alignment.lexicon import Lexicon, check_pairs, normalized
from companion.alignment.links import Links, Shares, best_links
from companion.contracts import contract

if TYPE_CHECKING:
    from companion.data.pairs import Pair

_UNSEEN_JUMP = 1e-6
"""Count of a jump that no sentence pair made: it stays possible."""


class HMMAligner:
    """Word translation with jumps from source word to source word (Vogel et al., 1996).

    Target words are generated one after another. If the last came from source word j, the next
    comes from source word j' with a probability that depends on the jump j' - j alone, divided by
    the sum over the sentence; the first jump starts one position before it.
    Expectation-maximisation learns jumps and word translation probabilities together. There is no
    null word, so only a word that was never seen with any of the source words gets no link.

    >>> from companion.data.pairs import Pair
    >>> pair = Pair(("the", "cat", "sees", "the", "dog"), ("el", "gato", "ve", "el", "perro"))
    >>> sorted(HMMAligner().fit([pair], iterations=5).links(pair))
    [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]
    """

    def __init__(self) -> None:
        self._lexicon = Lexicon((), null_word=False)
        self._jumps = np.ones(3)

    @contract(iterations=">= 1")
    def fit(
        self, pairs: Sequence[Pair], *, iterations: int = 10
    ) -> HMMAligner:
        """Learn from pairs by expectation-maximisation, starting from uniform probabilities.

        Args:
            pairs: sentence pairs; links are not read.
            iterations: passes over the pairs.

        Raises:
            ValueError: no pairs.
        """
        check_pairs(pairs)
        lexicon = self._lexicon = Lexicon(pairs, null_word=False)
        longest = max((group.shape[-1] for group in lexicon.groups), default=1)
        self._jumps = np.ones(2 * longest + 1)
        for _ in range(iterations):
            jumps, shares = np.full_like(self._jumps, _UNSEEN_JUMP), []
            for group in lexicon.groups:
                k_len = group.shape[-1]
                emission = lexicon.probabilities[group]
                share, moves = forward_backward(
                    emission, self.transitions(k_len)
                )
                shares.append(share)
                np.add.at(jumps, self._jump(k_len), moves)
            lexicon.learn(shares)
            self._jumps = jumps / jumps.sum()
        return self

    def probability(self, source: str, target: str) -> float:
        """Return the probability that `source` translates to `target`; 0 if never seen together."""
        return self._lexicon.probability(source, target)

    def transitions(self, k_len: int) -> NDArray[np.float64]:
        """Return the probability of every jump in a sentence of k source words.

        Returns:
            (1 + k, k): from before the sentence and from each word, to each word.
        """
        return normalized(self._jumps[self._jump(k_len)])

    def posteriors(self, pair: Pair) -> Shares:
        """Return the probability that each target word comes from each source word.

        Returns:
            (q, 1 + k); the first column, the null word's, is 0.
        """
        table = self._lexicon.table(pair)
        if not table.size:
            return table
        known = table.any(-1, keepdims=True)
        shares, _ = forward_backward(
            np.where(known, table, 1.0)[None],
            self.transitions(len(pair.source)),
        )
        return np.pad(shares[0] * known, ((0, 0), (1, 0)))

    def links(self, pair: Pair) -> Links:
        """Link every target word to the source word that it most probably comes from.

        Which of equally probable words is taken, and which word gets no link, `best_links` says.
        """
        return best_links(self.posteriors(pair))

    def _jump(self, k_len: int) -> NDArray[np.int64]:
        """Return which of the learned jumps leads from (1 + k) positions to k; long ones share."""
        longest = len(self._jumps) // 2
        jump = np.arange(k_len) - np.arange(-1, k_len)[:, None]
        index: NDArray[np.int64] = np.clip(jump, -longest, longest) + longest
        return index


def forward_backward(
    emission: NDArray[np.float64], transitions: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum over all paths through a hidden Markov model.

    Every step is divided by its sum, so that long sentences do not underflow.

    Args:
        emission: (n, q, k) probability of what is seen at each step in each state.
        transitions: (1 + k, k) probability of each state after the start and after each state.

    Returns:
        (n, q, k) probabilities of the states, and (1 + k, k) expected numbers of the transitions,
        those of all n together.

    >>> shares, moves = forward_backward(np.array([[[0.9, 0.1], [0.5, 0.5]]]), np.eye(2)[[0, 0, 1]])
    >>> shares
    array([[[1., 0.],
            [1., 0.]]])
    """
    start, steps = transitions[0], transitions[1:]
    forward, backward = np.empty_like(emission), np.ones_like(emission)
    reached = np.broadcast_to(start, emission[:, 0].shape)
    for i in range(emission.shape[1]):
        forward[:, i] = normalized(reached * emission[:, i])
        reached = forward[:, i] @ steps
    for i in range(emission.shape[1] - 1, 0, -1):
        backward[:, i - 1] = normalized(
            (emission[:, i] * backward[:, i]) @ steps.T
        )
    shares = normalized(forward * backward)
    onward = emission[:, 1:] * backward[:, 1:]
    paths = ((forward[:, :-1] @ steps) * onward).sum(-1, keepdims=True)
    moves = steps * np.einsum("nij,nik->jk", forward[:, :-1] / paths, onward)
    return shares, np.vstack([shares[:, 0].sum(0), moves])
