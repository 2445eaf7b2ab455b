"""Texts for a language model: in batches, and counted, which gives the simplest models."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor

from companion.contracts import contract
from companion.data.batching import padded
from companion.data.vocabulary import SPECIAL, Vocabulary


@contract()
def text_ids(
    texts: Sequence[Sequence[str]], vocab: Vocabulary
) -> tuple[Tensor, Tensor]:
    """Number the tokens of texts, with `<bos>` before and `<eos>` after each.

    Args:
        texts: at least one sequence of tokens.
        vocab: their vocabulary.

    Returns:
        (b, n) ids, padded at the end, and the (b,) lengths.

    >>> ids, lengths = text_ids([("la", "casa"), ("la",)], Vocabulary(["la", "casa"]))
    >>> ids.tolist(), lengths.tolist()
    ([[1, 4, 5, 2], [1, 4, 2, 0]], [4, 3])
    """
    if not texts:
        raise ValueError("texts: got none, wanted at least one")
    rows = [
        [vocab.bos_id, *vocab.encode(text), vocab.eos_id] for text in texts
    ]
    return padded(rows, vocab.pad_id), torch.tensor([len(row) for row in rows])


@contract(batch_size=">= 1")
class TextBatches:
    """An endless sequence of batches: `batches[step]` depends on the seed and the step alone.

    Every epoch goes through all texts in an order of its own.

    Args:
        texts: at least as many sequences of tokens as a batch has.
        vocab: their vocabulary.
        batch_size: texts a batch; what an epoch has left for no whole batch is left out.
        seed: decides the order.

    Raises:
        ValueError: fewer texts than a batch has.

    >>> batches = TextBatches([("la", "casa")], Vocabulary(["la", "casa"]), batch_size=1, seed=0)
    >>> batches[7][0].tolist()
    [[1, 4, 5, 2]]
    """

    def __init__(
        self,
        texts: Sequence[Sequence[str]],
        vocab: Vocabulary,
        *,
        batch_size: int,
        seed: int,
    ) -> None:
        if len(texts) < batch_size:
            raise ValueError(
                f"texts: got {len(texts)}, wanted at least batch_size, {batch_size}"
            )
        self._texts, self._vocab = texts, vocab
        self._batch_size, self._seed = batch_size, seed
        self._epoch: tuple[int, list[int]] = (-1, [])

    def __getitem__(self, step: int) -> tuple[Tensor, Tensor]:
        if step < 0:
            raise IndexError(f"step: got {step}, wanted at least 0")
        epoch, number = divmod(step, len(self._texts) // self._batch_size)
        if self._epoch[0] != epoch:
            order = list(range(len(self._texts)))
            random.Random(f"{self._seed}/{epoch}").shuffle(order)
            self._epoch = epoch, order
        start = number * self._batch_size
        chosen = self._epoch[1][start : start + self._batch_size]
        return text_ids([self._texts[i] for i in chosen], self._vocab)


@contract(order=">= 1", added="> 0")
def counted_loss(
    train: Sequence[Sequence[str]],
    test: Sequence[Sequence[str]],
    *,
    order: int,
    added: float = 0.05,
) -> float:
    """Return the loss of a model that counts how often each token follows the tokens before it.

    Args:
        train: texts whose tokens are counted.
        test: texts that are predicted, each with its end; their tokens all occur in `train`.
        order: 1 counts tokens alone (unigrams), 2 pairs (bigrams), 3 triples (trigrams).
        added: what is added to every count, so that no token has the chance 0.

    Returns:
        The mean of -log of the chances, in nats a token; exp of it is the perplexity.

    >>> round(math.exp(counted_loss(["ab"], ["ab"], order=1, added=1e-9)), 3)
    3.0
    >>> round(math.exp(counted_loss(["ab"], ["ab"], order=2, added=1e-9)), 3)
    1.0
    """
    if not train or not test:
        raise ValueError(
            f"train, test: got {len(train)} and {len(test)} texts, wanted at least one each"
        )
    whole: Counter[tuple[str, ...]] = Counter()
    before: Counter[tuple[str, ...]] = Counter()
    for text in train:
        for gram in _grams(text, order):
            whole[gram] += 1
            before[gram[:-1]] += 1
    size = 1 + len({token for text in train for token in text})
    nats = [
        -math.log((whole[gram] + added) / (before[gram[:-1]] + added * size))
        for text in test
        for gram in _grams(text, order)
    ]
    return math.fsum(nats) / len(nats)


def _grams(text: Sequence[str], order: int) -> list[tuple[str, ...]]:
    """Return every token and the end, each behind the order - 1 tokens before it."""
    begin, end = SPECIAL[1:3]
    tokens = (*(begin,) * (order - 1), *text, end)
    return [tokens[at : at + order] for at in range(len(text) + 1)]
