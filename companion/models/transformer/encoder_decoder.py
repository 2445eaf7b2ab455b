"""The Transformer of the paper: read a source sentence, write a target sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, overload

import torch
from torch import Tensor, nn

from companion.cache import KVCache
from companion.contracts import contract
from companion.layers import ProjectedMemory
from companion.masks import padding_mask
from companion.models._checks import check_batch, check_targets
from companion.models.losses import mean_cross_entropy
from companion.models.transformer.config import TransformerConfig
from companion.models.transformer.decoder import Decoder
from companion.models.transformer.embedding import (
    Embedding,
    Output,
    check_length,
)
from companion.models.transformer.encoder import Encoder
from companion.models.transformer.states import (
    changes_of,
    check_reorder,
    check_step,
    reordered,
)

if TYPE_CHECKING:
    from companion.data.batching import Batch


class Encoded(NamedTuple):
    """A source sentence as the decoder sees it.

    Attributes:
        memory: (b, k, e), one vector a source token.
        memories: its keys and values for every decoder block, projected once a sentence.
        mask: (b, 1, 1, k) boolean, True where a source token stands.
    """

    memory: Tensor
    memories: tuple[ProjectedMemory, ...]
    mask: Tensor


class DecodingState(NamedTuple):
    """What `Transformer.step` carries from token to token.

    A step and a reordering write into the caches. A state with caches can therefore be used only
    once; go on with the state that comes back.

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
    """All attention weights of an encoder-decoder, (b, h, q, k) for every block."""

    encoder: tuple[Tensor, ...]
    decoder: tuple[Tensor, ...]
    cross: tuple[Tensor, ...]


