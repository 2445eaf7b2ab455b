"""Recurrent encoder-decoder with no, Bahdanau's or Luong's attention behind one interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, overload

import torch
from torch import Tensor, nn

from companion.contracts import contract
from companion.layers import AdditiveAttention, Attended, LuongAttention
from companion.layers.reading import read_both_ways
from companion.masks import padding_mask
from companion.models._checks import check_batch, check_rows, check_targets
from companion.models.losses import mean_cross_entropy

if TYPE_CHECKING:
    from companion.data.batching import Batch

Recurrent = tuple[Tensor, ...]
"""State of a recurrent cell, each (b, hidden_dim): (h,) of a GRU, (h, c) of an LSTM."""


@contract(
    source_vocab=">= 1", target_vocab=">= 1", embed_dim=">= 1", hidden_dim=">= 2 and even",
    dropout_p=">= 0 and < 1", window=">= 1",
)  # fmt: skip
@dataclass(frozen=True)
class Seq2SeqConfig:
    """Shape of a recurrent encoder-decoder.

    Attributes:
        source_vocab: number of source ids.
        target_vocab: number of target ids.
        embed_dim: width `e` of the embeddings.
        hidden_dim: width of a decoder state and of an encoder annotation; even, because each
            direction of the encoder gives half of an annotation.
        attention: "none" (the context is one vector a sentence), "additive" (Bahdanau et al.,
            2015), "dot", "general" (bilinear) or "concat" (all three Luong et al., 2015).
        query: which decoder state is compared: "previous", before the last word is read, or
            "present", after it. None takes the paper's: "previous" for additive attention,
            "present" for Luong's.
        cell: "gru" or "lstm".
        dropout_p: dropout on the embeddings and on the attentional output.
        window: D of Luong's predictive local attention ("local-p"), the words on either side of
            the position that the query predicts; None looks at the whole sentence.
        input_feeding: whether the cell reads, beside the last word, what attention found: where
            the previous state looks, the context of this step; where the present one does, the
            attentional output of the step before (Luong et al., 2015), at first zeros. None means
            that it does where the previous state looks, as Bahdanau's.
    """

    source_vocab: int
    target_vocab: int
    embed_dim: int = 64
    hidden_dim: int = 128
    attention: Literal["none", "additive", "dot", "general", "concat"] = (
        "additive"
    )
    query: Literal["previous", "present"] | None = None
    cell: Literal["gru", "lstm"] = "gru"
    dropout_p: float = 0.1
    window: int | None = None
    input_feeding: bool | None = None

    @property
    def looks_first(self) -> bool:
        """Whether the query is the previous state: the decoder looks, then reads the last word."""
        if self.query is None:
            return self.attention == "additive"
        return self.query == "previous" and self.attention != "none"

    @property
    def feeds_context(self) -> bool:
        """Whether the cell reads what attention found, beside the last word."""
        if self.input_feeding is None:
            return self.looks_first
        return self.input_feeding

    def __post_init__(self) -> None:
        if self.window is not None and self.attention in ("none", "additive"):
            wanted = f"None for attention {self.attention!r}"
            raise ValueError(f"window: got {self.window}, wanted {wanted}")
        if self.input_feeding and self.attention == "none":
            raise ValueError(
                "input_feeding: got True, wanted None or False for attention 'none'"
            )


class Encoded(NamedTuple):
    """A source sentence as the decoder sees it.

    Attributes:
        memory: (b, k, hidden_dim) annotations, one a source token.
        keys: what attention compares with, projected once a sentence; None without attention.
        mask: (b, 1, k) boolean, True where a source token stands.
        start: the decoder's first state, made from the encoder's last ones.
    """

    memory: Tensor
    keys: Tensor | None
    mask: Tensor
    start: Recurrent


class DecoderState(NamedTuple):
    """What `Seq2Seq.step` carries from token to token.

    Attributes:
        encoded: the source as the decoder sees it.
        recurrent: state of the decoder's cell.
        output: (b, 1, hidden_dim) attentional output of the last step, zeros before the first;
            with input feeding the present state's cell reads it.
    """

    encoded: Encoded
    recurrent: Recurrent
    output: Tensor


class DecoderOutput(NamedTuple):
    """One step: (b, vocabulary) logits, the next state, (b, k) weights or None."""

    logits: Tensor
    state: DecoderState
    weights: Tensor | None


@contract()
class Seq2Seq(nn.Module):
    """Translate with a bidirectional encoder, a recurrent decoder and, if asked, attention.

    At every step the attentional output is tanh(W_c [c; s]), with `s` the decoder's state and `c`
    the context. The kinds differ in `c` alone:

    - "none": `c` is one vector a sentence, the decoder's first state, at every step.
    - "additive": the query is the *previous* state, and `c` also enters the recurrent cell.
    - "dot", "general", "concat": the query is the *present* state; the cell reads only the last
      word.

    The configuration can also set which state looks, and what the cell reads, apart from the kind.

    Args:
        config: the model's shape.
    """

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.config = config
        e, h = config.embed_dim, config.hidden_dim
        rnn = nn.GRU if config.cell == "gru" else nn.LSTM
        self.source_embedding = nn.Embedding(config.source_vocab, e)
        self.target_embedding = nn.Embedding(config.target_vocab, e)
        self.encoder = rnn(e, h // 2, batch_first=True, bidirectional=True)
        parts = 1 if config.cell == "gru" else 2
        self.bridge = nn.ModuleList(nn.Linear(h, h) for _ in range(parts))
        reads = e + h if config.feeds_context else e
        self.decoder = rnn(reads, h, batch_first=True)
        self.attention: AdditiveAttention | LuongAttention | None = None
        if config.attention == "additive":
            self.attention = AdditiveAttention(h, h, h)
        elif config.attention != "none":
            window = config.window
            self.attention = LuongAttention(
                h, h, score=config.attention, window=window, predictive=window is not None
            )  # fmt: skip
        self.combine = nn.Linear(2 * h, h, bias=False)
        self.output = nn.Linear(h, config.target_vocab)
        self.dropout = nn.Dropout(config.dropout_p)

    @contract(
        matching="source_embedding.weight",
        source="ids: b k",
        lengths="lengths: b",
        k="> 0",
    )
    def encode(self, source: Tensor, lengths: Tensor) -> Encoded:
        """Read the source: annotations, keys, mask and the decoder's first state.

        Args:
            source: ids, padded at the end. Padding changes nothing: it is never read.
            lengths: number of tokens, each at least 1; best on the CPU, which reads them.
        """
        lengths = lengths.to("cpu", torch.int64)
        embedded = self.dropout(self.source_embedding(source))
        memory, finals = read_both_ways(self.encoder, embedded, lengths)
        start = tuple(
            torch.tanh(bridge(torch.cat((final[0], final[1]), -1)))
            for bridge, final in zip(self.bridge, finals, strict=True)
        )
        keys = (
            self.attention.project(memory)
            if self.attention is not None
            else None
        )
        mask = padding_mask(lengths.to(source.device), source.shape[1])
        return Encoded(memory, keys, mask, start)

    @overload
    def forward(
        self, batch: Batch, *, need_weights: Literal[False] = False
    ) -> Tensor: ...
    @overload
    def forward(
        self, batch: Batch, *, need_weights: Literal[True]
    ) -> tuple[Tensor, Tensor | None]: ...
    @contract()
    def forward(
        self, batch: Batch, *, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor | None]:
        """Predict every target token from the source and the right words before it.

        Args:
            batch: a padded batch; `target_out` is not read.
            need_weights: also return the attention weights.

        Returns:
            (b, q, vocabulary) logits; with `need_weights` also (b, q, k) weights, None without
            attention.
        """
        check_batch(batch)
        encoded = self.encode(batch.source, batch.source_lengths)
        embedded = self.dropout(self.target_embedding(batch.target_in))
        if self.config.feeds_context:
            attentional, weights = self._unroll(embedded, encoded)
        else:
            states, _ = self.run(embedded, encoded.start)
            queries = states
            if self.config.looks_first:
                first = encoded.start[0][:, None]
                queries = torch.cat((first, states[:, :-1]), 1)
            context, weights = self._look(queries, encoded)
            attentional = self.attentional(context, states)
        logits = self.output(self.dropout(attentional))
        return (logits, weights) if need_weights else logits

    @contract()
    def loss(self, batch: Batch) -> Tensor:
        """Average the cross-entropy over the target tokens, in nats a token; padding is left out.

        Args:
            batch: a padded batch, with at least one target token.
        """
        check_targets(batch)
        return mean_cross_entropy(
            self(batch)[batch.target_mask], batch.target_out[batch.target_mask]
        )

    @contract(
        matching="source_embedding.weight", source="ids: b k", lengths="lengths: b", k="> 0",
        max_len=">= 1", beam_size=">= 1",
    )  # fmt: skip
    def start(
        self,
        source: Tensor,
        lengths: Tensor,
        *,
        max_len: int | None = None,
        beam_size: int = 1,
    ) -> DecoderState:
        """Encode the source and return the state before the first target token.

        Args:
            source: ids, padded at the end.
            lengths: number of tokens, as for `encode`.
            max_len: most steps that will be taken. A recurrent state does not grow: any number
                will do.
            beam_size: rows a sentence; those of one sentence follow one another.
        """
        memory, keys, mask, start = self.encode(source, lengths)
        encoded = Encoded(
            memory.repeat_interleave(beam_size, 0),
            None if keys is None else keys.repeat_interleave(beam_size, 0),
            mask.repeat_interleave(beam_size, 0),
            tuple(part.repeat_interleave(beam_size, 0) for part in start),
        )
        return _begun(encoded)

    @contract(tokens="ids: b")
    def step(self, tokens: Tensor, state: DecoderState) -> DecoderOutput:
        """Read one target token a sentence and score the next.

        Args:
            tokens: ids of the last tokens.
            state: from `start` or from the step before.
        """
        check_rows("tokens", tokens, state.recurrent[0])
        embedded = self.dropout(self.target_embedding(tokens))[:, None]
        state, weights = self._advance(embedded, state)
        logits = self.output(self.dropout(state.output))[:, 0]
        return DecoderOutput(
            logits, state, None if weights is None else weights[:, 0]
        )

    @contract(indices="ids: b")
    def reorder(self, state: DecoderState, indices: Tensor) -> DecoderState:
        """Let row i go on from what row indices[i] was: a beam search chose among them.

        Args:
            state: from `step`.
            indices: rows, each of the same sentence as the row that it replaces.
        """
        check_rows("indices", indices, state.recurrent[0])
        recurrent = tuple(
            part.index_select(0, indices) for part in state.recurrent
        )
        return DecoderState(
            state.encoded, recurrent, state.output.index_select(0, indices)
        )

    def _unroll(
        self, embedded: Tensor, encoded: Encoded
    ) -> tuple[Tensor, Tensor | None]:
        """Go through the target word by word: each input depends on the step before."""
        state, outputs, weights = _begun(encoded), [], []
        for word in torch.split(embedded, 1, 1):
            state, row = self._advance(word, state)
            outputs.append(state.output)
            weights.append(row)
        rows = [row for row in weights if row is not None]
        return torch.cat(outputs, 1), torch.cat(rows, 1)

    def _advance(
        self, embedded: Tensor, state: DecoderState
    ) -> tuple[DecoderState, Tensor | None]:
        """Advance by one word, (b, 1, e): the new state and the weights (b, 1, k)."""
        encoded, recurrent, output = state
        if self.config.looks_first:
            context, weights = self._look(recurrent[0][:, None], encoded)
            states, recurrent = self.run(
                self._inputs(embedded, context), recurrent
            )
        else:
            states, recurrent = self.run(
                self._inputs(embedded, output), recurrent
            )
            context, weights = self._look(states, encoded)
        return DecoderState(
            encoded, recurrent, self.attentional(context, states)
        ), weights

    def _inputs(self, embedded: Tensor, found: Tensor) -> Tensor:
        """Return what the cell reads: the word, (b, 1, e), and with it what attention found."""
        return (
            torch.cat((embedded, found), -1)
            if self.config.feeds_context
            else embedded
        )

    def _look(
        self, query: Tensor, encoded: Encoded
    ) -> tuple[Tensor, Tensor | None]:
        """Return the context of every query, (b, q, hidden_dim), and its weights (b, q, k)."""
        if self.attention is None or encoded.keys is None:
            return encoded.start[0][:, None].expand_as(query), None
        attended: Attended = self.attention(
            query,
            encoded.keys,
            encoded.memory,
            mask=encoded.mask,
            need_weights=True,
        )
        return attended

    def attentional(self, context: Tensor, states: Tensor) -> Tensor:
        """Join (b, q, hidden_dim) contexts and states: tanh(W_c [c; s])."""
        return torch.tanh(self.combine(torch.cat((context, states), -1)))

    def run(
        self, inputs: Tensor, recurrent: Recurrent
    ) -> tuple[Tensor, Recurrent]:
        """Run the recurrent cell over (b, q, .) inputs, from one state to the next."""
        hidden = tuple(part[None].contiguous() for part in recurrent)
        first = hidden if len(hidden) > 1 else hidden[0]
        states, last = self.decoder(inputs, first)
        parts = last if isinstance(last, tuple) else (last,)
        return states, tuple(part[0] for part in parts)


def _begun(encoded: Encoded) -> DecoderState:
    """Return the decoder's state before the first target token."""
    return DecoderState(
        encoded, encoded.start, torch.zeros_like(encoded.start[0])[:, None]
    )
