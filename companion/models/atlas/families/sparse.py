"""Families with softmax attention and experts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from companion.models.atlas.experts import ExpertsSpec
from companion.models.atlas.families.dense import granite_windows, model_of
from companion.models.atlas.families.early import half, interleaved
from companion.models.atlas.families.family import Family, Made, Names
from companion.models.atlas.families.shared import (
    LLAMA,
    POST_NORMS,
    attention_of,
    expert_names,
    experts_of,
    feed_forward_names,
    feed_forward_of,
    head_width,
    kinds,
    norm_of,
    rotary_of,
    sparse_layers,
    transposed,
)
from companion.models.atlas.feed_forward import FeedForwardSpec
from companion.models.atlas.mixers.softmax import AttentionSpec
from companion.models.atlas.norms import NormSpec
from companion.models.atlas.specs import LayerSpec, MixerSpec, ModelSpec
from companion.models.options import Options


def sparse_model(
    options: Options,
    mixers: list[AttentionSpec],
    sparse: list[bool],
    **experts: Any,
) -> ModelSpec:
    """Return a model with a norm before every part, and experts in some layers."""
    return mixed_model(options, mixers, sparse, experts_of(options, **experts))


def mixed_model(
    options: Options, mixers: Sequence[MixerSpec], sparse: list[bool], experts: ExpertsSpec,
    tied: bool = False, dense: FeedForwardSpec | None = None, norm: NormSpec | None = None,
    **layer: Any,
) -> ModelSpec:  # fmt: skip
    """Return a model with the given experts in some layers; `layer` says where norms stand."""
    given = {"pre_norm": norm_of(options)} | layer
    dense = feed_forward_of(options) if dense is None else dense
    layers = [
        LayerSpec(mixer, experts if routed else dense, **given)
        for mixer, routed in zip(mixers, sparse, strict=True)
    ]
    return model_of(
        options,
        layers,
        tied=tied,
        norm=given["pre_norm"] if norm is None else norm,
    )


def _gpt_oss(options: Options) -> ModelSpec:
    mixers = [
        attention_of(options, kind, sinks=True) for kind in kinds(options)
    ]
    return sparse_model(
        options, mixers, [True] * len(mixers),
        scores="softmax_of_chosen", bias=True, limit=options["swiglu_limit"],
        activation="gelu_quick", shifted=True,
    )  # fmt: skip


def _flat(stored: Tensor, _: LayerSpec) -> Tensor:
    return stored.flatten()


def _alternating_bias(stored: Tensor, _: LayerSpec) -> Tensor:
    return torch.unflatten(stored, -1, (-1, 2)).transpose(1, 2).flatten(1, 2)


def _alternating_rows(stored: Tensor, _: LayerSpec) -> Tensor:
    return torch.unflatten(stored.mT, 1, (-1, 2)).transpose(1, 2).flatten(1, 2)


def _qwen3_moe(options: Options) -> ModelSpec:
    norm, step = norm_of(options), options.get("decoder_sparse_step", 1)
    mixers = [
        attention_of(options, kind, qk_norm=norm) for kind in kinds(options)
    ]
    dense = options.get("mlp_only_layers") or []
    sparse = [
        i not in dense and (i + 1) % step == 0 for i in range(len(mixers))
    ]
    return sparse_model(
        options,
        mixers,
        sparse,
        normalised=options.flag("norm_topk_prob", False),
    )


def _mixtral(options: Options) -> ModelSpec:
    mixers = [
        attention_of(options, window=options.get("sliding_window"), bias=False)
        for _ in kinds(options)
    ]
    return sparse_model(options, mixers, [True] * len(mixers))


def _cohere2_moe(options: Options) -> ModelSpec:
    norm = norm_of(options, eps="layer_norm_eps", centred=True)
    if options.get("rms_norm_eps") is not None:
        norm = norm_of(options)
    rotary = rotary_of(options, head_width(options), interleaved=True)
    sparse, everywhere = (
        sparse_layers(options),
        options["prefix_dense_sliding_window_pattern"] == 1,
    )
    mixers = [
        attention_of(
            options, kind,
            rotary=rotary if kind == "sliding_attention" or (everywhere and not routed) else None,
        )
        for kind, routed in zip(kinds(options), sparse, strict=True)
    ]  # fmt: skip
    shared = options.get("num_shared_experts", 0)
    experts = experts_of(
        options,
        hidden_dim=options["intermediate_size"],
        scores=f"{options['expert_selection_fn']}_of_chosen",
        normalised=options.flag("norm_topk_prob", True),
        shared_dim=shared * options["intermediate_size"] if shared else None,
        averaged=bool(shared)
        and options["shared_expert_combination_strategy"] == "average",
    )
    dense = feed_forward_of(
        options, width=options.get("prefix_dense_intermediate_size")
    )
    layers = [
        LayerSpec(mixer, experts if routed else dense, norm, parallel=True)
        for mixer, routed in zip(mixers, sparse, strict=True)
    ]
    return model_of(
        options,
        layers,
        norm=norm,
        logit_scale=options["logit_scale"],
        tied=True,
    )


def _llama4(options: Options) -> ModelSpec:
    rotary = rotary_of(options, head_width(options), interleaved=True)
    norm = (
        norm_of(options, gain="none")
        if options.flag("use_qk_norm", True)
        else None
    )
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
    width = options["intermediate_size"]
    experts = experts_of(
        options,
        scores="sigmoid_of_chosen",
        normalised=False,
        weigh_input=True,
        shared_dim=width,
    )
    dense = feed_forward_of(options, width=options["intermediate_size_mlp"])
    layers = [
        LayerSpec(
            mixer,
            experts if number in options["moe_layers"] else dense,
            norm_of(options),
        )
        for number, mixer in enumerate(mixers)
    ]
    return model_of(options, layers)


_EXPERTS = "layers.*.feed_forward"
_LLAMA4: Names = {
    **feed_forward_names("feed_forward"),
    **expert_names("feed_forward", router="router", shared="shared_expert"),
    "layers.*.feed_forward.gate_up": Made(
        "model.layers.*.feed_forward.experts.gate_up_proj", transposed
    ),
    "layers.*.feed_forward.down": Made(
        "model.layers.*.feed_forward.experts.down_proj", transposed
    ),
}


def _qwen2_moe(options: Options) -> ModelSpec:
    bias, step = (
        options.flag("qkv_bias", True),
        options.get("decoder_sparse_step", 1),
    )
    mixers = [
        attention_of(options, kind, bias=bias, output_bias=False)
        for kind in kinds(options)
    ]
    dense = options.get("mlp_only_layers") or []
    sparse = [
        i not in dense and (i + 1) % step == 0 for i in range(len(mixers))
    ]
    return sparse_model(
        options, mixers, sparse, normalised=options.flag("norm_topk_prob", False),
        shared_dim=options["shared_expert_intermediate_size"], shared_gate=True,
    )  # fmt: skip


def _mellum(options: Options) -> ModelSpec:
    mixers = [
        attention_of(options, kind, qk_norm=norm_of(options))
        for kind in kinds(options)
    ]
    normalised = options.flag("norm_topk_prob", True)
    return sparse_model(
        options, mixers, sparse_layers(options), normalised=normalised
    )


def _flex_olmo(options: Options) -> ModelSpec:
    norm = norm_of(options)
    experts = experts_of(
        options, normalised=options.flag("norm_topk_prob", False)
    )
    layers = [
        LayerSpec(
            attention_of(options, kind, qk_norm=norm, qk_norm_over="all"),
            experts,
            pre_norm=None,
            post_norm=norm,
        )
        for kind in kinds(options)
    ]
    return model_of(options, layers)


def _flint(options: Options) -> ModelSpec:
    """Return Flint: windows with rotary positions, the others without, and sinks in all."""
    norm, rotary = norm_of(options), rotary_of(options, head_width(options))
    mixers = [
        attention_of(
            options, kind, qk_norm=norm, sinks=True,
            rotary=rotary if kind == "sliding_attention" else None,
        )
        for kind in kinds(options)
    ]  # fmt: skip
    dense, step = options["mlp_only_layers"], options["decoder_sparse_step"]
    sparse = [
        i not in dense and (i + 1) % step == 0 for i in range(len(mixers))
    ]
    return sparse_model(
        options, mixers, sparse, scores="sigmoid",
        normalised=options.flag("norm_topk_prob", True),
        shared_dim=options["shared_expert_intermediate_size"],
    )  # fmt: skip


def _ernie4_5_moe(options: Options) -> ModelSpec:
    """Return ERNIE 4.5, whose correction is added to a softmax."""
    options.require(use_bias=False)
    start, end = (
        options["moe_layer_start_index"],
        options["moe_layer_end_index"],
    )
    mixers = interleaved(options)
    sparse = [
        (i + 1) % options["moe_layer_interval"] == 0 and start <= i <= end
        for i in range(len(mixers))
    ]
    shared = (
        options["moe_num_shared_experts"] * options["moe_intermediate_size"]
    )
    layers_of = experts_of(
        options, num_experts=options["moe_num_experts"], experts_per_token=options["moe_k"],
        corrected=True, shared_dim=shared or None,
    )  # fmt: skip
    return mixed_model(options, mixers, sparse, layers_of, tied=True)


def _hunyuan_moe(options: Options) -> ModelSpec:
    mixers = [
        attention_of(
            options, kind, qk_norm=norm_of(options), qk_norm_after_rotary=True
        )
        for kind in kinds(options)
    ]
    experts = experts_of(
        options,
        experts_per_token=options["moe_topk"],
        shared_dim=options["intermediate_size"],
    )
    return mixed_model(options, mixers, [True] * len(mixers), experts)


def _granite_moe(options: Options, mixers: list[AttentionSpec]) -> ModelSpec:
    shared = options.get("shared_intermediate_size") or None
    experts = experts_of(
        options, scores="softmax_of_chosen", shared_dim=shared
    )
    layers = [
        LayerSpec(
            mixer,
            experts,
            norm_of(options),
            residual_scale=options["residual_multiplier"],
        )
        for mixer in mixers
    ]
    return model_of(
        options, layers, embedding_scale=options["embedding_multiplier"],
        logit_scale=1 / options["logits_scaling"],
    )  # fmt: skip


def _granitemoe(options: Options) -> ModelSpec:
    scale = options["attention_multiplier"]
    return _granite_moe(
        options,
        [attention_of(options, kind, scale=scale) for kind in kinds(options)],
    )


def _granitemoe_swa(options: Options) -> ModelSpec:
    return _granite_moe(options, granite_windows(options))


def _olmoe(options: Options) -> ModelSpec:
    norm = norm_of(options)
    mixers = [
        attention_of(options, kind, qk_norm=norm, qk_norm_over="all")
        for kind in kinds(options)
    ]
    normalised = options.flag("norm_topk_prob", False)
    return sparse_model(
        options, mixers, [True] * len(mixers), normalised=normalised
    )


_HUNYUAN = {
    **LLAMA,
    **expert_names(router="gate.wg", shared="shared_mlp"),
    "layers.*.mixer.query_norm": "model.layers.*.self_attn.query_layernorm",
    "layers.*.mixer.key_norm": "model.layers.*.self_attn.key_layernorm",
}
_ERNIE: Names = {
    **expert_names(),
    f"{_EXPERTS}.router.correction": Made(
        "model.layers.*.mlp.gate.moe_statics.e_score_correction_bias", _flat
    ),
}
_GRANITE: Names = {
    **LLAMA,
    **expert_names("block_sparse_moe", router="router"),
    f"{_EXPERTS}.shared.gate_proj": Made(
        "model.layers.*.shared_mlp.input_linear", half(0)
    ),
    f"{_EXPERTS}.shared.up_proj": Made(
        "model.layers.*.shared_mlp.input_linear", half(1)
    ),
    f"{_EXPERTS}.shared.down_proj": "model.layers.*.shared_mlp.output_linear",
}
_GPT_OSS = {
    f"{_EXPERTS}.gate_up": Made(
        "model.layers.*.mlp.experts.gate_up_proj", _alternating_rows
    ),
    f"{_EXPERTS}.gate_up_bias": Made(
        "model.layers.*.mlp.experts.gate_up_proj_bias", _alternating_bias
    ),
    f"{_EXPERTS}.down": Made(
        "model.layers.*.mlp.experts.down_proj", transposed
    ),
}

FAMILIES = {
    "mixtral": Family(_mixtral, {**LLAMA, **expert_names()}),
    "qwen3_moe": Family(_qwen3_moe, {**LLAMA, **expert_names()}),
    "qwen2_moe": Family(
        _qwen2_moe, {**LLAMA, **expert_names(shared="shared_expert")}
    ),
    "mellum": Family(_mellum, {**LLAMA, **expert_names()}),
    "flex_olmo": Family(_flex_olmo, {**LLAMA, **POST_NORMS, **expert_names()}),
    "flint": Family(_flint, {**LLAMA, **expert_names(shared="shared_expert")}),
    "ernie4_5_moe": Family(_ernie4_5_moe, {**LLAMA, **_ERNIE}),
    "hunyuan_v1_moe": Family(_hunyuan_moe, _HUNYUAN),
    "granitemoe": Family(_granitemoe, _GRANITE),
    "granitemoeshared": Family(_granitemoe, _GRANITE),
    "granitemoe_swa": Family(_granitemoe_swa, _GRANITE),
    "olmoe": Family(_olmoe, {**LLAMA, **expert_names()}),
    "llama4_text": Family(_llama4, {**LLAMA, **_LLAMA4}),
    "cohere2_moe": Family(_cohere2_moe, {**LLAMA, **expert_names()}),
    "gpt_oss": Family(
        _gpt_oss, {**LLAMA, **expert_names(router="router"), **_GPT_OSS}
    ),
}
