"""Families with one feed-forward layer for all tokens: Llama and those that came from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from companion.differential import initial_factor
from companion.models.atlas.families.family import Family, Made, Names
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
from companion.models.atlas.feed_forward import FeedForwardSpec
from companion.models.atlas.mixers.differential import DifferentialSpec
from companion.models.atlas.mixers.softmax import AttentionSpec
from companion.models.atlas.norms import NormSpec
from companion.models.atlas.specs import LayerSpec, MixerSpec, ModelSpec
from companion.models.options import Options


def model_of(
    options: Options, layers: list[LayerSpec], **choices: Any
) -> ModelSpec:
    """Return the specification around some layers."""
    norm = choices.pop("norm", None) or norm_of(options)
    tied = options.flag("tie_word_embeddings", choices.pop("tied", False))
    return ModelSpec(
        options["vocab_size"], options["hidden_size"], tuple(layers), norm=norm, tied=tied,
        **choices,
    )  # fmt: skip


def pre_norm_model(
    options: Options, mixers: Sequence[MixerSpec], *, norm: NormSpec | None = None,
    residual_scale: float = 1.0, feed_forward: FeedForwardSpec | None = None, **choices: Any,
) -> ModelSpec:  # fmt: skip
    """Return a model with a norm before every part, and one dense feed-forward layer."""
    norm = norm_of(options) if norm is None else norm
    dense = feed_forward_of(options) if feed_forward is None else feed_forward
    layers = [
        LayerSpec(mixer, dense, norm, residual_scale=residual_scale)
        for mixer in mixers
    ]
    return model_of(options, layers, norm=norm, **choices)


def _llama(options: Options) -> ModelSpec:
    return pre_norm_model(
        options, [attention_of(options, kind) for kind in kinds(options)]
    )


def _mistral(options: Options) -> ModelSpec:
    """Return a model whose layers all have the window, if there is one."""
    window = options.get("sliding_window")
    mixers = [attention_of(options, window=window) for _ in kinds(options)]
    return pre_norm_model(options, mixers)


def _ministral3(options: Options) -> ModelSpec:
    rope = options["rope_parameters"]
    size, step = (
        rope.get("llama_4_scaling_beta"),
        rope.get("original_max_position_embeddings"),
    )
    scale = None if size is None else (size, step)
    choices = {"length_scale": scale, "length_scale_from_zero": True}
    mixers = [
        attention_of(options, kind, **choices) for kind in kinds(options)
    ]
    return pre_norm_model(options, mixers)


def _qwen2(options: Options) -> ModelSpec:
    mixers = [
        attention_of(options, kind, bias=True, output_bias=False)
        for kind in kinds(options)
    ]
    return pre_norm_model(options, mixers)


def _qwen3(options: Options) -> ModelSpec:
    norm = norm_of(options)
    return pre_norm_model(
        options,
        [attention_of(options, kind, qk_norm=norm) for kind in kinds(options)],
    )


def _smollm3(options: Options) -> ModelSpec:
    rotary = rotary_of(options, head_width(options))
    mixers = [
        attention_of(options, kind, rotary=rotary if turned else None)
        for kind, turned in zip(
            kinds(options), options["no_rope_layers"], strict=True
        )
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


def _granite(options: Options) -> ModelSpec:
    scale = options["attention_multiplier"]
    return _granite_model(
        options,
        [attention_of(options, kind, scale=scale) for kind in kinds(options)],
    )


def _granite_model(options: Options, mixers: list[AttentionSpec]) -> ModelSpec:
    return pre_norm_model(
        options, mixers,
        residual_scale=options["residual_multiplier"],
        embedding_scale=options["embedding_multiplier"],
        logit_scale=1 / options["logits_scaling"],
    )  # fmt: skip


def granite_windows(options: Options) -> list[AttentionSpec]:
    """Return windows and sinks, where every layer has its base of rotary positions, or 0."""
    width, scale = head_width(options), options["attention_multiplier"]
    return [
        attention_of(
            options, kind, scale=scale, sinks=True,
            rotary=rotary_of(options, width, base=base) if base else None,
        )
        for kind, base in zip(kinds(options), options["layer_rope_theta"], strict=True)
    ]  # fmt: skip


def _granite_swa(options: Options) -> ModelSpec:
    return _granite_model(options, granite_windows(options))


def _apertus(options: Options) -> ModelSpec:
    norm = norm_of(options)
    mixers = [
        attention_of(options, kind, qk_norm=norm) for kind in kinds(options)
    ]
    return pre_norm_model(
        options, mixers, feed_forward=feed_forward_of(options, gated=False)
    )


def _seed_oss(options: Options) -> ModelSpec:
    bias = options.flag("attention_out_bias", False)
    mixers = [
        attention_of(options, kind, output_bias=bias)
        for kind in kinds(options)
    ]
    return pre_norm_model(options, mixers)


def _hunyuan(options: Options) -> ModelSpec:
    norm = norm_of(options)
    mixers = [
        attention_of(options, kind, qk_norm=norm, qk_norm_after_rotary=True)
        for kind in kinds(options)
    ]
    return pre_norm_model(options, mixers)


def _arcee(options: Options) -> ModelSpec:
    mixers = [attention_of(options, kind) for kind in kinds(options)]
    return pre_norm_model(
        options, mixers, feed_forward=feed_forward_of(options, gated=False)
    )


def _ernie4_5(options: Options) -> ModelSpec:
    bias = options.flag("use_bias", False)
    rotary = rotary_of(options, head_width(options), interleaved=True)
    mixers = [
        attention_of(options, kind, rotary=rotary, bias=bias, output_bias=bias)
        for kind in kinds(options)
    ]
    dense = feed_forward_of(options, bias=bias)
    return pre_norm_model(options, mixers, feed_forward=dense, tied=True)


def _diffllama(options: Options) -> ModelSpec:
    """Return Llama with differential attention, whose factor begins higher layer by layer."""
    mixers = [
        DifferentialSpec(
            **vars(attention_of(options, kind)), first_factor=initial_factor(number),
            eps=options["rms_norm_eps"],
        )
        for number, kind in enumerate(kinds(options))
    ]  # fmt: skip
    return pre_norm_model(options, mixers)


def _nanochat(options: Options) -> ModelSpec:
    """Return nanochat: norms have no weights, and the embeddings have one."""
    norm = norm_of(options, gain="none")
    mixers = [
        attention_of(options, kind, qk_norm=norm, qk_norm_after_rotary=True)
        for kind in kinds(options)
    ]
    return pre_norm_model(
        options, mixers, norm=norm, feed_forward=feed_forward_of(options, gated=False),
        embedding_norm=norm, logit_softcap=options["final_logit_softcapping"],
    )  # fmt: skip


def _halves_exchanged(stored: Tensor, layer: LayerSpec) -> Tensor:
    """Exchange the halves of every head: to turn (a, b) backwards is to turn (b, a) forwards."""
    assert isinstance(layer.mixer, AttentionSpec)
    halves = torch.unflatten(stored, 0, (-1, 2, layer.mixer.head_dim // 2))
    return halves.flip(1).flatten(0, 2)


def _hyperclovax(options: Options) -> ModelSpec:
    norm = norm_of(options)
    layers = [
        LayerSpec(
            attention_of(options, kind, scale=options["attention_multiplier"]),
            feed_forward_of(options),
            norm,
            post_norm=norm if options.flag("use_post_norm", True) else None,
            residual_scale=options["residual_multiplier"],
        )
        for kind in kinds(options)
    ]
    return model_of(
        options, layers, embedding_scale=options["embedding_multiplier"],
        logit_scale=options["logits_scaling"],
    )  # fmt: skip


def _cohere2(options: Options) -> ModelSpec:
    norm = NormSpec(eps=options["layer_norm_eps"], centred=True)
    rotary = rotary_of(options, head_width(options), interleaved=True)
    layers = [
        LayerSpec(
            attention_of(
                options,
                kind,
                rotary=rotary if kind == "sliding_attention" else None,
            ),
            feed_forward_of(options),
            norm,
            parallel=True,
        )
        for kind in kinds(options)
    ]
    return model_of(
        options,
        layers,
        norm=norm,
        logit_scale=options["logit_scale"],
        tied=True,
    )


_APERTUS = {
    "layers.*.mixer_norm": "model.layers.*.attention_layernorm",
    "layers.*.feed_forward_norm": "model.layers.*.feedforward_layernorm",
    "layers.*.feed_forward.activate.positive": "model.layers.*.mlp.act_fn.alpha_p",
    "layers.*.feed_forward.activate.negative": "model.layers.*.mlp.act_fn.alpha_n",
    "layers.*.feed_forward.activate.slope": "model.layers.*.mlp.act_fn.beta",
}


def _cohere_compass(options: Options) -> ModelSpec:
    """Return Cohere Compass, with rotary positions in the kinds of layers that have a base."""
    norm = norm_of(options, eps="layer_norm_eps", centred=True)
    width, ropes = head_width(options), options["rope_parameters"]
    layers = [
        LayerSpec(
            attention_of(
                options, kind,
                rotary=rotary_of(options, width, kind=kind) if ropes.get(kind) else None,
            ),
            feed_forward_of(options),
            norm,
            parallel=True,
        )
        for kind in kinds(options)
    ]  # fmt: skip
    scale = options.get("logit_scale") or 1.0
    return model_of(options, layers, norm=norm, logit_scale=scale, tied=True)


_DIFFLLAMA = {
    f"layers.*.mixer.factors.{name}": f"model.layers.*.self_attn.lambda_{name}"
    for name in ("q1", "k1", "q2", "k2")
}
_NANOCHAT: Names = {
    "layers.*.mixer.query_proj": Made(
        "model.layers.*.self_attn.q_proj", _halves_exchanged
    ),
    "layers.*.mixer.key_proj": Made(
        "model.layers.*.self_attn.k_proj", _halves_exchanged
    ),
    "layers.*.feed_forward.up_proj": "model.layers.*.mlp.fc1",
    "layers.*.feed_forward.down_proj": "model.layers.*.mlp.fc2",
}
_HYPERCLOVAX = {
    "layers.*.mixer_post_norm": "model.layers.*.post_norm1",
    "layers.*.feed_forward_post_norm": "model.layers.*.post_norm2",
}
_HUNYUAN = {
    "layers.*.mixer.query_norm": "model.layers.*.self_attn.query_layernorm",
    "layers.*.mixer.key_norm": "model.layers.*.self_attn.key_layernorm",
}

FAMILIES = {
    "llama": Family(_llama, LLAMA),
    "mistral": Family(_mistral, LLAMA),
    "ministral3": Family(_ministral3, LLAMA),
    "qwen2": Family(_qwen2, LLAMA),
    "qwen3": Family(_qwen3, LLAMA),
    "smollm3": Family(_smollm3, LLAMA),
    "olmo2": Family(
        _olmo, {**TEXT, **ATTENTION, **POST_NORMS, **feed_forward_names()}
    ),
    "olmo3": Family(
        _olmo, {**TEXT, **ATTENTION, **POST_NORMS, **feed_forward_names()}
    ),
    "exaone4": Family(
        _exaone4, {**TEXT, **ATTENTION, **POST_NORMS, **feed_forward_names()}
    ),
    "granite": Family(_granite, LLAMA),
    "granite_swa": Family(_granite_swa, LLAMA),
    "apertus": Family(
        _apertus, {**LLAMA, **_APERTUS}, ignored=("*.act_fn.eps",)
    ),
    "seed_oss": Family(_seed_oss, LLAMA),
    "hunyuan_v1_dense": Family(_hunyuan, {**LLAMA, **_HUNYUAN}),
    "arcee": Family(_arcee, LLAMA),
    "ernie4_5": Family(_ernie4_5, LLAMA),
    "cwm": Family(_llama, LLAMA),
    "internlm3": Family(_llama, LLAMA),
    "iquestcoder": Family(_llama, LLAMA),
    "ministral": Family(_llama, LLAMA),
    "diffllama": Family(_diffllama, {**LLAMA, **_DIFFLLAMA}),
    "nanochat": Family(_nanochat, {**LLAMA, **_NANOCHAT}),
    "hyperclovax": Family(_hyperclovax, {**LLAMA, **_HYPERCLOVAX}),
    "cohere_compass_text": Family(_cohere_compass, LLAMA),
    "cohere2": Family(
        _cohere2, {**TEXT, **ATTENTION, **PRE_NORMS, **feed_forward_names()}
    ),
}
