"""A causal language model: a decoder alone, which scores the next token at every position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import torch
from torch import Tensor, nn

from companion.cache import KVCache
from companion.contracts import contract
from companion.layers import MultiHeadAttention
from companion.masks import padding_mask
from companion.models.losses import mean_cross_entropy
from companion.models.transformer.config import TransformerConfig
from companion.models.transformer.decoder import Decoder
from companion.models.transformer.embedding import (
    Embedding,
    Output,
    check_length,
)
from companion.models.transformer.own_attention import simply_called
from companion.models.transformer.states import (
    changes_of,
    check_reorder,
    check_step,
    reordered,
)


class PromptState(NamedTuple):
    """What `LanguageModel.step` carries from token to token.

    A step and a reordering write into the caches. A state with caches can therefore be used only
    once; go on with the state that comes back.

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
    weights: None = None


@contract()
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
    def forward(
        self, tokens: Tensor, *, need_weights: Literal[False] = False
    ) -> Tensor: ...
    @overload
    def forward(
        self, tokens: Tensor, *, need_weights: Literal[True]
    ) -> tuple[Tensor, tuple[Tensor, ...]]: ...
    @contract(matching="embedding.words.weight", tokens="ids: b n")
    def forward(
        self, tokens: Tensor, *, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, tuple[Tensor, ...]]:
        """Score the next token at every position.

        Args:
            tokens: ids. Padding stands at the end, where no real token attends to it.
            need_weights: also return the attention weights.

        Returns:
            (b, n, vocab_size) logits; with `need_weights` also (b, h, n, n) of every block.
        """
        blocks = range(self.config.num_layers) if need_weights else ()
        hidden, weights, _ = self.decoder(
            self.embedding(tokens), weights_of=blocks
        )
        logits = self.output(hidden, self.embedding.words)
        if not need_weights:
            return logits
        return logits, tuple(w for w in weights if w is not None)

    if TYPE_CHECKING:
        __call__ = forward

    @contract(
        matching="embedding.words.weight", tokens="ids: b n", n=">= 2", lengths="lengths: b",
        label_smoothing=">= 0 and <= 1",
    )  # fmt: skip
    def loss(
        self,
        tokens: Tensor,
        lengths: Tensor | None = None,
        *,
        label_smoothing: float = 0.0,
    ) -> Tensor:
        """Average the cross-entropy of every token after the first, in nats a token.

        Args:
            tokens: ids, padded at the end.
            lengths: how many of them are real; None means all.
            label_smoothing: probability that is spread over all words.

        Raises:
            ValueError: no sequence has a token after the first.
        """
        logits, targets = self(tokens[:, :-1]), tokens[:, 1:]
        if lengths is not None:
            real = padding_mask(lengths.to(tokens.device), tokens.shape[1])[
                :, 0, 1:
            ]
            logits, targets = logits[real], targets[real]
            if not len(targets):
                raise ValueError(
                    "lengths: got none above 1, wanted a token after the first"
                )
        return mean_cross_entropy(
            logits.flatten(0, -2),
            targets.flatten(),
            label_smoothing=label_smoothing,
        )

    @torch.no_grad()
    @contract(
        matching="embedding.words.weight", prompt="ids: b n", n="> 0", lengths="lengths: b",
        max_len=">= 1", beam_size=">= 1",
    )  # fmt: skip
    def start(
        self,
        prompt: Tensor,
        lengths: Tensor | None = None,
        *,
        max_len: int = 100,
        beam_size: int = 1,
        use_cache: bool = True,
        caches: Sequence[KVCache] | None = None,
    ) -> PromptState:
        """Read every prompt up to its last token, which the first step reads; no gradients.

        Args:
            prompt: ids, padded at the end.
            lengths: number of tokens, each at least 1; None means n.
            max_len: most steps that will be taken; memory for them is allocated now.
            beam_size: rows for each prompt; they follow one another.
            use_cache: keep keys and values; otherwise every step computes all tokens anew.
            caches: of an earlier text, which began with the same tokens: `KVCache.cut` them to
                these, and they are not read again. They are written into.

        Raises:
            ValueError: more tokens than learned positions or than the caches have room for, or
                caches that hold more than the prompt before its last token.
        """
        limit = prompt.shape[1] - 1 + max_len
        check_length(self.config, limit)
        prompt = prompt.repeat_interleave(beam_size, 0)
        last, before = prompt[:, -1], None
        if lengths is not None:
            before = lengths.to(prompt.device, torch.int64) - 1
            before = before.repeat_interleave(beam_size)
            last = prompt.gather(1, before[:, None])[:, 0]
        if not use_cache:
            return PromptState(last, None, prompt[:, :-1], before, limit=limit)
        if caches is None:
            caches = self.decoder.make_caches(len(prompt), limit)
        if not isinstance(caches, list | tuple) or not all(
            isinstance(one, KVCache) for one in caches
        ):
            came = type(caches).__name__
            raise TypeError(f"caches: got {came}, wanted a KVCache a block")
        held, room = caches[0].length, caches[0].max_len
        most = prompt.shape[1] - 1
        if held > most or (room is not None and room < limit):
            raise ValueError(
                f"caches: got {held} tokens and room for {room}, wanted at most {most}, all of the "
                f"prompt but its last, and room for {limit}"
            )
        if held < most:
            read = self.embedding(prompt[:, held:-1], offset=held)
            self.decoder(read, caches=caches, lengths=before)
        return PromptState(last, tuple(caches), None, None, changes_of(caches))

    @contract(tokens="ids: b")
    def step(self, tokens: Tensor, state: PromptState) -> LanguageStep:
        """Read one token a sequence and score the next.

        Args:
            tokens: ids, `state.last` at the first step, then what was chosen.
            state: from `start` or from the step before.

        Raises:
            ValueError: a state that was used before, or more steps than `start` was told of.
        """
        check_step(tokens, state, state.last)
        if state.caches is None:
            return self._step_without_caches(tokens, state)
        x = self.embedding(tokens.unsqueeze(1), offset=state.caches[0].offset)
        hidden = self.decoder(x, caches=state.caches).hidden
        logits = self.output(hidden.squeeze(1), self.embedding.words)
        return LanguageStep(
            logits, state._replace(changes=changes_of(state.caches))
        )

    def _step_without_caches(
        self, new: Tensor, state: PromptState
    ) -> LanguageStep:
        """Add a token behind the real ones of every row, and read all of them again."""
        assert state.tokens is not None  # a state has tokens or caches
        tokens = torch.cat((state.tokens, new[:, None]), 1)
        lengths = state.lengths
        if lengths is None:
            last = self.decoder(self.embedding(tokens)).hidden[:, -1]
        else:
            tokens = tokens.scatter(1, lengths[:, None], new[:, None])
            hidden = self.decoder(self.embedding(tokens)).hidden
            last = hidden.take_along_dim(lengths[:, None, None], 1)[:, 0]
            lengths = lengths + 1
        logits = self.output(last, self.embedding.words)
        return LanguageStep(
            logits, state._replace(tokens=tokens, lengths=lengths)
        )

    @contract(indices="ids: b")
    def reorder(self, state: PromptState, indices: Tensor) -> PromptState:
        """Let row i go on from what row indices[i] was: a beam search chose among them.

        Args:
            state: from `step`.
            indices: rows, each of the same prompt as the row that it replaces.

        Raises:
            ValueError: a state that was used before.
        """
        check_reorder(indices, state, state.last)
        return reordered(state, indices)

    def with_attention(
        self,
        attention: Callable[..., Any],
        *,
        repeat_kv: bool = True,
        arrays: Literal["torch", "numpy"] = "torch",
    ) -> LanguageModel:
        """Return this model with another attention in every layer; the weights are shared.

        Args:
            attention: every layer calls attention(query, key, value, mask), for a whole prompt and
                for one token after the other, and wants (b, h, q, d) back. The query is
                (b, h, q, d), key and value are (b, h, k, d), both turned by their positions, and
                nothing is scaled. The k keys are those of all tokens so far, the q queries those
                of the last q of them. The mask is boolean, (q, k), or (b, 1, q, k) for prompts of
                unequal length, True = may attend: key j for query i if j <= i + k - q. Where
                positions are a bias on the scores, it is that bias instead, -inf where nothing
                may be attended to. Whoever asks the model for its weights makes it tell
                need_weights=True, and output and weights (b, h, q, k) are wanted.
            repeat_kv: repeat key and value heads that several query heads share. False passes
                (b, g, k, d); query head i then belongs to key head i // (h / g).
            arrays: "numpy" passes NumPy's arrays, and wants one back.

        Raises:
            ValueError: when the model runs, an output of another shape.

        >>> from companion import scaled_dot_product_attention
        >>> model = LanguageModel(TransformerConfig(vocab_size=11, embed_dim=12, num_heads=3))
        >>> same = model.eval().with_attention(scaled_dot_product_attention, arrays="numpy")
        >>> tokens = torch.tensor([[4, 5, 6]])
        >>> torch.allclose(model(tokens), same(tokens), atol=1e-6)
        True
        """
        shared = chain(self.parameters(), self.buffers())
        model = deepcopy(self, {id(tensor): tensor for tensor in shared})
        called = simply_called(
            attention, repeat=repeat_kv, as_numpy=arrays == "numpy"
        )
        for part in model.modules():
            if isinstance(part, MultiHeadAttention):
                part.attention_fn = called
        return model
