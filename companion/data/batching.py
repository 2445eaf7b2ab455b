"""Batches of sentence pairs of similar length."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from companion.contracts import contract
from companion.data.pairs import Pair
from companion.data.vocabulary import Vocabulary


class Batch(NamedTuple):
    """Padded sentence pairs: `b` sentences, `k` source tokens, `q` target tokens.

    Attributes:
        source: (b, k) integer ids, padded at the end.
        source_lengths: (b,) number of source tokens, on the CPU.
        target_in: (b, q) what the decoder reads: `<bos>`, then the words.
        target_out: (b, q) what it must say: the words, then `<eos>`.
        target_mask: (b, q) boolean, True where `target_out` is a token and no padding.
    """

    source: Tensor
    source_lengths: Tensor
    target_in: Tensor
    target_out: Tensor
    target_mask: Tensor


@contract()
def collate(
    pairs: Sequence[Pair],
    source_vocab: Vocabulary,
    target_vocab: Vocabulary,
    *,
    copying: bool = False,
) -> Batch:
    """Turn pairs into one padded batch, in the order given.

    Args:
        pairs: at least one pair.
        source_vocab: vocabulary of the source side.
        target_vocab: vocabulary of the target side.
        copying: in every pair the unknown words of the source have ids of their own, from
            `len(source_vocab)` on, which the target uses as well; both vocabularies are equal.

    Raises:
        ValueError: `pairs` is empty, or for copying the vocabularies differ.

    >>> pairs = [Pair(("good", "morning"), ("buenos", "días")), Pair(("hello",), ("hola",))]
    >>> vocab = Vocabulary.from_tokens(s for p in pairs for s in (p.source, p.target))
    >>> collate(pairs, vocab, vocab).source_lengths
    tensor([2, 1])
    """
    sources, targets = _encoded(pairs, source_vocab, target_vocab, copying)
    return _batch(sources, targets, source_vocab, target_vocab)


@contract(batch_size=">= 1", pool=">= 1")
class PooledBatches:
    """An endless sequence of batches: `batches[step]` depends on the seed and the step alone.

    Every epoch shuffles the pairs, sorts each pool of `pool` batches by length, so that a batch
    holds sentences of similar length and little padding, and shuffles the batches. Because a
    batch is a function of its step, an interrupted training resumes without saving any of this.

    Args:
        pairs: the training pairs.
        source_vocab: vocabulary of the source side.
        target_vocab: vocabulary of the target side.
        batch_size: pairs a batch; the last batch of an epoch may be smaller.
        seed: decides the order.
        pool: batches that are sorted together.
        copying: as for `collate`.

    Raises:
        ValueError: no pairs, or for copying vocabularies that differ.

    >>> vocab = Vocabulary.from_tokens([("hola",)])
    >>> batches = PooledBatches([Pair(("hola",), ("hola",))], vocab, vocab, batch_size=1, seed=0)
    >>> batches[7].target_in.tolist() == [[vocab.bos_id, *vocab.encode(("hola",))]]
    True
    """

    def __init__(
        self,
        pairs: Sequence[Pair],
        source_vocab: Vocabulary,
        target_vocab: Vocabulary,
        *,
        batch_size: int,
        seed: int,
        pool: int = 50,
        copying: bool = False,
    ) -> None:
        self._sources, self._targets = _encoded(
            pairs, source_vocab, target_vocab, copying
        )
        self._vocabs = source_vocab, target_vocab
        self._batch_size, self._seed, self._pool = batch_size, seed, pool
        self._epoch: tuple[int, list[list[int]]] = (-1, [])

    @property
    def per_epoch(self) -> int:
        """Number of batches in which every pair is seen once."""
        return -(-len(self._sources) // self._batch_size)

    def __getitem__(self, step: int) -> Batch:
        if step < 0:
            raise IndexError(f"step: got {step}, wanted at least 0")
        epoch, number = divmod(step, self.per_epoch)
        if self._epoch[0] != epoch:
            self._epoch = epoch, self._order(epoch)
        chosen = self._epoch[1][number]
        return _batch(
            [self._sources[i] for i in chosen],
            [self._targets[i] for i in chosen],
            *self._vocabs,
        )

    def _order(self, epoch: int) -> list[list[int]]:
        generator = random.Random(f"{self._seed}/{epoch}")
        order = list(range(len(self._sources)))
        generator.shuffle(order)
        size, pool = self._batch_size, self._batch_size * self._pool
        batches = []
        for start in range(0, len(order), pool):
            pooled = sorted(order[start : start + pool], key=self._lengths)
            batches += [
                pooled[i : i + size] for i in range(0, len(pooled), size)
            ]
        generator.shuffle(batches)
        return batches

    def _lengths(self, index: int) -> tuple[int, int]:
        return len(self._sources[index]), len(self._targets[index])


def _encoded(
    pairs: Sequence[Pair],
    source_vocab: Vocabulary,
    target_vocab: Vocabulary,
    copying: bool,
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the ids of all sources and of all targets."""
    if not pairs:
        raise ValueError("pairs: got none, wanted at least one pair")
    if copying and source_vocab != target_vocab:
        raise ValueError(
            f"target_vocab: got {target_vocab!r}, wanted source_vocab, which copying shares"
        )
    sources, targets = [], []
    for pair in pairs:
        own = source_vocab.extended(pair.source) if copying else None
        sources.append((own or source_vocab).encode(pair.source))
        targets.append((own or target_vocab).encode(pair.target))
    return sources, targets


def _batch(
    sources: list[list[int]],
    targets: list[list[int]],
    source_vocab: Vocabulary,
    target_vocab: Vocabulary,
) -> Batch:
    return Batch(
        padded(sources, source_vocab.pad_id),
        torch.tensor([len(ids) for ids in sources]),
        *padded_targets(targets, target_vocab),
    )


def padded_targets(
    sentences: list[list[int]], vocab: Vocabulary
) -> tuple[Tensor, Tensor, Tensor]:
    """Return `target_in`, `target_out` and `target_mask` of sentences, each (b, q)."""
    begun = [[vocab.bos_id, *ids] for ids in sentences]
    ended = [[*ids, vocab.eos_id] for ids in sentences]
    target_in, target_out = (padded(x, vocab.pad_id) for x in (begun, ended))
    lengths = torch.tensor([len(ids) for ids in ended])
    mask = torch.arange(target_out.shape[1]) < lengths[:, None]
    return target_in, target_out, mask


def padded(rows: list[list[int]], pad_id: int) -> Tensor:
    """Return rows of ids as one tensor, filled up at their ends."""
    width = max(len(row) for row in rows)
    return torch.tensor([row + [pad_id] * (width - len(row)) for row in rows])
