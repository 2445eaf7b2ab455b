"""What a Transformer weighs and computes, by formula: nothing is built and nothing is run."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from companion.contracts import contract
from companion.cost.layers import (
    AttentionFlops,
    feed_forward_flops,
    matmul_flops,
    multi_head_flops,
)
from companion.models.transformer.config import TransformerConfig

Kind = Literal["encoder_decoder", "language_model", "masked_language_model"]


class Counts(NamedTuple):
    """One number for every part of a model.

    Attributes:
        embedding: tables of words, positions and segments.
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


@contract()
def count_parameters(config: TransformerConfig, kind: Kind) -> Counts:
    """Count the weights of a model; what is tied counts under "embedding".

    Args:
        config: the model's shape.
        kind: "encoder_decoder" for `Transformer`, "language_model" for `LanguageModel`,
            "masked_language_model" for `MaskedLanguageModel`.

    >>> config = TransformerConfig(vocab_size=11, embed_dim=12, num_heads=3)
    >>> count_parameters(config, "language_model")
    Counts(embedding=132, attention=1152, feed_forward=2424, norm=120, output=0)
    """
    e, both = config.embed_dim, kind == "encoder_decoder"
    blocks = config.num_layers + (config.depth_of_encoder if both else 0)
    attentions = blocks + (config.num_layers if both else 0)
    stacks = 2 if both else 1
    norms = attentions + blocks
    norms += stacks * (config.ends_with_norm + config.embedding_norm)
    words = config.vocab_size
    if both and config.tied != "all":
        words += config.source_size
    positions = config.max_len if config.positions == "learned" else 0
    relative = config.positions == "relative"
    distances = config.relative_buckets if relative else 0
    output = config.vocab_size * e if config.tied == "none" else 0
    if kind == "masked_language_model":
        norms += 1
        output += e * e + e + config.vocab_size
    return Counts(
        embedding=(words + stacks * (positions + config.num_types)) * e,
        attention=attentions * _attention_weights(config)
        + stacks * distances * config.num_heads,
        feed_forward=blocks * _feed_forward_weights(config),
        norm=norms * e * (2 if config.norm == "layer" else 1),
        output=output,
    )


@contract(
    length=">= 1", source_length=">= 1", cached=">= 0", batch_size=">= 1"
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
    attention counts all pairs of positions, as a kernel that masks computes them; one that skips
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
        ValueError: also for a source where there is none, and for none where there is one.

    >>> config = TransformerConfig(vocab_size=11, embed_dim=12, num_heads=3)
    >>> count_flops(config, "language_model", length=5).total
    38280
    """
    both = kind == "encoder_decoder"
    if both != (source_length is not None):
        raise ValueError(
            f"source_length: got {source_length}, wanted "
            f"{'the number of source tokens' if both else 'None: there is no source'}"
        )
    blocks, encoder = config.num_layers, config.depth_of_encoder
    attention = blocks * attention_of(config, length, cached=cached).total
    feed_forward = blocks * feed_forward_of(config, length)
    if source_length is not None:
        memory = {"k_len": source_length, "projected": cached > 0}
        attention += blocks * attention_of(config, length, **memory).total
        if not cached:
            attention += encoder * attention_of(config, source_length).total
            feed_forward += encoder * feed_forward_of(config, source_length)
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
    d = config.width_of_head
    queries, keys = config.num_heads * d, config.groups * d
    biases = queries + 2 * keys + e if config.attention_bias else 0
    return 2 * e * queries + 2 * e * keys + biases


def _feed_forward_weights(config: TransformerConfig) -> int:
    ups = 2 if config.gated else 1
    weights = (ups + 1) * config.embed_dim * config.hidden_width
    if not config.feed_forward_bias:
        return weights
    return weights + ups * config.hidden_width + config.embed_dim


def attention_of(
    config: TransformerConfig, length: int, **options: Any
) -> AttentionFlops:
    """Count the attention of one block; options are those of `multi_head_flops`."""
    e, h = config.embed_dim, config.num_heads
    g, d = config.groups, config.width_of_head
    return multi_head_flops(
        e, h, q_len=length, num_kv_heads=g, head_dim=d, **options
    )


def feed_forward_of(config: TransformerConfig, tokens: int) -> int:
    """Count the feed-forward layer of one block."""
    sizes = config.embed_dim, config.hidden_width
    return feed_forward_flops(*sizes, tokens=tokens, gated=config.gated)
