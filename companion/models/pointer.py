"""The pointer-generator: a decoder that generates words and copies words of its source."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Literal, NamedTuple, overload

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.contracts import contract
from companion.layers import Attended
from companion.models._checks import check_batch, check_rows, check_targets
from companion.models.seq2seq import Encoded, Recurrent, Seq2Seq, Seq2SeqConfig

if TYPE_CHECKING:
    from companion.data.batching import Batch

UNKNOWN_ID = 3
"""What an id beyond the vocabulary is read as: the `unk_id` of every `Vocabulary`."""


@contract(
    p_vocab="b q V",
    weights="b q k",
    p_gen="b q",
    source="ids: b k",
    size=">= 1",
)
def final_distribution(
    p_vocab: Tensor, weights: Tensor, p_gen: Tensor, source: Tensor, size: int
) -> Tensor:
    """Mix what is generated with what is copied, word by word (See et al., 2017, equation 9).

    P(w) = p_gen P_vocab(w) + (1 - p_gen) (sum of the weights of the source positions of w).

    Args:
        p_vocab: probabilities of the vocabulary's words.
        weights: attention, 0 at padding.
        p_gen: probability of generating.
        source: ids; from V on, unknown words of the sentence.
        size: number of ids, at least V.

    Returns:
        (b, q, size) probabilities.

    >>> final_distribution(
    ...     torch.tensor([[[0.8, 0.2]]]), torch.tensor([[[0.3, 0.7]]]),
    ...     torch.tensor([[0.5]]), torch.tensor([[1, 2]]), size=3,
    ... )
    tensor([[[0.4000, 0.2500, 0.3500]]])
    """
    known = p_vocab.shape[-1]
    if size < known:
        raise ValueError(
            f"size: got {size}, wanted at least {known}, the words of p_vocab"
        )
    generated = F.pad(p_gen[..., None] * p_vocab, (0, size - known))
    copied = (1 - p_gen[..., None]) * weights
    return generated.scatter_add(-1, source[:, None].expand_as(copied), copied)


@contract(weights="... q k")
def coverage_loss(weights: Tensor) -> Tensor:
    """Sum the attention that comes again: sum_i min(a_i, c_i) (See et al., 2017, equation 12).

    The coverage c of a step is the sum of the weights of the steps before.

    Args:
        weights: attention, one row a step.

    Returns:
        (..., q), each from 0 to 1.

    >>> coverage_loss(torch.tensor([[1.0, 0.0], [0.25, 0.75], [0.0, 1.0]]))
    tensor([0.0000, 0.2500, 0.7500])
    """
    before = weights.cumsum(-2) - weights
    return torch.minimum(weights, before).sum(-1)


class Mixture(NamedTuple):
    """What a word comes from.

    Attributes:
        p_vocab: (b, q, V) probabilities of the vocabulary's words.
        p_gen: (b, q) probability of generating.
        weights: (b, q, k) attention.
    """

    p_vocab: Tensor
    p_gen: Tensor
    weights: Tensor

    def distribution(self, source: Tensor, size: int) -> Tensor:
        """Return the final distribution (b, q, size) over the ids of a source."""
        return final_distribution(
            self.p_vocab, self.weights, self.p_gen, source, size
        )

    @contract(source="ids: b k", words="ids: b q")
    def copied_share(self, source: Tensor, words: Tensor) -> Tensor:
        """Return how much of the probability of (b, q) words was copied, from 0 to 1.

        Args:
            source: ids of the source.
            words: ids, each of some probability.
        """
        same = source[:, None] == words[..., None]
        copied = (1 - self.p_gen) * (self.weights * same).sum(-1)
        known = words < self.p_vocab.shape[-1]
        readable = words.where(known, 0)[..., None]
        generated = (
            self.p_gen * self.p_vocab.gather(-1, readable)[..., 0] * known
        )
        return copied / (copied + generated)


class PointerState(NamedTuple):
    """What `PointerGenerator.step` carries from token to token.

    Attributes:
        encoded: the source as the decoder sees it.
        recurrent: state of the decoder's cell.
        source: (b, k) ids of the source.
        coverage: (b, k) sum of the weights of all steps before.
        size: number of ids that can be written.
    """

    encoded: Encoded
    recurrent: Recurrent
    source: Tensor
    coverage: Tensor
    size: int


class PointerOutput(NamedTuple):
    """One step: (b, size) log-probabilities, the next state and (b, k) weights."""

    logits: Tensor
    state: PointerState
    weights: Tensor


@contract(coverage_weight=">= 0")
class PointerGenerator(nn.Module):
    """Write a summary, each word generated or copied (See et al., 2017).

    At step t the decoder's state s and the context c make two things: a distribution over the
    vocabulary, as in `Seq2Seq`, and the probability of using it,
    p_gen = sigmoid(w_c . c + w_s . s + w_x . x + b), x being the embedding of the word before. Else
    a position of the source is drawn by attention, and its word is copied.

    Ids from `config.source_vocab` on stand for the unknown words of one sentence, numbered in the
    order in which they come; `collate(..., copying=True)` makes them. The embeddings read all of
    them as `<unk>`.

    With coverage, the sum of all weights so far enters the keys of attention, position by
    position, and the loss grows by the attention that a word gives where others gave it before.

    Args:
        config: one vocabulary for both sides, attention, and the present state as its query.
        coverage: whether attention knows where it was.
        coverage_weight: of the coverage loss beside the other.

    >>> model = PointerGenerator(Seq2SeqConfig(9, 9, attention="general"))
    >>> state = model.start(torch.tensor([[4, 9, 5, 10]]), torch.tensor([4]))
    >>> model.step(torch.tensor([1]), state).logits.shape  # the two unknown words included
    torch.Size([1, 11])
    """

    def __init__(
        self,
        config: Seq2SeqConfig,
        *,
        coverage: bool = False,
        coverage_weight: float = 1.0,
    ) -> None:
        super().__init__()
        base = Seq2Seq(config)
        if base.attention is None:
            raise ValueError(
                "config.attention: got 'none', wanted one that can point"
            )
        if config.looks_first:
            raise ValueError("config.query: got 'previous', wanted 'present'")
        if config.feeds_context:
            raise ValueError(
                "config.input_feeding: got True, wanted None or False"
            )
        if config.source_vocab != config.target_vocab:
            raise ValueError(
                f"config.target_vocab: got {config.target_vocab}, wanted "
                f"{config.source_vocab}, that of the source, which copying shares"
            )
        self.config, self.coverage = config, coverage
        self.coverage_weight = coverage_weight
        self.base, self.attention = base, base.attention
        e, h = config.embed_dim, config.hidden_dim
        self.switch = nn.Linear(2 * h + e, 1)
        # Zero: a model to which coverage is added begins as it was without.
        self.coverage_vector = nn.Parameter(
            torch.zeros(self.attention.projected_dim)
        )

    def extra_repr(self) -> str:
        """Say what the configuration does not."""
        return (
            f"coverage={self.coverage}, coverage_weight={self.coverage_weight}"
        )

    def covered(self, coverage_weight: float = 1.0) -> PointerGenerator:
        """Return a copy that keeps coverage, to be trained further.

        See et al. (2017) add coverage to a model that has been trained without.
        """
        other = copy.deepcopy(self)
        other.coverage, other.coverage_weight = True, coverage_weight
        return other

    @contract(source="ids: b k", lengths="lengths: b", k="> 0")
    def encode(self, source: Tensor, lengths: Tensor) -> Encoded:
        """Read the source, its unknown words as `<unk>`; as `Seq2Seq.encode`."""
        return self.base.encode(self._known(source), lengths)

    @contract()
    def mixture(self, batch: Batch) -> Mixture:
        """Say what every target word comes from, after the right words before it.

        Args:
            batch: a padded batch for copying; `target_out` is not read.
        """
        check_batch(batch)
        encoded = self.encode(batch.source, batch.source_lengths)
        embedded = self._embed(batch.target_in)
        states, _ = self.base.run(embedded, encoded.start)
        if self.coverage:
            context, weights = self._cover(states, encoded)
        else:
            context, weights = self._look(states, encoded)
        return self._mix(embedded, states, context, weights)

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
        """Predict every target word from the source and the right words before it.

        Args:
            batch: a padded batch for copying; `target_out` is not read.
            need_weights: also return the attention weights.

        Returns:
            (b, q, size) log-probabilities; with `need_weights` also (b, q, k) weights.
        """
        mixture = self.mixture(batch)
        size = self._size(batch.source)
        logits = mixture.distribution(batch.source, size).log()
        return (logits, mixture.weights) if need_weights else logits

    @contract()
    def loss(self, batch: Batch) -> Tensor:
        """Average -log P(word) over the target, in nats a token, plus the coverage loss if asked.

        Args:
            batch: a padded batch for copying, with at least one target word.
        """
        check_targets(batch)
        mixture, words = self.mixture(batch), batch.target_out
        size = self._size(batch.source, words)
        probability = mixture.distribution(batch.source, size)
        probability = probability.gather(-1, words[..., None])[..., 0]
        # A word of probability 0 has no finite loss, and 1e-12 is far below what training meets.
        loss = -probability[batch.target_mask].clamp_min(1e-12).log().mean()
        if self.coverage:
            repeated = coverage_loss(mixture.weights)[batch.target_mask]
            loss = loss + self.coverage_weight * repeated.mean()
        return loss

    @contract(
        source="ids: b k",
        lengths="lengths: b",
        k="> 0",
        max_len=">= 1",
        beam_size=">= 1",
    )
    def start(
        self,
        source: Tensor,
        lengths: Tensor,
        *,
        max_len: int | None = None,
        beam_size: int = 1,
    ) -> PointerState:
        """Encode the source and return the state before the first word; as `Seq2Seq.start`.

        Args:
            source: ids, padded at the end.
            lengths: number of tokens.
            max_len: most steps that will be taken; any number will do.
            beam_size: rows a sentence; those of one sentence follow one another.
        """
        begun = self.base.start(
            self._known(source), lengths, max_len=max_len, beam_size=beam_size
        )
        source = source.repeat_interleave(beam_size, 0)
        coverage = begun.encoded.memory.new_zeros(source.shape)
        size = self._size(source)
        return PointerState(
            begun.encoded, begun.recurrent, source, coverage, size
        )

    @contract(tokens="ids: b")
    def step(self, tokens: Tensor, state: PointerState) -> PointerOutput:
        """Read one word a sentence and score the next.

        Args:
            tokens: ids of the last words.
            state: from `start` or from the step before.
        """
        check_rows("tokens", tokens, state.source)
        embedded = self._embed(tokens[:, None])
        states, recurrent = self.base.run(embedded, state.recurrent)
        context, weights = self._look(states, state.encoded, state.coverage)
        mixture = self._mix(embedded, states, context, weights)
        logits = mixture.distribution(state.source, state.size).log()[:, 0]
        weights = weights[:, 0]
        next_state = state._replace(
            recurrent=recurrent, coverage=state.coverage + weights
        )
        return PointerOutput(logits, next_state, weights)

    @contract(indices="ids: b")
    def reorder(self, state: PointerState, indices: Tensor) -> PointerState:
        """Let row i go on from what row indices[i] was: a beam search chose among them.

        Args:
            state: from `step`.
            indices: rows, each of the same sentence as the row that it replaces.
        """
        check_rows("indices", indices, state.source)
        coverage, *recurrent = (
            part.index_select(0, indices)
            for part in (state.coverage, *state.recurrent)
        )
        return state._replace(recurrent=tuple(recurrent), coverage=coverage)

    def _look(
        self, states: Tensor, encoded: Encoded, coverage: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return contexts (b, q, h) and weights (b, q, k); coverage (b, k) is that of one step."""
        keys = encoded.keys
        assert keys is not None  # `base` has attention
        if self.coverage and coverage is not None:
            keys = keys + coverage[..., None] * self.coverage_vector
        attended: Attended = self.attention(
            states, keys, encoded.memory, mask=encoded.mask, need_weights=True
        )
        return attended

    def _cover(
        self, states: Tensor, encoded: Encoded
    ) -> tuple[Tensor, Tensor]:
        """Look state by state, each knowing how much attention those before it gave."""
        coverage = encoded.memory.new_zeros(encoded.memory.shape[:2])
        contexts, rows = [], []
        for state in torch.split(states, 1, 1):
            context, weights = self._look(state, encoded, coverage)
            coverage = coverage + weights[:, 0]
            contexts.append(context)
            rows.append(weights)
        return torch.cat(contexts, 1), torch.cat(rows, 1)

    def _mix(
        self,
        embedded: Tensor,
        states: Tensor,
        context: Tensor,
        weights: Tensor,
    ) -> Mixture:
        attentional = self.base.dropout(self.base.attentional(context, states))
        p_vocab = self.base.output(attentional).softmax(-1)
        joined = torch.cat((context, states, embedded), -1)
        p_gen = torch.sigmoid(self.switch(joined))[..., 0]
        return Mixture(p_vocab, p_gen, weights)

    def _embed(self, tokens: Tensor) -> Tensor:
        embedded: Tensor = self.base.dropout(
            self.base.target_embedding(self._known(tokens))
        )
        return embedded

    def _known(self, ids: Tensor) -> Tensor:
        return ids.where(ids < self.config.source_vocab, UNKNOWN_ID)

    def _size(self, *ids: Tensor) -> int:
        sizes = (int(tensor.max()) + 1 for tensor in ids)
        return max(self.config.source_vocab, *sizes)
