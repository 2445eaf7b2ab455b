"""A trained model and its vocabularies: words in, words and attention out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from companion.data.batching import Batch, collate
from companion.data.pairs import Pair
from companion.data.vocabulary import Vocabulary
from companion.decoding import greedy
from companion.models.seq2seq import Seq2Seq


class Translation(NamedTuple):
    """One translated sentence.

    Attributes:
        tokens: the words written.
        finished: False where `max_len` cut the sentence.
        weights: (q, k) attention, one row a word written, one column a source word; None for a
            model without attention.
    """

    tokens: tuple[str, ...]
    finished: bool
    weights: Tensor | None


class Translator:
    """A sequence-to-sequence model that reads and writes words.

    Args:
        model: a trained model; it is put into evaluation mode.
        source_vocab: vocabulary of the source side.
        target_vocab: vocabulary of the target side.
    """

    def __init__(self, model: Seq2Seq, source_vocab: Vocabulary, target_vocab: Vocabulary) -> None:
        self.model = model.eval()
        self.source_vocab, self.target_vocab = source_vocab, target_vocab

    @torch.no_grad()
    def translate(
        self, sentences: Sequence[Sequence[str]], *, max_len: int = 100, batch_size: int = 256
    ) -> list[Translation]:
        """Translate sentences greedily, in the order given.

        Args:
            sentences: source words, at least one each.
            max_len: most words a translation may have.
            batch_size: sentences decoded together; sentences of similar length share a batch.

        Raises:
            ValueError: a sentence is empty, or `max_len` or `batch_size` is below 1.
        """
        for number, sentence in enumerate(sentences):
            if not sentence:
                raise ValueError(f"sentences[{number}]: got no words, wanted at least one")
        pairs = [Pair(tuple(sentence), ()) for sentence in sentences]
        done: dict[int, Translation] = {}
        for chosen, batch in self._batches(pairs, batch_size):
            done |= dict(zip(chosen, self._decode(batch, max_len), strict=True))
        return [done[number] for number in range(len(sentences))]

    @torch.no_grad()
    def forced_weights(self, pairs: Sequence[Pair], *, batch_size: int = 256) -> list[Tensor]:
        """Return the attention of every pair while the model reads its own right translation.

        Args:
            pairs: source and target words.
            batch_size: pairs read together.

        Returns:
            (q, k) weights a pair: row i is the attention with which target word i is predicted.

        Raises:
            ValueError: the model has no attention.
        """
        done: dict[int, Tensor] = {}
        for chosen, batch in self._batches(pairs, batch_size):
            _, weights = self.model(batch, need_weights=True)
            if weights is None:
                raise ValueError("model: got one without attention, wanted one with weights")
            for row, number in enumerate(chosen):
                pair = pairs[number]
                done[number] = weights[row, : len(pair.target), : len(pair.source)]
        return [done[number] for number in range(len(pairs))]

    def _decode(self, batch: Batch, max_len: int) -> list[Translation]:
        decoded = greedy(
            self.model.step,
            self.model.start(batch.source, batch.source_lengths),
            batch_size=len(batch.source),
            bos_id=self.target_vocab.bos_id,
            eos_id=self.target_vocab.eos_id,
            max_len=max_len,
        )
        translations = []
        for row, ids in enumerate(decoded.sequences()):
            places = int(batch.source_lengths[row])
            weights = decoded.weights
            translations.append(
                Translation(
                    self.target_vocab.decode(ids),
                    bool(decoded.finished[row]),
                    None if weights is None else weights[row, : len(ids), :places],
                )
            )
        return translations

    def _batches(self, pairs: Sequence[Pair], batch_size: int) -> Iterator[tuple[list[int], Batch]]:
        if batch_size < 1:
            raise ValueError(f"batch_size: got {batch_size}, wanted at least 1")
        order = sorted(range(len(pairs)), key=lambda number: len(pairs[number].source))
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            yield chosen, collate([pairs[n] for n in chosen], self.source_vocab, self.target_vocab)
