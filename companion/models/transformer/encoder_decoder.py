"""The Transformer of the paper: read a source sentence, write a target sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, overload

import torch
from torch import Tensor, nn

from companion.arrays import check_flag, check_whole
from companion.cache import KVCache
from companion.layers import ProjectedMemory
from companion.masks import padding_mask
from companion.models._checks import (
    check_asked,
    check_ids,
    check_read,
    check_smoothing,
    checked_lengths,
)
from companion.models.transformer.config import TransformerConfig
from companion.models.transformer.decoder import Decoder
from companion.models.transformer.embedding import Embedding, Output, check_reach
from companion.models.transformer.encoder import Encoder
from companion.models.transformer.states import changes_of, check_step, reordered

if TYPE_CHECKING:
    from companion.data.batching import Batch


class Encoded(NamedTuple):
    """A source sentence as the decoder sees it.

    Attributes:
        memory: (b, k, e), one vector a source token.
        memories: what every decoder block made of it, once a sentence.
        mask: (b, 1, 1, k) boolean, True where a source token stands.
    """

    memory: Tensor
    memories: tuple[ProjectedMemory, ...]
    mask: Tensor


class DecodingState(NamedTuple):
    """What `Transformer.step` carries from token to token.

    Caches are written into: a state that has some serves one step or one reordering, and is then
    spent.

    Attributes:
        encoded: the source.
        caches: keys and values of the tokens so far; None if they are computed anew at each step.
        tokens: (b, n) tokens so far, if there are no caches.
        changes: how often the caches had changed when this state was made.
        limit: most tokens there may be, if there are no caches.
    """

    encoded: Encoded
    caches: tuple[KVCache, ...] | None
    tokens: Tensor | None
    changes: int = 0
    limit: int | None = None


class StepOutput(NamedTuple):
    """One step: (b, vocab_size) logits, the next state, and (b, k) weights."""

    logits: Tensor
    state: DecodingState
    weights: Tensor


class AttentionWeights(NamedTuple):
    """All attention of an encoder-decoder, (b, h, q, k) for every block."""

    encoder: tuple[Tensor, ...]
    decoder: tuple[Tensor, ...]
    cross: tuple[Tensor, ...]


class Transformer(nn.Module):
    """Translate with attention alone (Vaswani et al., 2017).

    Padding of the source is masked. That of the target needs no mask: it stands at the end, where
    no real token looks. `start` and `step` are what `companion.decoding` writes with.

    Args:
        config: the model's shape.

    >>> model = Transformer(TransformerConfig(vocab_size=11, embed_dim=12, num_heads=3)).eval()
    >>> state = model.start(torch.tensor([[4, 5, 6]]), torch.tensor([3]), max_len=7)
    >>> model.step(torch.tensor([1]), state).logits.shape
    torch.Size([1, 11])
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.target_embedding = Embedding(config)
        shared = self.target_embedding.words if config.tied == "all" else None
        self.source_embedding = Embedding(config, shared, size=config.source_size)
        self.encoder = Encoder(config, config.depth_of_encoder)
        self.decoder = Decoder(config, cross=True)
        self.output = Output(config)

    def encode(self, source: Tensor, lengths: Tensor) -> Encoded:
        """Read the source once, and project it for every block of the decoder.

        Args:
            source: (b, k) ids, padded at the end.
            lengths: (b,) number of tokens, each at least 1.

        Raises:
            TypeError: ids or lengths that are no integers.
            ValueError: not one length a sentence, or ids of another shape.
        """
        mask = _source_mask(source, lengths)
        memory = self.encoder(self.source_embedding(source), mask=mask).hidden
        return Encoded(memory, self.decoder.project_memory(memory), mask)

    @overload
    def forward(self, batch: Batch, *, need_weights: Literal[False] = False) -> Tensor: ...
    @overload
    def forward(self, batch: Batch, *, need_weights: Literal[True]) -> tuple[Tensor, Tensor]: ...
    def forward(
        self, batch: Batch, *, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Predict every target token from the source and the right words before it.

        Args:
            batch: a padded batch; `target_out` is not read.
            need_weights: also return the attention of block config.alignment_layer.

        Returns:
            (b, q, vocab_size) logits; with `need_weights` also (b, q, k) weights, the mean over
            the heads.

        Raises:
            TypeError: ids or lengths that are no integers.
            ValueError: parts of the batch whose shapes do not fit.
        """
        check_read(batch)
        encoded = self.encode(batch.source, batch.source_lengths)
        wanted = (self._alignment_layer,) if need_weights else ()
        hidden, _, cross = self.decoder(
            self.target_embedding(batch.target_in),
            encoded.memories,
            memory_mask=encoded.mask,
            weights_of=wanted,
        )
        logits = self.output(hidden, self.target_embedding.words)
        weights = cross[self._alignment_layer]
        return logits if weights is None else (logits, weights.mean(1))

    if TYPE_CHECKING:
        __call__ = forward

    def loss(self, batch: Batch, *, label_smoothing: float = 0.0) -> Tensor:
        """Average the cross-entropy over the target tokens, in nats a token; padding is left out.

        Args:
            batch: a padded batch.
            label_smoothing: probability spread over all words; the paper trains with 0.1.

        Raises:
            TypeError: ids or lengths that are no integers, a mask that is not boolean, or a
                label_smoothing that is no number.
            ValueError: parts of the batch whose shapes do not fit, no target token, or a
                label_smoothing outside 0 to 1.
        """
        check_asked(batch)
        check_smoothing(label_smoothing)
        return nn.functional.cross_entropy(
            self(batch)[batch.target_mask],
            batch.target_out[batch.target_mask],
            label_smoothing=label_smoothing,
        )

    @torch.no_grad()
    def attention(self, batch: Batch) -> AttentionWeights:
        """Return every weight of every block while the model reads a batch.

        Args:
            batch: a padded batch.
        """
        check_read(batch)
        mask = _source_mask(batch.source, batch.source_lengths)
        read = self.encoder(self.source_embedding(batch.source), mask=mask, need_weights=True)
        found = self.decoder(
            self.target_embedding(batch.target_in),
            self.decoder.project_memory(read.hidden),
            memory_mask=mask,
            weights_of=range(self.config.num_layers),
        )
        own, cross = (
            tuple(weights for weights in kind if weights is not None)
            for kind in (found.self_weights, found.cross_weights)
        )
        return AttentionWeights(read.weights, own, cross)

    @torch.no_grad()
    def start(
        self,
        source: Tensor,
        lengths: Tensor,
        *,
        max_len: int = 100,
        beam_size: int = 1,
        use_cache: bool = True,
    ) -> DecodingState:
        """Encode the source, without gradients, and return the state before the first target token.

        Args:
            source: (b, k) ids, padded at the end.
            lengths: (b,) number of tokens.
            max_len: most steps that will be taken; memory for them is allocated now.
            beam_size: rows a sentence; those of one sentence follow one another.
            use_cache: keep keys and values; without, every step computes all tokens anew.

        Raises:
            TypeError: ids or lengths that are no integers, a number that is not whole, or a
                use_cache that is no bool.
            ValueError: not one length a sentence, ids of another shape, a number below 1, or more
                steps than learned positions.
        """
        check_whole(1, max_len=max_len, beam_size=beam_size)
        check_flag(use_cache=use_cache)
        check_reach(self.config, max_len)
        memory, memories, mask = self.encode(source, lengths)
        encoded = Encoded(
            memory.repeat_interleave(beam_size, 0),
            tuple(
                ProjectedMemory(*(part.repeat_interleave(beam_size, 0) for part in projected))
                for projected in memories
            ),
            mask.repeat_interleave(beam_size, 0),
        )
        rows = len(encoded.memory)
        if use_cache:
            return DecodingState(encoded, self.decoder.make_caches(rows, max_len), None)
        return DecodingState(encoded, None, source.new_empty(rows, 0), limit=max_len)

    def step(self, tokens: Tensor, state: DecodingState) -> StepOutput:
        """Read one target token a sentence and score the next.

        Args:
            tokens: (b,) ids of the last tokens.
            state: from `start` or from the step before; if it has caches, it is spent.

        Raises:
            TypeError: tokens that are no integers.
            ValueError: a state that is spent already, not one token a sequence, or more steps than
                `start` was told of.
        """
        check_step(tokens, len(state.encoded.memory), state)
        encoded, caches, before = state.encoded, state.caches, state.tokens
        read = tokens[:, None] if before is None else torch.cat((before, tokens[:, None]), 1)
        hidden, _, cross = self.decoder(
            self.target_embedding(read, offset=0 if caches is None else caches[0].offset),
            encoded.memories,
            memory_mask=encoded.mask,
            caches=caches,
            weights_of=(self._alignment_layer,),
        )
        weights = cross[self._alignment_layer]
        assert weights is not None  # asked for just above
        logits = self.output(hidden[:, -1], self.target_embedding.words)
        now = None if before is None else read
        next_state = DecodingState(encoded, caches, now, changes_of(caches), state.limit)
        return StepOutput(logits, next_state, weights[:, :, -1].mean(1))

    def reorder(self, state: DecodingState, indices: Tensor) -> DecodingState:
        """Let row i go on from what row indices[i] was: a beam search chose among them.

        Args:
            state: from `step`; if it has caches, it is spent.
            indices: (b,) rows, each of the same sentence as the row that it replaces.

        Raises:
            TypeError: indices that are no integers.
            ValueError: a state that is spent already, or indices of another shape.
        """
        return reordered(state, indices, len(state.encoded.memory))

    @property
    def _alignment_layer(self) -> int:
        return self.config.alignment_layer % self.config.num_layers


def _source_mask(source: Tensor, lengths: Tensor) -> Tensor:
    """Return (b, 1, 1, k), True where a source token stands."""
    check_ids("(b, k)", source=source)
    real = checked_lengths(lengths, len(source), source.device)
    return padding_mask(real, source.shape[1])[:, None]
