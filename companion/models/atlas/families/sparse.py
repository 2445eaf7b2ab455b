"""Families with softmax attention and experts."""

from __future__ import annotations

import torch
from torch import Tensor

from companion.models.atlas.families.dense import HUNYUAN, granite_windows
from companion.models.atlas.families.family import Family, Made, Names
from companion.models.atlas.families.shared import (
    LLAMA,
    POST_NORMS,
    attention_of,
    attentions,
    every_step,
    expert_names,
    experts_of,
    feed_forward_names,
    feed_forward_of,
    flat,
    granite_scales,
    halves,
    head_width,
    kinds,
    mixed_model,
    norm_of,
    rotary_of,
    sparse_layers,
    stacked,
    transposed,
    windows,
)
from companion.models.atlas.mixers.softmax import AttentionSpec
from companion.models.atlas.specs import LayerSpec, ModelSpec
from companion.models.options import Options


def _gpt_oss(options: Options) -> ModelSpec:
    experts = experts_of(
        options, scores="softmax_of_chosen", bias=True, limit=options["swiglu_limit"],
        activation="gelu_quick", shifted=True,
    )  # fmt: skip
    return mixed_model(options, attentions(options, sinks=True), experts)


def _alternating_bias(stored: Tensor, _: LayerSpec) -> Tensor:
    return torch.unflatten(stored, -1, (-1, 2)).transpose(1, 2).flatten(1, 2)


def _alternating_rows(stored: Tensor, _: LayerSpec) -> Tensor:
    return torch.unflatten(stored.mT, 1, (-1, 2)).transpose(1, 2).flatten(1, 2)


def _qwen3_moe(options: Options) -> ModelSpec:
    normalised = options.flag("norm_topk_prob", False)
    experts = experts_of(options, normalised=normalised)
    mixers = attentions(options, qk_norm=norm_of(options))
    return mixed_model(options, mixers, experts, every_step(options))


def _mixtral(options: Options) -> ModelSpec:
    mixers = attentions(options, bias=False)
    return mixed_model(options, mixers, experts_of(options))


def _cohere2_moe(options: Options) -> ModelSpec:
    norm = norm_of(options, eps="layer_norm_eps", centred=True)
    if options.get("rms_norm_eps") is not None:
        norm = norm_of(options)
    sparse = sparse_layers(options)
    everywhere = options["prefix_dense_sliding_window_pattern"] == 1
    turned = [
        window or (everywhere and not routed)
        for window, routed in zip(windows(options), sparse, strict=True)
    ]
    shared = options.get("num_shared_experts", 0)
    experts = experts_of(
        options, hidden_dim=options["intermediate_size"],
        scores=f"{options['expert_selection_fn']}_of_chosen",
        normalised=options.flag("norm_topk_prob", True),
        shared_dim=shared * options["intermediate_size"] if shared else None,
        averaged=bool(shared) and options["shared_expert_combination_strategy"] == "average",
    )  # fmt: skip
    width = options.get("prefix_dense_intermediate_size")
    return mixed_model(
        options, attentions(options, turned, interleaved=True), experts, sparse,
        dense=feed_forward_of(options, width=width), norm=norm, parallel=True,
        logit_scale=options["logit_scale"], tied=True,
    )  # fmt: skip


def _llama4(options: Options) -> ModelSpec:
    rotary = rotary_of(options, head_width(options), interleaved=True)
    normed = options.flag("use_qk_norm", True)
    norm = norm_of(options, gain="none") if normed else None
    tuned = options.flag("attn_temperature_tuning", True)
    scale = (options["attn_scale"], options["floor_scale"]) if tuned else None
    turning = {"rotary": rotary, "qk_norm": norm, "qk_norm_after_rotary": True}
    still = {"rotary": None, "length_scale": scale}
    mixers = [
        attention_of(
            options, kind, **(turning if turned else still),
            chunk=options["attention_chunk_size"] if kind == "chunked_attention" else None,
        )
        for kind, turned in zip(kinds(options), options["no_rope_layers"], strict=True)
    ]  # fmt: skip
    experts = experts_of(
        options, scores="sigmoid_of_chosen", normalised=False, weigh_input=True,
        shared_dim=options["intermediate_size"],
    )  # fmt: skip
    dense = feed_forward_of(options, width=options["intermediate_size_mlp"])
    sparse = sparse_layers(options)
    return mixed_model(options, mixers, experts, sparse, dense=dense)


def _qwen2_moe(options: Options) -> ModelSpec:
    bias = options.flag("qkv_bias", True)
    experts = experts_of(
        options, normalised=options.flag("norm_topk_prob", False),
        shared_dim=options["shared_expert_intermediate_size"], shared_gate=True,
    )  # fmt: skip
    mixers = attentions(options, bias=bias, output_bias=False)
    return mixed_model(options, mixers, experts, every_step(options))


def _mellum(options: Options) -> ModelSpec:
    normalised = options.flag("norm_topk_prob", True)
    experts = experts_of(options, normalised=normalised)
    mixers = attentions(options, qk_norm=norm_of(options))
    return mixed_model(options, mixers, experts, sparse_layers(options))


def _flex_olmo(options: Options) -> ModelSpec:
    norm, normalised = norm_of(options), options.flag("norm_topk_prob", False)
    return stacked(
        options, attentions(options, qk_norm=norm, qk_norm_over="all"),
        experts_of(options, normalised=normalised), pre_norm=None, post_norm=norm,
    )  # fmt: skip


