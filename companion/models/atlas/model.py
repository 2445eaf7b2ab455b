"""A decoder that is built from its specification."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from companion.contracts import contract
from companion.models.atlas.experts import Experts, ExpertsSpec
from companion.models.atlas.feed_forward import FeedForwardSpec, feed_forward
from companion.models.atlas.mixers.block_indexed import (
    BlockIndexed,
    BlockIndexedSpec,
)
from companion.models.atlas.mixers.compressed import Compressed, CompressedSpec
from companion.models.atlas.mixers.differential import (
    DifferentialAttention,
    DifferentialSpec,
)
from companion.models.atlas.mixers.gated_delta import (
    GatedDelta,
    GatedDeltaSpec,
)
from companion.models.atlas.mixers.kda import KimiDelta, KimiDeltaSpec
from companion.models.atlas.mixers.latent import Latent, LatentSpec
from companion.models.atlas.mixers.lightning import Lightning, LightningSpec
from companion.models.atlas.mixers.mamba2 import Mamba2, Mamba2Spec
from companion.models.atlas.mixers.short_conv import ShortConv, ShortConvSpec
from companion.models.atlas.mixers.softmax import Attention, AttentionSpec
from companion.models.atlas.norms import Norm, optional_norm
from companion.models.atlas.residual import ResidualGate
from companion.models.atlas.specs import (
    CountedSpec,
    LayerSpec,
    ModelSpec,
)
from companion.models.atlas.streams import Streams
from companion.models.atlas.token_input import TokenInput, TokenInputs

MIXERS: dict[type, type[nn.Module]] = {
    AttentionSpec: Attention,
    BlockIndexedSpec: BlockIndexed,
    CompressedSpec: Compressed,
    DifferentialSpec: DifferentialAttention,
    GatedDeltaSpec: GatedDelta,
    KimiDeltaSpec: KimiDelta,
    LatentSpec: Latent,
    LightningSpec: Lightning,
    Mamba2Spec: Mamba2,
    ShortConvSpec: ShortConv,
}
"""By kind of specification, the layer that computes it."""

States = tuple[Any, ...]


class TextState(NamedTuple):
    """What `DecoderModel.step` carries from token to token; nothing in it is ever overwritten.

    Attributes:
        last: (b,) the last token of every text, which the first step is to read.
        states: what every layer keeps of the tokens before; None if there are none.
    """

    last: Tensor
    states: States | None


class TextStep(NamedTuple):
    """One step: (b, vocab_size) logits, the next state, and no weights."""

    logits: Tensor
    state: TextState
    weights: None = None


class BesideState(NamedTuple):
    """What a layer with two mixers side by side keeps.

    Attributes:
        first: the state of the one.
        second: the state of the other.
    """

    first: Any
    second: Any


class Layer(nn.Module):
    """Mix tokens, then compute with each of them, both in a residual.

    Args:
        embed_dim: width e of the residual stream.
        spec: what mixes, what computes, and where the norms stand.
    """

    scalar: Tensor | None

    def __init__(self, embed_dim: int, spec: LayerSpec) -> None:
        super().__init__()
        self.spec = spec
        self.mixer = self.mixer_norm = self.mixer_post_norm = None
        self.feed_forward = self.feed_forward_norm = None
        self.feed_forward_post_norm = self.beside = None
        if isinstance(spec.mixer, CountedSpec):
            raise ValueError(spec.mixer.why)
        if spec.mixer is not None:
            given = {} if spec.shares is None else {"shares": True}
            given |= {} if spec.chosen_by is None else {"chosen": True}
            kind = MIXERS[type(spec.mixer)]
            self.mixer = kind(embed_dim, spec.mixer, **given)
            self.mixer_norm = optional_norm(embed_dim, spec.pre_norm)
            self.mixer_post_norm = optional_norm(embed_dim, spec.post_norm)
        if spec.beside is not None:
            self.beside = MIXERS[type(spec.beside)](embed_dim, spec.beside)
        if spec.feed_forward is not None:
            self.feed_forward = _computing(embed_dim, spec.feed_forward)
            if not spec.parallel or spec.two_norms:
                norm = optional_norm(embed_dim, spec.pre_norm)
                self.feed_forward_norm = norm
            behind = spec.feed_forward_post_norm or spec.post_norm
            self.feed_forward_post_norm = optional_norm(embed_dim, behind)
        self.mixer_gate = self.feed_forward_gate = None
        if (temperature := spec.residual_gate) is not None:
            self.mixer_gate = ResidualGate(embed_dim, temperature)
            self.feed_forward_gate = ResidualGate(embed_dim, temperature)
        self.mixer_streams = self.feed_forward_streams = None
        if spec.streams is not None and spec.mixer:
            self.mixer_streams = Streams(embed_dim, spec.streams)
        if spec.streams is not None and spec.feed_forward:
            self.feed_forward_streams = Streams(embed_dim, spec.streams)
        self.token_input = None
        if spec.token_input is not None:
            self.token_input = TokenInput(embed_dim, spec.token_input)
        self.register_buffer("scalar", torch.ones(1) if spec.scaled else None)

    def forward(
        self, x: Tensor, state: Any = None, memory: Any = None, own: Any = None,
        choice: Any = None, tokens: Any = None,
    ) -> tuple[Tensor, Any]:  # fmt: skip
        """Compute (b, n, e) from (b, n, e), and the state that the next tokens need.

        Args:
            x: tokens, or (b, n, N, e) where there are several streams.
            state: what the layer kept of the tokens before; None means that the text begins here.
            memory: keys and values of the layer that this one shares with.
            own: (b, n, p) vectors of the tokens for this layer, where it reads them.
            choice: (b, n, k) the keys that another layer has chosen for this one.
            tokens: (b, n) ids, where experts are looked up by them.
        """
        before = x
        if self.mixer is not None:
            opened, gates, x = _opened(self.mixer_streams, x)
            read = _applied(self.mixer_norm, opened)
            mixed, state = self._mix(read, state, memory, choice)
            mixed = _applied(self.mixer_post_norm, mixed)
            x = self._joined(0, x, read, mixed, gates)
        if self.feed_forward is not None:
            source = before if self.spec.parallel else x
            opened, gates, carried = _opened(self.feed_forward_streams, source)
            read, x = self._read(opened), x if gates is None else carried
            computed = self._computed(read, tokens)
            computed = _applied(self.feed_forward_post_norm, computed)
            x = self._joined(1, x, read, computed, gates)
        if self.token_input is not None:
            x = self.token_input(x, own)
        return (x if self.scalar is None else x * self.scalar), state

    def _mix(
        self, read: Tensor, state: Any, memory: Any, choice: Any
    ) -> tuple[Tensor, Any]:
        """Let tokens reach each other, in one way or in two."""
        assert self.mixer is not None
        if self.beside is None:
            shared = {} if self.spec.shares is None else {"memory": memory}
            chosen = {} if self.spec.chosen_by is None else {"choice": choice}
            mixed, state = self.mixer(read, state, **shared, **chosen)
            return mixed, state
        first, second = state or (None, None)
        mixed, first = self.mixer(read, first)
        other, second = self.beside(read, second)
        return mixed + other, BesideState(first, second)

    def _joined(
        self, part: int, x: Tensor, read: Tensor, given: Tensor, gates: Tensor | None
    ) -> Tensor:  # fmt: skip
        """Add what the mixer (part 0) or the feed-forward layer (part 1) gives of what it read."""
        gate = (self.mixer_gate, self.feed_forward_gate)[part]
        if gate is not None:
            return gate(x, given)
        passing = read if self.spec.carries_norm else x
        scale = self.spec.residual_scale
        factor = scale[part] if isinstance(scale, tuple) else scale
        passing = self.spec.carry_scale[part] * passing
        return _added(passing, factor * given, gates)

    def trim(self, state: Any) -> Any:
        """Forget what no later query can reach."""
        if isinstance(state, BesideState):
            first = _trimmed(self.mixer, state.first)
            return BesideState(first, _trimmed(self.beside, state.second))
        return _trimmed(self.mixer, state)

    def _computed(self, x: Tensor, tokens: Tensor | None) -> Tensor:
        """Compute at every position; some experts are looked up by the token itself."""
        assert self.feed_forward is not None
        looked_up = getattr(self.spec.feed_forward, "looked_up", None)
        given = (x,) if looked_up is None else (x, tokens)
        computed: Tensor = self.feed_forward(*given)
        return computed

    def _read(self, x: Tensor) -> Tensor:
        """Normalise what the feed-forward layer reads."""
        one_norm = self.spec.parallel and not self.spec.two_norms
        norm = self.mixer_norm if one_norm else self.feed_forward_norm
        return _applied(norm, x)

    if TYPE_CHECKING:
        __call__ = forward


@contract()
class DecoderModel(nn.Module):
    """Predict each token from those before it, as a specification says.

    Args:
        spec: the embedding, the pattern of layers, and how words are scored.

    >>> import torch
    >>> from companion.models.atlas import AttentionSpec, FeedForwardSpec
    >>> layer = LayerSpec(AttentionSpec(4, 2, 8), FeedForwardSpec(hidden_dim=24))
    >>> model = DecoderModel(ModelSpec(vocab_size=11, embed_dim=16, layers=(layer, layer)))
    >>> logits, states = model(torch.tensor([[4, 5, 6]]))
    >>> logits.shape, len(states)
    (torch.Size([1, 3, 11]), 2)
    """

    def __init__(self, spec: ModelSpec) -> None:
        super().__init__()
        self.spec = spec
        ids, e = spec.vocab_size, spec.embed_dim
        self.embedding = nn.Embedding(ids, e)
        self.embedding_norm = optional_norm(e, spec.embedding_norm)
        self.token_inputs = self.streams = None
        own = spec.layers[0].token_input if spec.layers else None
        if own is not None:
            self.token_inputs = TokenInputs(ids, e, len(spec.layers), own)
        self.layers = nn.ModuleList(Layer(e, layer) for layer in spec.layers)
        if spec.streams is not None:
            self.streams = Streams(e, spec.streams, reads_only=True)
        self.norm = optional_norm(e, spec.norm)
        self.output = nn.Linear(e, ids, spec.output_bias)
        if spec.tied:
            self.output.weight = self.embedding.weight

    def forward(
        self, tokens: Tensor, states: States | None = None
    ) -> tuple[Tensor, States]:
        """Score the next token at every position.

        Args:
            tokens: (b, n) ids.
            states: what every layer kept of the tokens before; None means that the text begins
                here.

        Returns:
            Logits (b, n, vocab_size), and the states that the next tokens need.
        """
        before = [None] * len(self.layers) if states is None else states
        x = self.embedding(tokens) * self.spec.embedding_scale
        x, owns = _applied(self.embedding_norm, x), None
        if self.token_inputs is not None:
            owns = self.token_inputs(tokens, x)
        if self.spec.streams is not None:
            x = x[..., None, :].expand(-1, -1, self.spec.streams.count, -1)
        after: list[Any] = []
        layers: Iterable[Any] = zip(self.layers, before, strict=True)
        for number, (layer, state) in enumerate(layers):
            source, chooser = layer.spec.shares, layer.spec.chosen_by
            memory = None if source is None else after[source]
            choice = None if chooser is None else after[chooser].choice
            own = None if owns is None else owns[number]
            x, state = layer(x, state, memory, own, choice, tokens)
            after.append(state)
        x = _opened(self.streams, x)[0]
        logits = self.output(_applied(self.norm, x)) * self.spec.logit_scale
        if (bound := self.spec.logit_softcap) is not None:
            logits = bound * (logits / bound).tanh()
        return logits, tuple(map(_kept, self.layers, after))

    @torch.no_grad()
    @contract(
        matching="embedding.weight", prompt="ids: b n", n="> 0", beam_size=">= 1"
    )  # fmt: skip
    def start(self, prompt: Tensor, *, beam_size: int = 1) -> TextState:
        """Read every prompt up to its last token, which the first step reads; no gradients.

        Args:
            prompt: ids, of equal lengths: padding would be read as text.
            beam_size: rows for each prompt; they follow one another.
        """
        prompt = prompt.repeat_interleave(beam_size, 0)
        before = None if prompt.shape[1] == 1 else self(prompt[:, :-1])[1]
        return TextState(prompt[:, -1], before)

    @contract(matching="embedding.weight", tokens="ids: b")
    def step(self, tokens: Tensor, state: TextState) -> TextStep:
        """Read one token a text and score the next.

        Args:
            tokens: ids, `state.last` at the first step, then what was chosen.
            state: from `start` or from the step before.
        """
        logits, states = self(tokens[:, None], state.states)
        return TextStep(logits[:, 0], TextState(tokens, states))

    @contract(indices="ids: b")
    def reorder(self, state: TextState, indices: Tensor) -> TextState:
        """Let row i go on from what row indices[i] was: a beam search chose among them.

        Args:
            state: from `step`.
            indices: rows.
        """
        states = None
        if state.states is not None:
            states = tuple(_rows(part, indices) for part in state.states)
        return TextState(state.last[indices], states)

    if TYPE_CHECKING:
        __call__ = forward


def state_numbers(states: Any) -> int:
    """Count the numbers that states hold."""
    if isinstance(states, Tensor):
        return states.numel()
    return sum(map(state_numbers, states)) if isinstance(states, tuple) else 0


def _rows(state: Any, indices: Tensor) -> Any:
    """Return some rows of the state of a layer, whose tensors all begin with an axis of texts."""
    if isinstance(state, Tensor):
        return state[indices]
    if not isinstance(state, tuple):
        return state
    return type(state)(*(_rows(part, indices) for part in state))


def _kept(layer: Any, state: Any) -> Any:
    """Return what a layer keeps: nothing of what it shares, and nothing that no query reaches."""
    if layer.spec.shares is not None or layer.mixer is None:
        return None
    return layer.trim(state)


def _trimmed(mixer: Any, state: Any) -> Any:
    """Let a mixer forget what no later query can reach, if it can."""
    trim = getattr(mixer, "trim", None)
    return state if trim is None else trim(state)


def _computing(
    embed_dim: int, spec: FeedForwardSpec | ExpertsSpec
) -> nn.Module:
    """Return what a specification says of the feed-forward layer."""
    if isinstance(spec, ExpertsSpec):
        return Experts(embed_dim, spec)
    return feed_forward(embed_dim, spec)


def _opened(
    streams: Streams | None, x: Tensor
) -> tuple[Tensor, Tensor | None, Tensor]:
    """Return what a part reads, gates of what it gives if streams are several, and what stays."""
    return (x, None, x) if streams is None else streams(x)


def _added(x: Tensor, given: Tensor, gates: Tensor | None) -> Tensor:
    """Add what a part gives to the residual stream, or to all of them."""
    if gates is None:
        return x + given
    return x + gates[..., None] * given[..., None, :]


def _applied(norm: Norm | None, x: Tensor) -> Tensor:
    return x if norm is None else norm(x)
