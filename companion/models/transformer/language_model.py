"""A causal language model: the decoder alone, scoring the next word at every place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, overload

import torch
from torch import Tensor, nn

from companion.arrays import check_flag, check_whole
from companion.cache import KVCache
from companion.models._checks import check_ids, check_smoothing, checked_lengths
from companion.models.transformer.config import TransformerConfig
from companion.models.transformer.decoder import Decoder
from companion.models.transformer.embedding import Embedding, Output, check_reach
from companion.models.transformer.states import changes_of, check_step, reordered


class PromptState(NamedTuple):
    """What `LanguageModel.step` carries from token to token.

    Caches are written into: a state that has some serves one step or one reordering, and is then
    spent.

    Attributes:
        last: (b,) the last token of every prompt, which the first step is to read.
        caches: keys and values of the tokens so far; None if they are computed anew at each step.
        tokens: (b, n) tokens so far, padded at the end, if there are no caches.
        lengths: (b,) how many of those are real; None means all.
        changes: how often the caches had changed when this state was made.
        limit: most tokens there may be, if there are no caches.
    """

    last: Tensor
    caches: tuple[KVCache, ...] | None
    tokens: Tensor | None
    lengths: Tensor | None
    changes: int = 0
    limit: int | None = None


class LanguageStep(NamedTuple):
    """One step: (b, vocab_size) logits, the next state, and no weights."""

    logits: Tensor
    state: PromptState
    weights: None


class LanguageModel(nn.Module):
    """Predict each token from those before it (Radford et al., 2019; Touvron et al., 2023).

    Args:
        config: the model's shape. GPT-2 is positions="learned", activation="gelu_tanh" and
            attention_bias=True; Llama is positions="rotary", norm="rms", activation="silu" and
            gated=True, without biases; BLOOM is positions="alibi", embedding_norm=True,
            activation="gelu_tanh" and attention_bias=True; all have embedding_scale=False.

    >>> config = TransformerConfig(vocab_size=11, embed_dim=12, num_heads=3, positions="rotary")
    >>> model = LanguageModel(config).eval()
    >>> model(torch.tensor([[4, 5, 6]])).shape
    torch.Size([1, 3, 11])
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config)
        self.decoder = Decoder(config)
        self.output = Output(config)

    @overload
    def forward(self, tokens: Tensor, *, need_weights: Literal[False] = False) -> Tensor: ...
    @overload
    def forward(
        self, tokens: Tensor, *, need_weights: Literal[True]
    ) -> tuple[Tensor, tuple[Tensor, ...]]: ...
    def forward(
        self, tokens: Tensor, *, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, tuple[Tensor, ...]]:
        """Score the next token at every place.

        Args:
            tokens: (b, n) ids. Padding stands at the end, where no real token looks.
            need_weights: also return the attention.

        Returns:
            (b, n, vocab_size) logits; with `need_weights` also (b, h, n, n) of every block.
        """
        wanted = range(self.config.num_layers) if need_weights else ()
        hidden, weights, _ = self.decoder(self.embedding(tokens), weights_of=wanted)
        logits = self.output(hidden, self.embedding.words)
        if not need_weights:
            return logits
        return logits, tuple(layer for layer in weights if layer is not None)

    if TYPE_CHECKING:
        __call__ = forward

    def loss(
        self, tokens: Tensor, lengths: Tensor | None = None, *, label_smoothing: float = 0.0
    ) -> Tensor:
        """Average the cross-entropy of every token after the first, in nats a token.

        Args:
            tokens: (b, n) ids, n at least 2.
            lengths: (b,) how many of them are real; None means all.
            label_smoothing: probability spread over all words.

        Raises:
            TypeError: ids or lengths that are no integers, or a label_smoothing that is no number.
            ValueError: ids of another shape, not one length a sequence, no token after a first, or
                a label_smoothing outside 0 to 1.
        """
        check_ids(tokens=tokens)
        check_smoothing(label_smoothing)
        if tokens.shape[1] < 2:
            raise ValueError(
                f"tokens: got shape {tuple(tokens.shape)}, wanted (b, n), n at least 2: "
                f"the loss is that of every token after the first"
            )
        logits, targets = self(tokens[:, :-1]), tokens[:, 1:]
        if lengths is not None:
            places = torch.arange(1, tokens.shape[1], device=tokens.device)
            real = places < checked_lengths(lengths, len(tokens), tokens.device)[:, None]
            logits, targets = logits[real], targets[real]
            if not len(targets):
                raise ValueError("lengths: got none above 1, wanted a token after a first")
        return nn.functional.cross_entropy(
            logits.reshape(-1, logits.shape[-1]),
            targets.reshape(-1).long(),
            label_smoothing=label_smoothing,
        )

    @torch.no_grad()
    def start(
        self,
        prompt: Tensor,
        lengths: Tensor | None = None,
        *,
        max_len: int = 100,
        beam_size: int = 1,
        use_cache: bool = True,
    ) -> PromptState:
        """Read every prompt, without gradients, but for its last token: the first step reads it.

        Args:
            prompt: (b, n) ids, padded at the end.
            lengths: (b,) number of tokens, each at least 1; None means n.
            max_len: most steps that will be taken; memory for them is allocated now.
            beam_size: rows a prompt; those of one prompt follow one another.
            use_cache: keep keys and values; without, every step computes all tokens anew.

        Raises:
            TypeError: ids or lengths that are no integers, a number that is not whole, or a
                use_cache that is no bool.
            ValueError: prompts without tokens, not one length a prompt, a number below 1, or more
                tokens than learned positions.
        """
        check_whole(1, max_len=max_len, beam_size=beam_size)
        check_flag(use_cache=use_cache)
        check_ids("(b, n), n above 0", prompt=prompt)
        n = prompt.shape[1]
        check_reach(self.config, n - 1 + max_len)
        if lengths is not None:
            lengths = checked_lengths(lengths, len(prompt), prompt.device)
        prompt = prompt.repeat_interleave(beam_size, 0)
        last, before = prompt[:, -1], None
        if lengths is not None:
            before = (lengths - 1).repeat_interleave(beam_size, 0)
            last = prompt.gather(1, before[:, None])[:, 0]
        if not use_cache:
            return PromptState(last, None, prompt[:, :-1], before, limit=n - 1 + max_len)
        caches = self.decoder.make_caches(len(prompt), n - 1 + max_len)
        self.decoder(self.embedding(prompt[:, :-1]), caches=caches, lengths=before)
        return PromptState(last, caches, None, None, changes_of(caches))

    def step(self, tokens: Tensor, state: PromptState) -> LanguageStep:
        """Read one token a sequence and score the next.

        Args:
            tokens: (b,) ids: `state.last` first, then what was chosen.
            state: from `start` or from the step before; if it has caches, it is spent.

        Raises:
            TypeError: tokens that are no integers.
            ValueError: a state that is spent already, not one token a sequence, or more steps than
                `start` was told of.
        """
        check_step(tokens, len(state.last), state)
        if state.caches is not None:
            x = self.embedding(tokens.unsqueeze(1), offset=state.caches[0].offset)
            hidden = self.decoder(x, caches=state.caches).hidden.select(1, -1)
            state = state._replace(changes=changes_of(state.caches))
        else:
            state = _appended(state, tokens)
            assert state.tokens is not None  # there are no caches
            hidden = self.decoder(self.embedding(state.tokens)).hidden
            hidden = _last(hidden, state.lengths)
        return LanguageStep(self.output(hidden, self.embedding.words), state, None)

    def reorder(self, state: PromptState, indices: Tensor) -> PromptState:
        """Let row i go on from what row indices[i] was: a beam search chose among them.

        Args:
            state: from `step`; if it has caches, it is spent.
            indices: (b,) rows, each of the same prompt as the row that it replaces.

        Raises:
            TypeError: indices that are no integers.
            ValueError: a state that is spent already, or indices of another shape.
        """
        return reordered(state, indices, len(state.last))


def _appended(state: PromptState, new: Tensor) -> PromptState:
    """Put a token behind the real ones of every row."""
    assert state.tokens is not None  # there are no caches
    tokens = torch.cat((state.tokens, new[:, None]), 1)
    if state.lengths is None:
        return state._replace(tokens=tokens)
    tokens = tokens.scatter(1, state.lengths[:, None], new[:, None])
    return state._replace(tokens=tokens, lengths=state.lengths + 1)


def _last(hidden: Tensor, lengths: Tensor | None) -> Tensor:
    """Return what stands at the last real place of every row, (b, e)."""
    if lengths is None:
        return hidden[:, -1]
    return hidden[torch.arange(len(hidden), device=hidden.device), lengths - 1]
