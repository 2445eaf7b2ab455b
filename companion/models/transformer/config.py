"""The shape of a Transformer: one frozen set of choices, checked where it is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from companion.arrays import check_flag, check_whole, is_number
from companion.positions import RotaryScaling

Positions = Literal["sinusoidal", "learned", "rotary", "alibi", "relative", "none"]
NormOrder = Literal["pre", "post"]
Norm = Literal["layer", "rms"]
Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]
Tied = Literal["none", "output", "all"]

_CHOICES = {
    "positions": get_args(Positions),
    "norm_order": get_args(NormOrder),
    "norm": get_args(Norm),
    "activation": get_args(Activation),
    "tied": get_args(Tied),
}


@dataclass(frozen=True)
class TransformerConfig:
    """Shape of an encoder, a decoder or both.

    The defaults are the paper's (Vaswani et al., 2017) in small, but for the order of the norms:
    the paper normalises after every sub-layer, models of today before it (Xiong et al., 2020).

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
        positions: "sinusoidal" or "learned" encodings are added to the embeddings; "rotary" turns
            the queries and keys of self-attention instead; "alibi" takes from its scores what
            grows with the distance, and "relative" adds to them what the model learns for it;
            "none" leaves words unordered where nothing is causal.
        max_len: longest sequence of a learned table; the others have no end.
        rotary_base: ratio of the rotary frequencies.
        rotary_scaling: rescaling of the rotary frequencies for longer sequences.
        relative_buckets: of distances, a learned number for each and every head (Raffel et al.,
            2020); an encoder has half of them for either side.
        relative_max_distance: first distance that is certain to be in the last bucket.
        norm_order: "pre" is x + f(norm(x)), "post" is norm(x + f(x)).
        norm: "layer" (Ba et al., 2016) or "rms" (Zhang and Sennrich, 2019), which has no mean and
            no bias.
        norm_eps: what a norm adds to the variance.
        final_norm: normalise what the last block gives; None means with "pre" alone, where nothing
            else would.
        embedding_norm: normalise the sum of the embeddings, as BERT does.
        activation: of the feed-forward layers: "relu", "gelu", "gelu_tanh" or "silu".
        gated: feed-forward layers with a gate (Shazeer, 2020).
        attention_bias: give the projections of attention biases.
        feed_forward_bias: give those of the feed-forward layers biases.
        embedding_scale: multiply word embeddings by sqrt(e), as the paper does.
        tied: "output" lets the output projection be the embedding of the words that it scores
            (Press and Wolf, 2017), "all" the source embedding too, "none" neither.
        num_types: kinds of segments with an embedding of their own, as BERT has two.
        dropout_p: dropout on the sum of the embeddings and on every sub-layer's output, the
            paper's two places.
        attention_dropout_p: dropout on attention weights.
        feed_forward_dropout_p: dropout after the activation.
        alignment_layer: decoder block whose cross-attention, averaged over its heads, an
            encoder-decoder returns as its weights. Which block aligns words best is a matter of
            measurement: Garg et al. (2019) found the last but one.

    Raises:
        TypeError: a size that is not whole, or a switch that is no bool.
        ValueError: a field out of its range, or two that contradict each other.

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
    norm: Norm = "layer"
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
        return self.vocab_size if self.source_vocab is None else self.source_vocab

    @property
    def groups(self) -> int:
        """Number of key and value heads."""
        return self.num_heads if self.num_kv_heads is None else self.num_kv_heads

    @property
    def width_of_head(self) -> int:
        """Width of a head."""
        return self.embed_dim // self.num_heads if self.head_dim is None else self.head_dim

    @property
    def hidden_width(self) -> int:
        """Width between the projections of a feed-forward layer."""
        return 4 * self.embed_dim if self.hidden_dim is None else self.hidden_dim

    @property
    def depth_of_encoder(self) -> int:
        """Number of blocks in the encoder of an encoder-decoder."""
        return self.num_layers if self.encoder_layers is None else self.encoder_layers

    @property
    def ends_with_norm(self) -> bool:
        """Whether a norm follows the last block."""
        return self.norm_order == "pre" if self.final_norm is None else self.final_norm

    def __post_init__(self) -> None:
        self._check_sizes()
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name}: got {getattr(self, name)!r}, wanted one of {known}")
        self._check_switches()
        self._check_heads()
        self._check_numbers()
        if self.tied == "all" and self.source_size != self.vocab_size:
            raise ValueError(
                f"tied: got 'all' with {self.source_size} source and {self.vocab_size} target ids, "
                f"wanted one vocabulary, or 'output' or 'none'"
            )
        if not -self.num_layers <= self.alignment_layer < self.num_layers:
            raise ValueError(
                f"alignment_layer: got {self.alignment_layer}, "
                f"wanted one of the {self.num_layers} blocks"
            )

    def _check_sizes(self) -> None:
        for name in ("vocab_size", "embed_dim", "num_heads", "num_layers", "max_len"):
            check_whole(1, **{name: getattr(self, name)})
        optional = ("source_vocab", "num_kv_heads", "head_dim", "hidden_dim", "encoder_layers")
        for name in optional:
            if getattr(self, name) is not None:
                check_whole(1, **{name: getattr(self, name)})
        check_whole(4, relative_buckets=self.relative_buckets)
        exact = self.relative_buckets // 2
        check_whole(exact + 1, relative_max_distance=self.relative_max_distance)
        check_whole(0, num_types=self.num_types)
        check_whole(alignment_layer=self.alignment_layer)

    def _check_switches(self) -> None:
        switches = ("embedding_norm", "gated", "attention_bias", "feed_forward_bias")
        check_flag(**{name: getattr(self, name) for name in (*switches, "embedding_scale")})
        if self.final_norm is not None and not isinstance(self.final_norm, bool):
            raise TypeError(f"final_norm: got {self.final_norm!r}, wanted True, False or None")

    def _check_heads(self) -> None:
        if self.head_dim is None and self.embed_dim % self.num_heads:
            raise ValueError(
                f"num_heads: got {self.num_heads}, "
                f"wanted a divisor of embed_dim, {self.embed_dim}, or a head_dim"
            )
        if self.num_heads % self.groups:
            raise ValueError(
                f"num_kv_heads: got {self.groups}, wanted a divisor of num_heads, {self.num_heads}"
            )
        if self.positions == "rotary" and self.width_of_head % 2:
            raise ValueError(
                f"head_dim: got {self.width_of_head}, wanted an even number for positions='rotary'"
            )
        if self.rotary_scaling is not None and not isinstance(self.rotary_scaling, RotaryScaling):
            raise TypeError(
                f"rotary_scaling: got {type(self.rotary_scaling).__name__}, "
                f"wanted Linear, Dynamic, Yarn, Llama3 or None"
            )
        if self.rotary_scaling is not None and self.positions != "rotary":
            raise ValueError(
                f"rotary_scaling: got one with positions={self.positions!r}, wanted None, "
                f"or positions='rotary'"
            )

    def _check_numbers(self) -> None:
        probabilities = ("dropout_p", "attention_dropout_p", "feed_forward_dropout_p")
        for name in (*probabilities, "norm_eps", "rotary_base"):
            if not is_number(getattr(self, name)):
                came = type(getattr(self, name)).__name__
                raise TypeError(f"{name}: got {came}, wanted a number")
        for name in probabilities:
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(
                    f"{name}: got {getattr(self, name)}, wanted at least 0 and below 1"
                )
        if not self.norm_eps > 0:
            raise ValueError(f"norm_eps: got {self.norm_eps}, wanted a number above 0")
        if not self.rotary_base > 1:
            raise ValueError(f"rotary_base: got {self.rotary_base}, wanted a number above 1")
