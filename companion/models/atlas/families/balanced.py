"""Families whose experts are kept in balance by a correction, as in DeepSeek-V3."""

from __future__ import annotations

from companion.models.atlas.families.family import Family
from companion.models.atlas.families.shared import (
    LLAMA,
    SANDWICH,
    attention_of,
    balanced_experts_of,
    expert_names,
    head_width,
    kinds,
    norm_of,
    rotary_of,
    sparse_layers,
)
from companion.models.atlas.families.sparse import mixed_model
from companion.models.atlas.mixers.softmax import AttentionSpec
from companion.models.atlas.specs import ModelSpec
from companion.models.options import Options


def _minimax_m2(options: Options) -> ModelSpec:
    norm = norm_of(options)
    mixers = [
        attention_of(options, kind, qk_norm=norm, qk_norm_over="all")
        for kind in kinds(options)
    ]
    return mixed_model(
        options, mixers, [True] * len(mixers), balanced_experts_of(options)
    )


def _balanced(options: Options) -> ModelSpec:
    """Return a model with experts as DeepSeek-V3 has them behind some dense layers."""
    norm = norm_of(options) if options.get("use_qk_norm", True) else None
    mixers = [
        attention_of(options, kind, qk_norm=norm, output_bias=False)
        for kind in kinds(options)
    ]
    sparse = [
        number >= options["first_k_dense_replace"]
        for number in range(len(mixers))
    ]
    return mixed_model(options, mixers, sparse, balanced_experts_of(options))


def _solar_open(options: Options) -> ModelSpec:
    mixers = [
        attention_of(options, kind, output_bias=False)
        for kind in kinds(options)
    ]
    return mixed_model(
        options, mixers, [True] * len(mixers), balanced_experts_of(options)
    )


def _hy_v3(options: Options) -> ModelSpec:
    mixers = [
        attention_of(options, kind, qk_norm=norm_of(options))
        for kind in kinds(options)
    ]
    experts = balanced_experts_of(
        options, scale=options["router_scaling_factor"]
    )
    return mixed_model(options, mixers, sparse_layers(options), experts)


def _exaone_moe(options: Options) -> ModelSpec:
    return mixed_model(
        options,
        _turned_in_windows(options),
        sparse_layers(options),
        balanced_experts_of(options),
    )


def _kolibri1(options: Options) -> ModelSpec:
    mixers = _turned_in_windows(options)
    experts = balanced_experts_of(
        options,
        scores="sigmoid_of_chosen",
        shared_dim=options["shared_expert_intermediate_size"],
    )
    sparse = [True] * len(mixers)
    return mixed_model(
        options, mixers, sparse, experts, post_norm=norm_of(options)
    )


def _mimo_v2(options: Options) -> ModelSpec:
    heads, mixers = options["num_key_value_heads"], []
    for kind in kinds(options):
        near = kind == "sliding_attention"
        mixers.append(attention_of(
            options, kind, num_kv_heads=2 * heads if near else heads, sinks=near,
            value_dim=options["v_head_dim"], output_bias=False,
            value_scale=options.get("attention_value_scale") or 1.0,
        ))  # fmt: skip
    return mixed_model(
        options, mixers, sparse_layers(options), balanced_experts_of(options)
    )


def _turned_in_windows(options: Options) -> list[AttentionSpec]:
    """Return attention with rotary positions in windows only, where there are windows."""
    norm, rotary = norm_of(options), rotary_of(options, head_width(options))
    everywhere = options.get("sliding_window") is None
    return [
        attention_of(
            options, kind, qk_norm=norm,
            rotary=rotary if everywhere or kind == "sliding_attention" else None,
        )
        for kind in kinds(options)
    ]  # fmt: skip


_BESIDE = "e_score_correction_bias"

FAMILIES = {
    "minimax_m2": Family(
        _minimax_m2, {**LLAMA, **expert_names(correction=_BESIDE)}
    ),
    "hy_v3": Family(_hy_v3, {**LLAMA, **expert_names(correction=_BESIDE)}),
    "dots1": Family(_balanced, {**LLAMA, **expert_names()}),
    "glm4_moe": Family(_balanced, {**LLAMA, **expert_names()}),
    "solar_open": Family(_solar_open, {**LLAMA, **expert_names()}),
    "exaone_moe": Family(_exaone_moe, {**LLAMA, **expert_names()}),
    "kolibri1": Family(_kolibri1, {**LLAMA, **SANDWICH, **expert_names()}),
    "mimo_v2_flash": Family(_mimo_v2, {**LLAMA, **expert_names()}),
}
