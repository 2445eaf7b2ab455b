"""Families of 2023 and 2024, before norms of queries and keys were common."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from companion.models.atlas.families.dense import llama
from companion.models.atlas.families.family import Family, Made, Make, Names
from companion.models.atlas.families.shared import (
    LLAMA,
    SANDWICH,
    attentions,
    feed_forward_of,
    halves,
    norm_of,
    of_each_head,
    stacked,
)
from companion.models.atlas.mixers.softmax import AttentionSpec
from companion.models.atlas.norms import NormSpec
from companion.models.atlas.specs import LayerSpec, ModelSpec
from companion.models.options import Options


def _starcoder2(options: Options) -> ModelSpec:
    bias = options.flag("use_bias", True)
    return stacked(
        options, attentions(options, bias=bias, output_bias=bias),
        feed_forward_of(options, gated=False, bias=bias),
        norm=norm_of(options, eps="norm_epsilon", centred=True, bias=True), tied=True,
    )  # fmt: skip


def _glm(options: Options) -> ModelSpec:
    mixers = attentions(options, interleaved=True, output_bias=False)
    return stacked(options, mixers)


def _glm4(options: Options) -> ModelSpec:
    mixers = attentions(options, interleaved=True, output_bias=False)
    return stacked(options, mixers, post_norm=norm_of(options))


def _layer_norm(options: Options) -> NormSpec:
    return norm_of(options, eps="layer_norm_eps", centred=True, bias=True)


def _nemotron(options: Options) -> ModelSpec:
    norm = norm_of(
        options, eps="norm_eps", centred=True, bias=True, gain="one_plus_weight"
    )  # fmt: skip
    dense = feed_forward_of(options, gated=False)
    return stacked(options, attentions(options), dense, norm=norm)


def _jais2(options: Options) -> ModelSpec:
    norm, dense = _layer_norm(options), feed_forward_of(options, gated=False)
    return stacked(options, attentions(options), dense, norm=norm)


def _stablelm(options: Options) -> ModelSpec:
    options.require(qk_layernorm=False)
    mixers = attentions(options, bias=options.flag("use_qkv_bias", False))
    norm, parallel = _layer_norm(options), options["use_parallel_residual"]
    return stacked(options, mixers, norm=norm, parallel=parallel)


def _gpt_neox(options: Options) -> ModelSpec:
    parallel = options.flag("use_parallel_residual", True)
    dense = feed_forward_of(options, gated=False, bias=True)
    return stacked(
        options, attentions(options), dense, norm=_layer_norm(options), parallel=parallel,
        two_norms=parallel,
    )  # fmt: skip


def _phi(options: Options) -> ModelSpec:
    options.require(qk_layernorm=False)
    mixers = attentions(options, bias=True, output_bias=True)
    dense = feed_forward_of(options, gated=False, bias=True)
    return stacked(
        options, mixers, dense, norm=_layer_norm(options), parallel=True, output_bias=True
    )  # fmt: skip


def _olmo(options: Options) -> ModelSpec:
    """Return the first OLMo, whose norms have neither weights nor biases."""
    norm = NormSpec(eps=1e-5, gain="none", centred=True)
    return stacked(options, attentions(options), norm=norm)


def _cohere(options: Options) -> ModelSpec:
    options.require(use_qk_norm=False)
    return stacked(
        options, attentions(options, interleaved=True),
        norm=norm_of(options, eps="layer_norm_eps", centred=True), parallel=True,
        logit_scale=options["logit_scale"], tied=True,
    )  # fmt: skip


def _part(number: int) -> Make:
    """Return what takes queries (0), keys (1) or values (2) out of one stored projection."""

    def take(stored: Tensor, layer: LayerSpec) -> Tensor:
        mixer = layer.mixer
        assert isinstance(mixer, AttentionSpec)
        g, d = mixer.num_kv_heads, mixer.head_dim
        rows = [mixer.num_heads * d, g * d, g * mixer.width_of_value]
        return torch.split(stored, rows)[number]

    return take


def _fused_names(
    projection: str, take: Callable[[int], Make]
) -> dict[str, Made]:
    """Return the names of queries, keys and values that lie in one stored projection."""
    parts = ("query_proj", "key_proj", "value_proj")
    return {
        f"layers.*.mixer.{name}": Made(projection, take(i))
        for i, name in enumerate(parts)
    }


_GATE_UP: Names = halves("model.layers.*.mlp.gate_up_proj")
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
    **_fused_names(
        "gpt_neox.layers.*.attention.query_key_value",
        partial(of_each_head, count=3),
    ),
}
_PHI = {
    "norm": "model.final_layernorm",
    "layers.*.mixer.output_proj": "model.layers.*.self_attn.dense",
    "layers.*.feed_forward.up_proj": "model.layers.*.mlp.fc1",
    "layers.*.feed_forward.down_proj": "model.layers.*.mlp.fc2",
}
_PHI3 = {
    **_fused_names("model.layers.*.self_attn.qkv_proj", _part),
    **_GATE_UP,
}

FAMILIES = {
    "phi3": Family(llama, {**LLAMA, **_PHI3}),
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
    "cohere": Family(_cohere, LLAMA),
}
