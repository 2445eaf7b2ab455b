"""The shape of a Transformer: one frozen set of choices, checked where it is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from companion.contracts import contract
from companion.layers.feed_forward import Activation
from companion.positions import RotaryScaling

Positions = Literal[
    "sinusoidal", "learned", "rotary", "alibi", "relative", "none"
]
NormOrder = Literal["pre", "post"]
Tied = Literal["none", "output", "all"]


@contract(
    vocab_size=">= 1", source_vocab=">= 1", embed_dim=">= 1", num_heads=">= 1", num_kv_heads=">= 1",
    head_dim=">= 1", hidden_dim=">= 1", num_layers=">= 1", encoder_layers=">= 1", max_len=">= 1",
    rotary_base="> 1", relative_buckets=">= 4", norm_eps="> 0", num_types=">= 0",
    dropout_p=">= 0 and < 1", attention_dropout_p=">= 0 and < 1",
    feed_forward_dropout_p=">= 0 and < 1",
)  # fmt: skip
@dataclass(frozen=True)
class TransformerConfig:
    """Shape of an encoder, a decoder or both.

    The defaults are a small version of the paper's model (Vaswani et al., 2017), except for the
    order of the norms: the paper normalises after every sub-layer, models of today normalise
    before it (Xiong et al., 2020).

    Attributes:
        vocab_size: number of ids; in an encoder-decoder, of target ids.
        source_vocab: number of source ids of an encoder-decoder; None means vocab_size.
        embed_dim: width `e` of the embeddings and of the residual stream.
        num_heads: query heads `h` of every attention.
        num_kv_heads: key and value heads `g`, a divisor of h; None means h.
        head_dim: width `d` of a head; None means e / h.
        hidden_dim: width between the projections of a feed-forward layer; None means 4 e.
        num_layers: blocks; in an encoder-decoder, of its decoder.
        encoder_layers: blocks of the encoder in an encoder-decoder; None means num_layers.
        positions: how the model knows the order of its tokens. "sinusoidal" and "learned"
            encodings are added to the embeddings; "rotary" rotates the queries and keys of
            self-attention; "alibi" subtracts a penalty that grows with the distance from its
            scores; "relative" adds a learned number for each distance to them; with "none" only a
            causal mask tells tokens apart.
        max_len: longest sequence for "learned" positions; the other kinds have no limit.
        rotary_base: ratio of the rotary frequencies.
        rotary_scaling: rescaling of the rotary frequencies for longer sequences.
        relative_buckets: number of buckets of distances, each with a learned number for every
            head (Raffel et al., 2020); an encoder uses half of them for either direction.
        relative_max_distance: distance from which on all distances share the last bucket.
        norm_order: "pre" is x + f(norm(x)), "post" is norm(x + f(x)).
        norm: "layer" (Ba et al., 2016) or "rms" (Zhang and Sennrich, 2019), which has no mean and
            no bias.
        norm_eps: number that a norm adds to the variance.
        final_norm: normalise the output of the last block; None means only for "pre", whose blocks
            do not end with a norm.
        embedding_norm: normalise the sum of the embeddings, as BERT does.
        activation: of the feed-forward layers, one of those that `FeedForward` knows.
        gated: feed-forward layers with a gate (Shazeer, 2020).
        attention_bias: whether the projections of attention have biases.
        feed_forward_bias: whether the projections of the feed-forward layers have biases.
        embedding_scale: multiply word embeddings by sqrt(e), as the paper does.
        tied: which weights are shared. With "output" the output projection is the embedding of the
            words that it scores (Press and Wolf, 2017); with "all" it is the source embedding too;
            with "none" each has its own.
        num_types: number of segment embeddings; BERT has two.
        dropout_p: dropout on the sum of the embeddings and on every sub-layer's output, as in the
            paper.
        attention_dropout_p: dropout on attention weights.
        feed_forward_dropout_p: dropout after the activation.
        alignment_layer: decoder block whose cross-attention, averaged over its heads, an
            encoder-decoder returns as its weights. Garg et al. (2019) measured that the last block
            but one aligns words best.

    >>> TransformerConfig(vocab_size=11, embed_dim=12, num_heads=3).width_of_head
    4
    """

    vocab_size: int
    source_vocab: int | None = None
    embed_dim: int = 64
    num_heads: int = 4
    num_kv_heads: int | None = None
    head_dim: int | None = None
    hidden_dim: int | None = None
    num_layers: int = 2
    encoder_layers: int | None = None
    positions: Positions = "sinusoidal"
    max_len: int = 512
    rotary_base: float = 10_000.0
    rotary_scaling: RotaryScaling | None = None
    relative_buckets: int = 32
    relative_max_distance: int = 128
    norm_order: NormOrder = "pre"
    norm: Literal["layer", "rms"] = "layer"
    norm_eps: float = 1e-5
    final_norm: bool | None = None
    embedding_norm: bool = False
    activation: Activation = "relu"
    gated: bool = False
    attention_bias: bool = False
    feed_forward_bias: bool = True
    embedding_scale: bool = True
    tied: Tied = "output"
    num_types: int = 0
    dropout_p: float = 0.1
    attention_dropout_p: float = 0.0
    feed_forward_dropout_p: float = 0.0
    alignment_layer: int = -1

    @property
    def source_size(self) -> int:
        """Number of source ids."""
        return (
            self.vocab_size if self.source_vocab is None else self.source_vocab
        )

    @property
    def groups(self) -> int:
        """Number of key and value heads."""
        return (
            self.num_heads if self.num_kv_heads is None else self.num_kv_heads
        )

    @property
    def width_of_head(self) -> int:
        """Width of a head."""
        if self.head_dim is None:
            return self.embed_dim // self.num_heads
        return self.head_dim

    @property
    def hidden_width(self) -> int:
        """Width between the projections of a feed-forward layer."""
        return (
            4 * self.embed_dim if self.hidden_dim is None else self.hidden_dim
        )

    @property
    def depth_of_encoder(self) -> int:
        """Number of blocks in the encoder of an encoder-decoder."""
        if self.encoder_layers is None:
            return self.num_layers
        return self.encoder_layers

    @property
    def ends_with_norm(self) -> bool:
        """Whether a norm follows the last block."""
        if self.final_norm is None:
            return self.norm_order == "pre"
        return self.final_norm

    def __post_init__(self) -> None:
        """Refuse fields that contradict each other."""
        e, h, g, d, n = (
            self.embed_dim, self.num_heads, self.groups, self.width_of_head, self.num_layers
        )  # fmt: skip
        rotary = self.positions == "rotary"
        least = self.relative_buckets // 2 + 1
        faults = [
            (self.head_dim is None and e % h,
             f"num_heads: got {h}, wanted a divisor of embed_dim, {e}, or a head_dim"),
            (h % g, f"num_kv_heads: got {g}, wanted a divisor of num_heads, {h}"),
            (rotary and d % 2,
             f"head_dim: got {d}, wanted an even number for positions='rotary'"),
            (self.rotary_scaling is not None and not rotary,
             f"rotary_scaling: got one with positions={self.positions!r}, wanted None, "
             f"or positions='rotary'"),
            (self.relative_max_distance < least,
             f"relative_max_distance: got {self.relative_max_distance}, wanted at least {least}, "
             f"above half of relative_buckets"),
            (self.tied == "all" and self.source_size != self.vocab_size,
             f"tied: got 'all' with {self.source_size} source and {self.vocab_size} target ids, "
             f"wanted one vocabulary, or 'output' or 'none'"),
            (not -n <= self.alignment_layer < n,
             f"alignment_layer: got {self.alignment_layer}, wanted one of the {n} blocks"),
        ]  # fmt: skip
        for fault, message in faults:
            if fault:
                raise ValueError(message)