def _flint(options: Options) -> ModelSpec:
    """Return Flint: windows with rotary positions, the others without, and sinks in all."""
    norm = norm_of(options)
    mixers = attentions(options, windows(options), qk_norm=norm, sinks=True)
    experts = experts_of(
        options, scores="sigmoid", normalised=options.flag("norm_topk_prob", True),
        shared_dim=options["shared_expert_intermediate_size"],
    )  # fmt: skip
    return mixed_model(options, mixers, experts, every_step(options))


def _ernie4_5_moe(options: Options) -> ModelSpec:
    """Return ERNIE 4.5, whose correction is added to a softmax."""
    options.require(use_bias=False)
    start = options["moe_layer_start_index"]
    end = options["moe_layer_end_index"]
    mixers = attentions(options, interleaved=True)
    sparse = [
        (i + 1) % options["moe_layer_interval"] == 0 and start <= i <= end
        for i in range(len(mixers))
    ]
    width = options["moe_intermediate_size"]
    experts = experts_of(
        options, num_experts=options["moe_num_experts"], experts_per_token=options["moe_k"],
        corrected=True, shared_dim=options["moe_num_shared_experts"] * width or None,
    )  # fmt: skip
    return mixed_model(options, mixers, experts, sparse, tied=True)


def _hunyuan_moe(options: Options) -> ModelSpec:
    norm = norm_of(options)
    mixers = attentions(options, qk_norm=norm, qk_norm_after_rotary=True)
    experts = experts_of(
        options, experts_per_token=options["moe_topk"], shared_dim=options["intermediate_size"]
    )  # fmt: skip
    return mixed_model(options, mixers, experts)


def _granite_moe(options: Options, mixers: list[AttentionSpec]) -> ModelSpec:
    shared = options.get("shared_intermediate_size") or None
    scores, scales = "softmax_of_chosen", granite_scales(options)
    experts = experts_of(options, scores=scores, shared_dim=shared)
    return stacked(options, mixers, experts, **scales)


def _granitemoe(options: Options) -> ModelSpec:
    scale = options["attention_multiplier"]
    return _granite_moe(options, attentions(options, scale=scale))


def _granitemoe_swa(options: Options) -> ModelSpec:
    return _granite_moe(options, granite_windows(options))


def _olmoe(options: Options) -> ModelSpec:
    normalised = options.flag("norm_topk_prob", False)
    experts = experts_of(options, normalised=normalised)
    norm = norm_of(options)
    mixers = attentions(options, qk_norm=norm, qk_norm_over="all")
    return mixed_model(options, mixers, experts)


_EXPERTS, _STORED = "layers.*.feed_forward", "model.layers.*.mlp.experts"
_PLAIN: Names = {**LLAMA, **expert_names()}
_ONE_SHARED: Names = {**LLAMA, **expert_names(shared="shared_expert")}
_LLAMA4: Names = {
    **LLAMA,
    **feed_forward_names("feed_forward"),
    **expert_names("feed_forward", router="router", shared="shared_expert"),
    f"{_EXPERTS}.gate_up": Made(
        "model.layers.*.feed_forward.experts.gate_up_proj", transposed
    ),
    f"{_EXPERTS}.down": Made(
        "model.layers.*.feed_forward.experts.down_proj", transposed
    ),
}
_HUNYUAN = {
    **LLAMA,
    **expert_names(router="gate.wg", shared="shared_mlp"),
    **HUNYUAN,
}
_ERNIE: Names = {
    **_PLAIN,
    f"{_EXPERTS}.router.correction": Made(
        "model.layers.*.mlp.gate.moe_statics.e_score_correction_bias", flat
    ),
}
_GRANITE: Names = {
    **LLAMA,
    **expert_names("block_sparse_moe", router="router"),
    **halves("model.layers.*.shared_mlp.input_linear", f"{_EXPERTS}.shared"),
    f"{_EXPERTS}.shared.down_proj": "model.layers.*.shared_mlp.output_linear",
}
_GPT_OSS: Names = {
    **LLAMA,
    **expert_names(router="router"),
    f"{_EXPERTS}.gate_up": Made(f"{_STORED}.gate_up_proj", _alternating_rows),
    f"{_EXPERTS}.gate_up_bias": Made(
        f"{_STORED}.gate_up_proj_bias", _alternating_bias
    ),
    f"{_EXPERTS}.down": Made(f"{_STORED}.down_proj", transposed),
}

FAMILIES = {
    "mixtral": Family(_mixtral, _PLAIN),
    "qwen3_moe": Family(_qwen3_moe, _PLAIN),
    "qwen2_moe": Family(_qwen2_moe, _ONE_SHARED),
    "mellum": Family(_mellum, _PLAIN),
    "flex_olmo": Family(_flex_olmo, {**_PLAIN, **POST_NORMS}),
    "flint": Family(_flint, _ONE_SHARED),
    "ernie4_5_moe": Family(_ernie4_5_moe, _ERNIE),
    "hunyuan_v1_moe": Family(_hunyuan_moe, _HUNYUAN),
    "granitemoe": Family(_granitemoe, _GRANITE),
    "granitemoeshared": Family(_granitemoe, _GRANITE),
    "granitemoe_swa": Family(_granitemoe_swa, _GRANITE),
    "olmoe": Family(_olmoe, _PLAIN),
    "llama4_text": Family(_llama4, _LLAMA4),
    "cohere2_moe": Family(_cohere2_moe, _PLAIN),
    "gpt_oss": Family(_gpt_oss, _GPT_OSS),
}
