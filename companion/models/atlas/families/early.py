"""Families of 2023 and 2024, before norms of queries and keys were common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from companion.models.atlas.families.dense import model_of, pre_norm_model
from companion.models.atlas.families.family import Family, Made, Names
from companion.models.atlas.families.shared import (
    ATTENTION,
    LLAMA,
    PRE_NORMS,
    SANDWICH,
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


def _phi3(options: Options) -> ModelSpec:
    window = options.get("sliding_window")
    return pre_norm_model(
        options, [attention_of(options, window=window) for _ in kinds(options)]
    )


def _starcoder2(options: Options) -> ModelSpec:
    bias, window = (
        options.flag("use_bias", True),
        options.get("sliding_window"),
    )
    mixers = [
        attention_of(options, window=window, bias=bias, output_bias=bias)
        for _ in kinds(options)
    ]
    return pre_norm_model(
        options, mixers,
        norm=norm_of(options, eps="norm_epsilon", centred=True, bias=True),
        feed_forward=feed_forward_of(options, gated=False, bias=bias),
        tied=True,
    )  # fmt: skip


def interleaved(options: Options, **choices: Any) -> list[AttentionSpec]:
    """Return attention whose rotary positions pair neighbours."""
    rotary = rotary_of(options, head_width(options), interleaved=True)
    return [
        attention_of(options, kind, rotary=rotary, **choices)
        for kind in kinds(options)
    ]


def _glm(options: Options) -> ModelSpec:
    return pre_norm_model(options, interleaved(options, output_bias=False))


def _glm4(options: Options) -> ModelSpec:
    norm = norm_of(options)
    layers = [
        LayerSpec(mixer, feed_forward_of(options), norm, post_norm=norm)
        for mixer in interleaved(options, output_bias=False)
    ]
    return model_of(options, layers)


def _nemotron(options: Options) -> ModelSpec:
    norm = norm_of(
        options,
        eps="norm_eps",
        centred=True,
        bias=True,
        gain="one_plus_weight",
    )
    mixers = [attention_of(options, kind) for kind in kinds(options)]
    dense = feed_forward_of(options, gated=False)
    return pre_norm_model(options, mixers, norm=norm, feed_forward=dense)


def _jais2(options: Options) -> ModelSpec:
    norm = norm_of(options, eps="layer_norm_eps", centred=True, bias=True)
    mixers = [attention_of(options, kind) for kind in kinds(options)]
    dense = feed_forward_of(options, gated=False)
    return pre_norm_model(options, mixers, norm=norm, feed_forward=dense)


def _stablelm(options: Options) -> ModelSpec:
    options.require(qk_layernorm=False)
    norm = norm_of(options, eps="layer_norm_eps", centred=True, bias=True)
    bias, parallel = (
        options.flag("use_qkv_bias", False),
        options["use_parallel_residual"],
    )
    layers = [
        LayerSpec(
            attention_of(options, kind, bias=bias),
            feed_forward_of(options),
            norm,
            parallel=parallel,
        )
        for kind in kinds(options)
    ]
    return model_of(options, layers, norm=norm)


def _gpt_neox(options: Options) -> ModelSpec:
    norm = norm_of(options, eps="layer_norm_eps", centred=True, bias=True)
    parallel = options.flag("use_parallel_residual", True)
    layers = [
        LayerSpec(
            attention_of(options, kind),
            feed_forward_of(options, gated=False, bias=True),
            norm,
            parallel=parallel,
            two_norms=parallel,
        )
        for kind in kinds(options)
    ]
    return model_of(options, layers, norm=norm)


def _phi(options: Options) -> ModelSpec:
    options.require(qk_layernorm=False)
    norm = norm_of(options, eps="layer_norm_eps", centred=True, bias=True)
    layers = [
        LayerSpec(
            attention_of(options, kind, bias=True, output_bias=True),
            feed_forward_of(options, gated=False, bias=True),
            norm,
            parallel=True,
        )
        for kind in kinds(options)
    ]
    return model_of(options, layers, norm=norm, output_bias=True)


def _olmo(options: Options) -> ModelSpec:
    """Return the first OLMo, whose norms have neither weights nor biases."""
    mixers = [attention_of(options, kind) for kind in kinds(options)]
    return pre_norm_model(
        options, mixers, norm=NormSpec(eps=1e-5, gain="none", centred=True)
    )


def _cohere(options: Options) -> ModelSpec:
    options.require(use_qk_norm=False)
    norm = norm_of(options, eps="layer_norm_eps", centred=True)
    layers = [
        LayerSpec(mixer, feed_forward_of(options), norm, parallel=True)
        for mixer in interleaved(options)
    ]
    return model_of(
        options,
        layers,
        norm=norm,
        logit_scale=options["logit_scale"],
        tied=True,
    )


def part(number: int) -> Callable[[Tensor, LayerSpec], Tensor]:
    """Return what takes queries (0), keys (1) or values (2) out of one stored projection."""

    def take(stored: Tensor, layer: LayerSpec) -> Tensor:
        mixer = layer.mixer
        assert isinstance(mixer, AttentionSpec)
        h, g, d, v = (
            mixer.num_heads,
            mixer.num_kv_heads,
            mixer.head_dim,
            mixer.width_of_value,
        )
        return torch.split(stored, [h * d, g * d, g * v])[number]

    return take


def _third(number: int) -> Callable[[Tensor, LayerSpec], Tensor]:
    """Return what takes a part out of a projection that has, head by head, all three."""

    def take(stored: Tensor, layer: LayerSpec) -> Tensor:
        mixer = layer.mixer
        assert isinstance(mixer, AttentionSpec)
        return torch.unflatten(stored, 0, (mixer.num_heads, 3, -1))[
            :, number
        ].flatten(0, 1)

    return take


def half(number: int) -> Callable[[Tensor, LayerSpec], Tensor]:
    """Return what takes the gate (0) or the other factor (1) out of one stored projection."""
    return lambda stored, _: stored.chunk(2)[number]


def fused_names(
    projection: str,
    take: Callable[[int], Callable[[Tensor, LayerSpec], Tensor]],
) -> dict[str, Made]:
    """Return the names of queries, keys and values that lie in one stored projection."""
    parts = ("query_proj", "key_proj", "value_proj")
    return {
        f"layers.*.mixer.{name}": Made(projection, take(i))
        for i, name in enumerate(parts)
    }


_GATE_UP: Names = {
    "layers.*.feed_forward.gate_proj": Made(
        "model.layers.*.mlp.gate_up_proj", half(0)
    ),
    "layers.*.feed_forward.up_proj": Made(
        "model.layers.*.mlp.gate_up_proj", half(1)
    ),
}
_STARCODER2 = {
    "layers.*.feed_forward.up_proj": "model.layers.*.mlp.c_fc",
    "layers.*.feed_forward.down_proj": "model.layers.*.mlp.c_proj",
}
_NEOX: Names = {
    "embedding": "gpt_neox.embed_in",
    "norm": "gpt_neox.final_layer_norm",
    "output": "lm_head",
    "layers.*.mixer.output_proj": "gpt_neox.layers.*.attention.dense",
    "layers.*.mixer_norm": "gpt_neox.layers.*.input_layernorm",
    "layers.*.feed_forward_norm": "gpt_neox.layers.*.post_attention_layernorm",
    "layers.*.feed_forward.up_proj": "gpt_neox.layers.*.mlp.dense_h_to_4h",
    "layers.*.feed_forward.down_proj": "gpt_neox.layers.*.mlp.dense_4h_to_h",
    **fused_names("gpt_neox.layers.*.attention.query_key_value", _third),
}
_PHI = {
    "norm": "model.final_layernorm",
    "layers.*.mixer.output_proj": "model.layers.*.self_attn.dense",
    "layers.*.feed_forward.up_proj": "model.layers.*.mlp.fc1",
    "layers.*.feed_forward.down_proj": "model.layers.*.mlp.fc2",
}
_PHI3 = {**fused_names("model.layers.*.self_attn.qkv_proj", part), **_GATE_UP}

FAMILIES = {
    "phi3": Family(_phi3, {**LLAMA, **_PHI3}),
    "starcoder2": Family(_starcoder2, {**LLAMA, **_STARCODER2}),
    "helium": Family(_glm, LLAMA),
    "glm": Family(_glm, {**LLAMA, **_GATE_UP}),
    "glm4": Family(_glm4, {**LLAMA, **SANDWICH, **_GATE_UP}),
    "nemotron": Family(_nemotron, LLAMA),
    "jais2": Family(_jais2, LLAMA),
    "stablelm": Family(_stablelm, LLAMA),
    "gpt_neox": Family(_gpt_neox, _NEOX),
    "phi": Family(_phi, {**LLAMA, **_PHI}),
    "olmo": Family(_olmo, LLAMA),
    "cohere": Family(
        _cohere, {**TEXT, **ATTENTION, **PRE_NORMS, **feed_forward_names()}
    ),
}
