"""A trained model and its vocabularies: words in, words and attention out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, Protocol, overload

import torch
from torch import Tensor, nn

from companion.contracts import contract
from companion.data.batching import Batch, collate
from companion.data.pairs import Pair
from companion.data.vocabulary import Vocabulary
from companion.decoding import Decoded, beam, greedy


class TranslationModel(Protocol):
    """What a model of sentence pairs offers: `Seq2Seq` and `Transformer` do."""

    def modules(self) -> Iterator[nn.Module]:
        """Return the model and all its parts."""

    def parameters(self) -> Iterator[nn.Parameter]:
        """Return the weights."""

    @overload
    def __call__(
        self, batch: Batch, *, need_weights: Literal[False] = False
    ) -> Tensor: ...
    @overload
    def __call__(
        self, batch: Batch, *, need_weights: Literal[True]
    ) -> tuple[Tensor, Tensor | None]: ...

    def loss(self, batch: Batch) -> Tensor:
        """Average the cross-entropy over the target tokens."""

    def start(
        self,
        source: Tensor,
        lengths: Tensor,
        *,
        max_len: int = ...,
        beam_size: int = 1,
    ) -> Any:
        """Encode the source and return the state before the first target token."""

    def step(
        self, tokens: Tensor, state: Any
    ) -> tuple[Tensor, Any, Tensor | None]:
        """Read one target token a row; give logits, the next state, and weights or None."""

    def reorder(self, state: Any, indices: Tensor) -> Any:
        """Let row i go on from what row indices[i] was."""


class Translation(NamedTuple):
    """One translated sentence.

    Attributes:
        tokens: the words written.
        finished: False where `max_len` cut the sentence.
        weights: (q, k) attention, one row a word written, one column a source word; None for a
            model without attention.
        log_prob: natural logarithm of the sentence's probability, its end included.
    """

    tokens: tuple[str, ...]
    finished: bool
    weights: Tensor | None
    log_prob: float


@contract()
class Translator:
    """A sequence-to-sequence model that reads and writes words.

    The model computes in evaluation mode, on the device where it is, and is left in the mode that
    it was in.

    Args:
        model: a trained model.
        source_vocab: vocabulary of the source side.
        target_vocab: vocabulary of the target side.
        copying: the model writes unknown words of the sentence itself, as `PointerGenerator` does;
            both vocabularies are equal.
    """

    def __init__(
        self,
        model: TranslationModel,
        source_vocab: Vocabulary,
        target_vocab: Vocabulary,
        *,
        copying: bool = False,
    ) -> None:
        self.model = model
        self.source_vocab, self.target_vocab = source_vocab, target_vocab
        self.copying = copying

    @contract(max_len=">= 1", batch_size=">= 1", beam_size=">= 1")
    @torch.no_grad()
    def translate(
        self,
        sentences: Sequence[Sequence[str]],
        *,
        max_len: int = 100,
        batch_size: int = 256,
        beam_size: int = 1,
        length_penalty: float = 0.6,
    ) -> list[Translation]:
        """Translate sentences, in the order given.

        Args:
            sentences: source words, at least one each.
            max_len: most words a translation may have.
            batch_size: sentences decoded together; sentences of similar length share a batch.
            beam_size: sequences that `companion.decoding.beam` keeps a sentence; 1 is greedy.
            length_penalty: how beams of unequal length compare; 0 by probability alone.

        Raises:
            TypeError: a sentence is a string, not its words.
            ValueError: a sentence is empty.
        """
        for number, sentence in enumerate(
            [sentences] if isinstance(sentences, str) else sentences
        ):
            if isinstance(sentence, str):
                raise TypeError(
                    f"sentences[{number}]: got str, wanted a sequence of words"
                )
            if not sentence:
                raise ValueError(
                    f"sentences[{number}]: got no words, wanted at least one"
                )
        pairs = [Pair(tuple(sentence), ()) for sentence in sentences]
        done: dict[int, Translation] = {}
        with _evaluating(self.model):
            for chosen, batch in self._batches(pairs, batch_size):
                decoded = self._decode(
                    batch, max_len, beam_size, length_penalty
                )
                read = [pairs[number].source for number in chosen]
                written = self._translations(batch, decoded, read)
                done |= dict(zip(chosen, written, strict=True))
        return [done[number] for number in range(len(sentences))]

    @contract(batch_size=">= 1")
    @torch.no_grad()
    def forced_weights(
        self, pairs: Sequence[Pair], *, batch_size: int = 256
    ) -> list[Tensor]:
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
        with _evaluating(self.model):
            for chosen, batch in self._batches(pairs, batch_size):
                _, weights = self.model(batch, need_weights=True)
                if weights is None:
                    raise ValueError(
                        "model: got one without attention, wanted one with weights"
                    )
                for row, number in enumerate(chosen):
                    pair = pairs[number]
                    q_len, k_len = len(pair.target), len(pair.source)
                    done[number] = weights[row, :q_len, :k_len]
        return [done[number] for number in range(len(pairs))]

    def _decode(
        self, batch: Batch, max_len: int, beam_size: int, length_penalty: float
    ) -> Decoded:
        source = batch.source, batch.source_lengths
        start = self.model.start(*source, max_len=max_len, beam_size=beam_size)
        rows = len(batch.source)
        first = batch.source.new_full(
            (rows * beam_size,), self.target_vocab.bos_id
        )
        sizes = {
            "batch_size": rows,
            "max_len": max_len,
            "eos_id": self.target_vocab.eos_id,
        }
        if beam_size == 1:
            return greedy(self.model.step, start, bos_id=first, **sizes)
        return beam(
            self.model.step,
            start,
            reorder=self.model.reorder,
            beam_size=beam_size,
            length_penalty=length_penalty,
            bos_id=first,
            **sizes,
        )

    def _translations(
        self,
        batch: Batch,
        decoded: Decoded,
        sentences: Sequence[tuple[str, ...]],
    ) -> list[Translation]:
        translations = []
        for row, ids in enumerate(decoded.sequences()):
            source_len = int(batch.source_lengths[row])
            weights = decoded.weights
            vocab = self.target_vocab
            # A model may say them, no translation does.
            unwritten = (vocab.pad_id, vocab.bos_id)
            words = [
                n for n, token in enumerate(ids) if token not in unwritten
            ]
            if self.copying:
                vocab = vocab.extended(sentences[row])
            translations.append(
                Translation(
                    vocab.decode(ids),
                    bool(decoded.finished[row]),
                    None
                    if weights is None
                    else weights[row, words, :source_len],
                    float(decoded.log_probs[row].sum()),
                )
            )
        return translations

    def _batches(
        self, pairs: Sequence[Pair], batch_size: int
    ) -> Iterator[tuple[list[int], Batch]]:
        device = next(self.model.parameters()).device
        order = sorted(range(len(pairs)), key=lambda n: len(pairs[n].source))
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            batch = collate(
                [pairs[n] for n in chosen],
                self.source_vocab,
                self.target_vocab,
                copying=self.copying,
            )
            yield chosen, _moved(batch, device)


@contract(weights="q k")
def replace_unknown(
    words: Sequence[str],
    source: Sequence[str],
    weights: Tensor,
    *,
    unknown: str = "<unk>",
) -> tuple[str, ...]:
    """Put, for every unknown word, the source word that has most attention (Jean et al., 2015).

    Args:
        words: q words that a model wrote.
        source: the k words that it read.
        weights: attention, as a `Translation` holds it.
        unknown: what an unknown word is written as.

    >>> replace_unknown(("<unk>", "won"), ("toral", "won"), torch.tensor([[0.8, 0.2], [0.3, 0.7]]))
    ('toral', 'won')
    """
    if tuple(weights.shape) != (len(words), len(source)):
        raise ValueError(
            f"weights: got shape {tuple(weights.shape)}, wanted ({len(words)}, {len(source)})"
        )
    most = weights.argmax(-1).tolist()
    return tuple(
        source[most[position]] if word == unknown else word
        for position, word in enumerate(words)
    )


@contextmanager
def _evaluating(model: TranslationModel) -> Iterator[None]:
    """Leave training, and go back to what every part of the model was in."""
    before = [(part, part.training) for part in model.modules()]
    try:
        for part, _ in before:
            part.training = False
        yield
    finally:
        for part, training in before:
            part.training = training


def _moved(batch: Batch, device: torch.device) -> Batch:
    """Put ids where the model is; lengths stay on the CPU, where they are read."""
    return Batch(*(part.to(device) for part in batch))._replace(
        source_lengths=batch.source_lengths
    )
