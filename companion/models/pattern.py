"""A language model of the book as a pattern of layers, beside those of the atlas."""

from __future__ import annotations

from companion.contracts import contract
from companion.models.atlas import (
    AttentionSpec,
    DecoderModel,
    FeedForwardSpec,
    LayerSpec,
    ModelSpec,
    NormSpec,
    RotarySpec,
)
from companion.models.atlas.families.family import Family, copy_weights
from companion.models.transformer.config import TransformerConfig
from companion.models.transformer.language_model import LanguageModel

NAMES = {
    "embedding": "embedding.words",
    "embedding_norm": "embedding.norm",
    "norm": "decoder.norm",
    "output": "output.vectors",
    **{
        f"layers.*.{ours}": f"decoder.blocks.*.{theirs}"
        for ours, theirs in {
            "mixer.query_proj": "self_attention.query_proj",
            "mixer.key_proj": "self_attention.key_proj",
            "mixer.value_proj": "self_attention.value_proj",
            "mixer.output_proj": "self_attention.output_proj",
            "mixer_norm": "self_residual.norm",
            "feed_forward_norm": "feed_forward_residual.norm",
            "feed_forward.gate_proj": "feed_forward.gate_proj",
            "feed_forward.up_proj": "feed_forward.up_proj",
            "feed_forward.down_proj": "feed_forward.down_proj",
        }.items()
    },
}
"""Modules of the atlas's models, and what a `LanguageModel` calls them; * is a layer's number."""


@contract()
def pattern_of(config: TransformerConfig) -> ModelSpec:
    """Return the layers of a `LanguageModel` as a specification of the atlas.

    Args:
        config: positions "rotary" or "none", and norms before every part: what decoders of today
            have. Dropout is left out.

    Raises:
        ValueError: positions that are added to embeddings or scores, or norms behind the parts.

    >>> spec = pattern_of(TransformerConfig(vocab_size=11, embed_dim=12, num_heads=3,
    ...     positions="rotary"))
    >>> len(spec.layers), spec.layers[0].mixer.rotary.width
    (2, 4)
    """
    for name, wanted in (
        ("positions", ("rotary", "none")),
        ("norm_order", ("pre",)),
    ):
        if getattr(config, name) not in wanted:
            raise ValueError(
                f"config: got {name}={getattr(config, name)!r}, wanted {' or '.join(wanted)}"
            )
    layered = config.norm == "layer"
    norm = NormSpec(eps=config.norm_eps, centred=layered, bias=layered)
    d = config.width_of_head
    attention = AttentionSpec(
        config.num_heads,
        config.groups,
        d,
        rotary=_rotary(config) if config.positions == "rotary" else None,
        bias=config.attention_bias,
        output_bias=config.attention_bias,
    )
    feed_forward = FeedForwardSpec(
        config.hidden_width,
        config.activation,
        gated=config.gated,
        bias=config.feed_forward_bias,
    )
    return ModelSpec(
        config.vocab_size,
        config.embed_dim,
        (LayerSpec(attention, feed_forward, norm),) * config.num_layers,
        norm=norm if config.ends_with_norm else None,
        embedding_scale=config.embed_dim**0.5
        if config.embedding_scale
        else 1.0,
        embedding_norm=norm if config.embedding_norm else None,
        tied=config.tied != "none",
    )


@contract()
def as_pattern(model: LanguageModel) -> DecoderModel:
    """Build a language model again as a pattern of layers, with copies of its weights.

    Args:
        model: one whose configuration `pattern_of` accepts.

    Returns:
        The model in evaluation mode: it gives the same logits, without dropout.
    """
    pattern = DecoderModel(pattern_of(model.config)).to(
        model.embedding.words.weight.dtype
    )
    family = Family(lambda _: pattern.spec, NAMES)
    copy_weights(pattern, family, dict(model.named_parameters()))
    return pattern.eval()


def _rotary(config: TransformerConfig) -> RotarySpec:
    return RotarySpec(
        config.width_of_head, config.rotary_base, config.rotary_scaling
    )
