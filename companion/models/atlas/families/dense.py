"""Families with one feed-forward layer for all tokens: Llama and those that came from it."""

from __future__ import annotations

from typing import Any

from companion.models.atlas.families.family import Family
from companion.models.atlas.families.shared import (
    ATTENTION,
    LLAMA,
    POST_NORMS,
    PRE_NORMS,
    TEXT,
    attention_of,
    feed_forward_names,
    feed_forward_of,
    head_width,
    kinds,
    norm_of,
    rotary_of,
)
from companion.models.atlas.mixers.softmax import AttentionSpec
from companion.models.atlas.norms import NormSpec
from companion.models.atlas.specs import LayerSpec, ModelSpec
from companion.models.options import Options


def model_of(options: Options, layers: list[LayerSpec], **choices: Any) -> ModelSpec:
    """Return the specification around some layers."""
    norm = choices.pop("norm", None) or norm_of(options)
    tied = options.flag("tie_word_embeddings", choices.pop("tied", False))
    return ModelSpec(
        options["vocab_size"], options["hidden_size"], tuple(layers), norm=norm, tied=tied,
        **choices,
    )  # fmt: skip


def pre_norm_model(options: Options, mixers: list[AttentionSpec], **choices: Any) -> ModelSpec:
    """Return a model with a norm before every part, and one dense feed-forward layer."""
    scale = choices.pop("residual_scale", 1.0)
    layers = [
        LayerSpec(mixer, feed_forward_of(options), norm_of(options), residual_scale=scale)
        for mixer in mixers
    ]
    return model_of(options, layers, **choices)


def _llama(options: Options) -> ModelSpec:
    return pre_norm_model(options, [attention_of(options, kind) for kind in kinds(options)])


def _mistral(options: Options) -> ModelSpec:
    """Return a model whose layers all have the window, if there is one."""
    window = options.get("sliding_window")
    mixers = [attention_of(options, window=window) for _ in kinds(options)]
    return pre_norm_model(options, mixers)


def _ministral3(options: Options) -> ModelSpec:
    rope = options["rope_parameters"]
    size, step = rope.get("llama_4_scaling_beta"), rope.get("original_max_position_embeddings")
    scale = None if size is None else (size, step)
    choices = {"length_scale": scale, "length_scale_from_zero": True}
    mixers = [attention_of(options, kind, **choices) for kind in kinds(options)]
    return pre_norm_model(options, mixers)


def _qwen2(options: Options) -> ModelSpec:
    mixers = [attention_of(options, kind, bias=True, output_bias=False) for kind in kinds(options)]
    return pre_norm_model(options, mixers)


def _qwen3(options: Options) -> ModelSpec:
    norm = norm_of(options)
    return pre_norm_model(
        options, [attention_of(options, kind, qk_norm=norm) for kind in kinds(options)]
    )


def _smollm3(options: Options) -> ModelSpec:
    rotary = rotary_of(options, head_width(options))
    mixers = [
        attention_of(options, kind, rotary=rotary if turned else None)
        for kind, turned in zip(kinds(options), options["no_rope_layers"], strict=True)
    ]
    return pre_norm_model(options, mixers, tied=True)


def _olmo(options: Options) -> ModelSpec:
    norm = norm_of(options)
    layers = [
        LayerSpec(
            attention_of(options, kind, qk_norm=norm, qk_norm_over="all"),
            feed_forward_of(options),
            pre_norm=None,
            post_norm=norm,
        )
        for kind in kinds(options)
    ]
    return model_of(options, layers)


def _exaone4(options: Options) -> ModelSpec:
    norm, rotary = norm_of(options), rotary_of(options, head_width(options))
    windowed = options.get("sliding_window") is not None
    layers = [
        LayerSpec(
            attention_of(
                options, kind, qk_norm=norm,
                rotary=None if windowed and kind == "full_attention" else rotary,
            ),
            feed_forward_of(options),
            pre_norm=None,
            post_norm=norm,
        )
        for kind in kinds(options)
    ]  # fmt: skip
    return model_of(options, layers)


def _granite(options: Options, **choices: Any) -> ModelSpec:
    scale = options["attention_multiplier"]
    mixers = [attention_of(options, kind, scale=scale, **choices) for kind in kinds(options)]
    return pre_norm_model(
        options, mixers,
        residual_scale=options["residual_multiplier"],
        embedding_scale=options["embedding_multiplier"],
        logit_scale=1 / options["logits_scaling"],
    )  # fmt: skip


def _cohere2(options: Options) -> ModelSpec:
    norm = NormSpec(eps=options["layer_norm_eps"], centred=True)
    rotary = rotary_of(options, head_width(options), interleaved=True)
    layers = [
        LayerSpec(
            attention_of(options, kind, rotary=rotary if kind == "sliding_attention" else None),
            feed_forward_of(options),
            norm,
            parallel=True,
        )
        for kind in kinds(options)
    ]
    return model_of(options, layers, norm=norm, logit_scale=options["logit_scale"], tied=True)


FAMILIES = {
    "llama": Family(_llama, LLAMA),
    "mistral": Family(_mistral, LLAMA),
    "ministral3": Family(_ministral3, LLAMA),
    "qwen2": Family(_qwen2, LLAMA),
    "qwen3": Family(_qwen3, LLAMA),
    "smollm3": Family(_smollm3, LLAMA),
    "olmo2": Family(_olmo, {**TEXT, **ATTENTION, **POST_NORMS, **feed_forward_names()}),
    "olmo3": Family(_olmo, {**TEXT, **ATTENTION, **POST_NORMS, **feed_forward_names()}),
    "exaone4": Family(_exaone4, {**TEXT, **ATTENTION, **POST_NORMS, **feed_forward_names()}),
    "granite": Family(_granite, LLAMA),
    "cohere2": Family(_cohere2, {**TEXT, **ATTENTION, **PRE_NORMS, **feed_forward_names()}),
}
