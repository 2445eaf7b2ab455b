"""A model as a pattern of layers: what each of them mixes, computes and keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from companion.contracts import contract
from companion.models.atlas.experts import ExpertsSpec
from companion.models.atlas.feed_forward import FeedForwardSpec
from companion.models.atlas.kept import INDEXER_KEYS, Kept, bytes_kept
from companion.models.atlas.norms import NormSpec
from companion.models.atlas.streams import StreamsSpec
from companion.models.atlas.token_input import TokenInputSpec

_RMS = NormSpec()


class MixerSpec(Protocol):
    """What every kind of mixer can say of itself: attention, its relatives, a convolution."""

    def keeps(self) -> tuple[Kept, ...]:
        """Return what it keeps of the tokens so far, for the next token."""


@dataclass(frozen=True)
class CountedSpec:
    """A mixer of which only that is known what it keeps.

    Attributes:
        parts: what it keeps of the tokens so far.
        why: the reason why it cannot be built.
    """

    parts: tuple[Kept, ...]
    why: str

    def keeps(self) -> tuple[Kept, ...]:
        """Return what it keeps of the tokens so far, for the next token."""
        return self.parts


@contract(shares=">= 0", chosen_by=">= 0", residual_gate="> 0")
@dataclass(frozen=True)
class LayerSpec:
    """One layer: tokens are mixed, then each is computed with by itself.

    Every part f sits in a residual,
    carry_scale * x + residual_scale * post_norm(f(pre_norm(x))), where a norm that is None is left
    out.

    Attributes:
        mixer: how tokens reach each other; None means not at all.
        beside: a second mixer that reads the same; what both give is added (Falcon-H1).
        feed_forward: what is computed at every position; None means nothing.
        pre_norm: norm of what a part reads.
        post_norm: norm of what it gives.
        feed_forward_post_norm: norm of what the feed-forward layer gives, where it is another.
        residual_gate: temperature t of learned gates on the residual: x becomes a x + b f(x) with
            b = sigmoid(gate / t) and a^2 = 1 - b^2, a number for each feature (Muse Spark); None
            means a = b = 1.
        parallel: both parts read the same normalised x, and both are added to it.
        two_norms: with parallel, each part normalises x by itself (GPT-NeoX).
        residual_scale: factor on what a part gives, one for both or one for each.
        carry_scale: factor on what passes a part by, for each part.
        carries_norm: what passes a part by is the normalised x that it reads (MiniMax-01).
        token_input: vector of the token itself that the layer reads behind its parts; None means
            none. All layers of a model have one, or none has.
        scaled: multiply what the layer gives by a stored number (Gemma 4).
        shares: number of an earlier layer whose keys and values this one reads instead of making
            its own.
        chosen_by: number of an earlier layer whose choice of keys this one takes over; None means
            that it chooses by itself, or not at all.
        streams: residual streams; None means that there is one. All layers of a model have the
            same.
    """

    mixer: MixerSpec | None
    feed_forward: FeedForwardSpec | ExpertsSpec | None
    pre_norm: NormSpec | None = _RMS
    post_norm: NormSpec | None = None
    feed_forward_post_norm: NormSpec | None = None
    residual_gate: float | None = None
    parallel: bool = False
    two_norms: bool = False
    residual_scale: float | tuple[float, float] = 1.0
    carry_scale: tuple[float, float] = (1.0, 1.0)
    carries_norm: bool = False
    token_input: TokenInputSpec | None = None
    scaled: bool = False
    shares: int | None = None
    chosen_by: int | None = None
    beside: MixerSpec | None = None
    streams: StreamsSpec | None = None

    def __post_init__(self) -> None:
        """Refuse what nothing computes."""
        alone = self.mixer is not None and self.shares is None
        if self.beside is not None and not alone:
            raise ValueError(
                "beside: got a second mixer, wanted a first one that shares nothing"
            )
        carries = self.carries_norm or self.carry_scale != (1, 1)
        if self.residual_gate is not None and carries:
            raise ValueError(
                "residual_gate: got one, wanted None with carries_norm or carry_scale"
            )

    def keeps(self) -> tuple[Kept, ...]:
        """Return what the layer itself keeps of the tokens so far."""
        return () if self.shares is not None else self.reads()

    def reads(self) -> tuple[Kept, ...]:
        """Return what the next token reads, kept by this layer or by the one it shares with."""
        mixers = filter(None, (self.mixer, self.beside))
        parts = tuple(part for mixer in mixers for part in mixer.keeps())
        if self.chosen_by is None:
            return parts
        return tuple(part for part in parts if part.what != INDEXER_KEYS)


@contract(vocab_size=">= 1", embed_dim=">= 1", logit_softcap="> 0")
@dataclass(frozen=True)
class ModelSpec:
    """A decoder: an embedding, a pattern of layers, a norm, and a score for every next token.

    Attributes:
        vocab_size: number of ids.
        embed_dim: width e of the residual stream.
        layers: the layers from first to last.
        norm: of what the last layer gives; None means none.
        embedding_scale: factor on the embeddings.
        embedding_norm: norm of the embeddings; None means none.
        logit_scale: factor on the scores.
        logit_softcap: bound on the scores, softcap * tanh(score / softcap).
        tied: score with the embedding itself.
        output_bias: add a number to the score of every id.
    """

    vocab_size: int
    embed_dim: int
    layers: tuple[LayerSpec, ...]
    norm: NormSpec | None = _RMS
    embedding_scale: float = 1.0
    embedding_norm: NormSpec | None = None
    logit_scale: float = 1.0
    logit_softcap: float | None = None
    tied: bool = False
    output_bias: bool = False

    def __post_init__(self) -> None:
        """Refuse layers that do not fit each other, or share with one that is not there."""
        for name in ("streams", "token_input"):
            if len({getattr(layer, name) for layer in self.layers}) > 1:
                raise ValueError(
                    f"layers: got {name} in some, wanted the same in all of them"
                )
        for name, does in (
            ("shares", "makes its own keys and values"),
            ("chosen_by", "chooses by itself"),
        ):
            sources = [getattr(layer, name) for layer in self.layers]
            for number, source in enumerate(sources):
                if source is None:
                    continue
                if source >= number or sources[source] is not None:
                    raise ValueError(
                        f"layers: layer {number} has {name}={source}, wanted an earlier layer "
                        f"that {does}"
                    )

    @property
    def streams(self) -> StreamsSpec | None:
        """The residual streams of all layers; None means that there is one."""
        return self.layers[0].streams if self.layers else None

    def state_bytes(
        self, length: int, batch_size: int = 1, itemsize: int = 2
    ) -> int:
        """Return the bytes of cache and state that all layers keep of texts of so many tokens.

        Args:
            length: tokens read so far.
            batch_size: number of texts.
            itemsize: bytes of a number in the model's own precision.
        """
        parts = (part for layer in self.layers for part in layer.keeps())
        return bytes_kept(parts, length, batch_size, itemsize)
