"""What a Transformer weighs and computes, by formula: nothing is built and nothing is run."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from companion.arrays import check_whole
from companion.cost.layers import feed_forward_flops, matmul_flops, multi_head_flops
from companion.models.transformer.config import TransformerConfig

Kind = Literal["encoder_decoder", "language_model", "masked_language_model"]


class Counts(NamedTuple):
    """One number for every part of a model.

    Attributes:
        embedding: tables of words, places and segments.
        attention: projections, tables of distances and, where operations are counted, scores and
            sums of values.
        feed_forward: the layers between the attentions.
        norm: gains and biases.
        output: what scores the words, beyond a tied embedding.
    """

    embedding: int = 0
    attention: int = 0
    feed_forward: int = 0
    norm: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        """Sum of all parts."""
        return sum(self)


def count_parameters(config: TransformerConfig, kind: Kind) -> Counts:
    """Count the weights of a model; what is tied counts once, under "embedding".

    Args:
        config: the model's shape.
        kind: "encoder_decoder" for `Transformer`, "language_model" for `LanguageModel`,
            "masked_language_model" for `MaskedLanguageModel`.

    Raises:
        ValueError: another kind.

    >>> config = TransformerConfig(vocab_size=11, embed_dim=12, num_heads=3)
    >>> count_parameters(config, "language_model")
    Counts(embedding=132, attention=1152, feed_forward=2424, norm=120, output=0)
    """
    _check_kind(kind)
    e, both = config.embed_dim, kind == "encoder_decoder"
    blocks = config.num_layers + (config.depth_of_encoder if both else 0)
    attentions = blocks + (config.num_layers if both else 0)
    stacks = 2 if both else 1
    norms = attentions + blocks + stacks * (config.ends_with_norm + config.embedding_norm)
    words = config.vocab_size
    if both and config.tied != "all":
        words += config.source_size
    places = config.max_len if config.positions == "learned" else 0
    distances = config.relative_buckets if config.positions == "relative" else 0
    output = config.vocab_size * e if config.tied == "none" else 0
    if kind == "masked_language_model":
        norms += 1
        output += e * e + e + config.vocab_size
    return Counts(
        embedding=(words + stacks * (places + config.num_types)) * e,
        attention=attentions * _attention_weights(config) + stacks * distances * config.num_heads,
        feed_forward=blocks * _feed_forward_weights(config),
        norm=norms * e * (2 if config.norm == "layer" else 1),
        output=output,
    )


def count_flops(
    config: TransformerConfig,
    kind: Kind,
    *,
    length: int,
    source_length: int | None = None,
    cached: int = 0,
    batch_size: int = 1,
) -> Counts:
    """Count the floating-point operations of one forward pass, those of matrix products alone.

    A product of (m, k) and (k, n) counts 2 m k n, a multiplication and an addition each. Causal
    attention counts all pairs of places, as a kernel that masks computes them; one that skips
    the future does about half of the pairs. Norms, activations, softmax and what is added to
    scores are left out: they grow with the width, products with its square. A pass for training
    counts three times as much (each product has two in its backward pass).

    Args:
        config: the model's shape.
        kind: "encoder_decoder", "language_model" or "masked_language_model".
        length: tokens that are computed, in an encoder-decoder those of the target.
        source_length: tokens of the source, for an encoder-decoder.
        cached: tokens before them, whose keys and values are kept. An encoder-decoder with some
            has encoded its source before, and projected it.
        batch_size: sequences.

    Raises:
        TypeError: a number that is not whole.
        ValueError: another kind, a number out of range, or a source where there is none.

    >>> config = TransformerConfig(vocab_size=11, embed_dim=12, num_heads=3)
    >>> count_flops(config, "language_model", length=5).total
    38280
    """
    _check_kind(kind)
    check_whole(1, length=length, batch_size=batch_size)
    check_whole(0, cached=cached)
    both = kind == "encoder_decoder"
    if both != (source_length is not None):
        raise ValueError(
            f"source_length: got {source_length}, wanted "
            f"{'the number of source tokens' if both else 'None: there is no source'}"
        )
    attention = config.num_layers * _attention_flops(config, length, cached=cached)
    feed_forward = config.num_layers * _feed_forward_flops(config, length)
    if source_length is not None:
        check_whole(1, source_length=source_length)
        k = source_length
        attention += config.num_layers * _attention_flops(
            config, length, k_len=k, projected=cached > 0
        )
        if not cached:
            attention += config.depth_of_encoder * _attention_flops(config, k)
            feed_forward += config.depth_of_encoder * _feed_forward_flops(config, k)
    output = matmul_flops(length, config.embed_dim, config.vocab_size)
    if kind == "masked_language_model":
        output += matmul_flops(length, config.embed_dim, config.embed_dim)
    return Counts(
        attention=batch_size * attention,
        feed_forward=batch_size * feed_forward,
        output=batch_size * output,
    )


def _attention_weights(config: TransformerConfig) -> int:
    e = config.embed_dim
    queries, keys = (heads * config.width_of_head for heads in (config.num_heads, config.groups))
    biases = queries + 2 * keys + e if config.attention_bias else 0
    return 2 * e * queries + 2 * e * keys + biases


def _feed_forward_weights(config: TransformerConfig) -> int:
    ups = 2 if config.gated else 1
    biases = ups * config.hidden_width + config.embed_dim if config.feed_forward_bias else 0
    return (ups + 1) * config.embed_dim * config.hidden_width + biases


def _attention_flops(
    config: TransformerConfig,
    length: int,
    *,
    k_len: int | None = None,
    cached: int = 0,
    projected: bool = False,
) -> int:
    return multi_head_flops(
        config.embed_dim,
        config.num_heads,
        q_len=length,
        k_len=k_len,
        cached=cached,
        projected=projected,
        num_kv_heads=config.groups,
        head_dim=config.width_of_head,
    ).total


def _feed_forward_flops(config: TransformerConfig, tokens: int) -> int:
    return feed_forward_flops(
        config.embed_dim, config.hidden_width, tokens=tokens, gated=config.gated
    )


def _check_kind(kind: str) -> None:
    if kind not in get_args(Kind):
        raise ValueError(f"kind: got {kind!r}, wanted one of {get_args(Kind)}")