@contract()
class Transformer(nn.Module):
    """Translate with attention alone (Vaswani et al., 2017).

    Padding of the source is masked. Padding of the target needs no mask: it stands at the end,
    where no real token attends to it. `companion.decoding` writes with `start` and `step`.

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
        self.source_embedding = Embedding(
            config, shared, size=config.source_size
        )
        self.encoder = Encoder(config, config.depth_of_encoder)
        self.decoder = Decoder(config, cross=True)
        self.output = Output(config)

    @contract(
        matching="source_embedding.words.weight",
        source="ids: b k",
        lengths="lengths: b",
        k="> 0",
    )
    def encode(self, source: Tensor, lengths: Tensor) -> Encoded:
        """Read the source, and project it for every block of the decoder.

        Args:
            source: ids, padded at the end.
            lengths: number of tokens, each at least 1.
        """
        mask = _source_mask(source, lengths)
        memory = self.encoder(self.source_embedding(source), mask=mask).hidden
        return Encoded(memory, self.decoder.project_memory(memory), mask)

    @overload
    def forward(
        self, batch: Batch, *, need_weights: Literal[False] = False
    ) -> Tensor: ...
    @overload
    def forward(
        self, batch: Batch, *, need_weights: Literal[True]
    ) -> tuple[Tensor, Tensor]: ...
    @contract()
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
        """
        check_batch(batch)
        encoded = self.encode(batch.source, batch.source_lengths)
        hidden, _, cross = self.decoder(
            self.target_embedding(batch.target_in),
            encoded.memories,
            memory_mask=encoded.mask,
            weights_of=(self._alignment_layer,) if need_weights else (),
        )
        logits = self.output(hidden, self.target_embedding.words)
        weights = cross[self._alignment_layer]
        return logits if weights is None else (logits, weights.mean(1))

    if TYPE_CHECKING:
        __call__ = forward

    @contract(label_smoothing=">= 0 and <= 1")
    def loss(self, batch: Batch, *, label_smoothing: float = 0.0) -> Tensor:
        """Average the cross-entropy over the target tokens, in nats a token; padding is left out.

        Args:
            batch: a padded batch, with at least one target token.
            label_smoothing: probability that is spread over all words; the paper trains with 0.1.
        """
        check_targets(batch)
        logits, targets = (
            self(batch)[batch.target_mask],
            batch.target_out[batch.target_mask],
        )
        return mean_cross_entropy(
            logits, targets, label_smoothing=label_smoothing
        )

    @torch.no_grad()
    @contract()
    def attention(self, batch: Batch) -> AttentionWeights:
        """Return every weight of every block while the model reads a batch.

        Args:
            batch: a padded batch.
        """
        check_batch(batch)
        mask = _source_mask(batch.source, batch.source_lengths)
        encoded = self.encoder(
            self.source_embedding(batch.source), mask=mask, need_weights=True
        )
        decoded = self.decoder(
            self.target_embedding(batch.target_in),
            self.decoder.project_memory(encoded.hidden),
            memory_mask=mask,
            weights_of=range(self.config.num_layers),
        )
        own, cross = (
            tuple(w for w in weights if w is not None)
            for weights in (decoded.self_weights, decoded.cross_weights)
        )
        return AttentionWeights(encoded.weights, own, cross)

    @torch.no_grad()
    @contract(
        matching="source_embedding.words.weight", source="ids: b k", lengths="lengths: b", k="> 0",
        max_len=">= 1", beam_size=">= 1",
    )  # fmt: skip
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
            source: ids, padded at the end.
            lengths: number of tokens, each at least 1.
            max_len: most steps that will be taken; memory for them is allocated now.
            beam_size: rows for each sentence; they follow one another.
            use_cache: keep keys and values; otherwise every step computes all tokens anew.

        Raises:
            ValueError: more steps than learned positions.
        """
        check_length(self.config, max_len)
        encoded = _repeated(self.encode(source, lengths), beam_size)
        rows = len(encoded.memory)
        if use_cache:
            caches = self.decoder.make_caches(rows, max_len)
            return DecodingState(encoded, caches, None)
        empty = source.new_empty(rows, 0)
        return DecodingState(encoded, None, empty, limit=max_len)

    @contract(tokens="ids: b")
    def step(self, tokens: Tensor, state: DecodingState) -> StepOutput:
        """Read one target token a sentence and score the next.

        Args:
            tokens: ids of the last tokens.
            state: from `start` or from the step before.

        Raises:
            ValueError: a state that was used before, or more steps than `start` was told of.
        """
        check_step(tokens, state, state.encoded[0])
        encoded, caches, before = state.encoded, state.caches, state.tokens
        read, offset = (
            tokens[:, None],
            0 if caches is None else caches[0].offset,
        )
        if before is not None:
            read = torch.cat((before, read), 1)
        hidden, _, cross = self.decoder(
            self.target_embedding(read, offset=offset), encoded.memories,
            memory_mask=encoded.mask, caches=caches, weights_of=(self._alignment_layer,),
        )  # fmt: skip
        weights = cross[self._alignment_layer]
        assert weights is not None  # asked for just above
        logits = self.output(hidden[:, -1], self.target_embedding.words)
        after = state._replace(
            tokens=None if before is None else read, changes=changes_of(caches)
        )
        return StepOutput(logits, after, weights[:, :, -1].mean(1))

    @contract(indices="ids: b")
    def reorder(self, state: DecodingState, indices: Tensor) -> DecodingState:
        """Let row i go on from what row indices[i] was: a beam search chose among them.

        Args:
            state: from `step`.
            indices: rows, each of the same sentence as the row that it replaces.

        Raises:
            ValueError: a state that was used before.
        """
        check_reorder(indices, state, state.encoded[0])
        return reordered(state, indices)

    @property
    def _alignment_layer(self) -> int:
        return self.config.alignment_layer % self.config.num_layers


def _source_mask(source: Tensor, lengths: Tensor) -> Tensor:
    """Return (b, 1, 1, k), True where a source token stands."""
    return padding_mask(lengths.to(source.device), source.shape[1])[:, None]


def _repeated(encoded: Encoded, count: int) -> Encoded:
    """Return encoded sentences with each repeated `count` times in a row."""
    memory, memories, mask = encoded

    def repeated(part: Tensor) -> Tensor:
        return part.repeat_interleave(count, 0)

    projected = tuple(ProjectedMemory(*map(repeated, one)) for one in memories)
    return Encoded(repeated(memory), projected, repeated(mask))
