"""Families whose experts are kept in balance by a correction, as in DeepSeek-V3."""

from __future__ import annotations

from companion.models.atlas.families.family import Family, Names
from companion.models.atlas.families.shared import (
    ATTENTION,
    LLAMA,
    SANDWICH,
    attention_of,
    attentions,
    balanced_experts_of,
    behind_dense,
    expert_names,
    feed_forward_of,
    halves,
    kinds,
    mixed_model,
    norm_of,
    sparse_layers,
    turned_in_windows,
)
from companion.models.atlas.mixers.block_indexed import BlockIndexedSpec
from companion.models.atlas.specs import MixerSpec, ModelSpec
from companion.models.options import Options


def _minimax_m2(options: Options) -> ModelSpec:
    norm = norm_of(options)
    mixers = attentions(options, qk_norm=norm, qk_norm_over="all")
    return mixed_model(options, mixers, balanced_experts_of(options))


def _balanced(options: Options) -> ModelSpec:
    """Return a model with experts as DeepSeek-V3 has them behind some dense layers."""
    norm = norm_of(options) if options.get("use_qk_norm", True) else None
    mixers = attentions(options, qk_norm=norm, output_bias=False)
    experts = balanced_experts_of(options)
    return mixed_model(options, mixers, experts, behind_dense(options))


def _solar_open(options: Options) -> ModelSpec:
    mixers = attentions(options, output_bias=False)
    return mixed_model(options, mixers, balanced_experts_of(options))


def _hy_v3(options: Options) -> ModelSpec:
    mixers = attentions(options, qk_norm=norm_of(options))
    scale = options["router_scaling_factor"]
    experts = balanced_experts_of(options, scale=scale)
    return mixed_model(options, mixers, experts, sparse_layers(options))


def _exaone_moe(options: Options) -> ModelSpec:
    turned, norm = turned_in_windows(options), norm_of(options)
    mixers = attentions(options, turned, qk_norm=norm)
    experts = balanced_experts_of(options)
    return mixed_model(options, mixers, experts, sparse_layers(options))


def _kolibri1(options: Options) -> ModelSpec:
    turned, norm = turned_in_windows(options), norm_of(options)
    experts = balanced_experts_of(
        options, scores="sigmoid_of_chosen",
        shared_dim=options["shared_expert_intermediate_size"],
    )  # fmt: skip
    mixers = attentions(options, turned, qk_norm=norm)
    return mixed_model(options, mixers, experts, post_norm=norm)


def _mimo_v2(options: Options) -> ModelSpec:
    heads, mixers = options["num_key_value_heads"], []
    near_heads = options.get("swa_num_key_value_heads") or 2 * heads
    for kind in kinds(options):
        near = kind == "sliding_attention"
        mixers.append(attention_of(
            options, kind, num_kv_heads=near_heads if near else heads, sinks=near,
            value_dim=options["v_head_dim"], output_bias=False,
            value_scale=options.get("attention_value_scale") or 1.0,
        ))  # fmt: skip
    experts = balanced_experts_of(options)
    return mixed_model(options, mixers, experts, sparse_layers(options))


def _minimax_m3(options: Options) -> ModelSpec:
    """Return MiniMax M3, some of whose layers choose blocks, and whose products are bounded."""
    norm = norm_of(options, gain="one_plus_weight")
    attention = attention_of(options, qk_norm=norm)
    blocks = BlockIndexedSpec(
        attention, options["index_head_dim"], options["index_block_size"],
        options["index_topk_blocks"], options["index_local_blocks"], norm,
    )  # fmt: skip
    chosen = [kind == "minimax_m3_sparse" for kind in kinds(options)]
    mixers: list[MixerSpec] = [blocks if one else attention for one in chosen]
    bounded = {
        "activation": "gelu_quick",
        "limit": options["swiglu_limit"],
        "shifted": True,
    }
    experts = balanced_experts_of(
        options, hidden_dim=options["intermediate_size"], shared_alike=True,
        shared_dim=options["shared_intermediate_size"], **bounded,
    )  # fmt: skip
    return mixed_model(
        options, mixers, experts, sparse_layers(options), norm=norm,
        dense=feed_forward_of(options, width=options["dense_intermediate_size"], **bounded),
    )  # fmt: skip


_BALANCED = {**LLAMA, **expert_names()}
_BESIDE = {**LLAMA, **expert_names(correction="e_score_correction_bias")}
_BLOCKS: Names = {
    **LLAMA,
    **expert_names(correction="gate.e_score_correction_bias"),
    **{
        name.replace(".mixer.", ".mixer.attention."): theirs
        for name, theirs in ATTENTION.items()
    },
    **{
        f"layers.*.mixer.index_{part}_{kind}": f"model.layers.*.self_attn.indexer.{part[0]}_{kind}"
        for part in ("query", "key")
        for kind in ("proj", "norm")
    },
    **halves("model.layers.*.mlp.gate_up_proj"),
    **halves(
        "model.layers.*.mlp.shared_experts.gate_up_proj",
        "layers.*.feed_forward.shared",
    ),
}

FAMILIES = {
    "minimax_m2": Family(_minimax_m2, _BESIDE),
    "hy_v3": Family(_hy_v3, _BESIDE),
    "dots1": Family(_balanced, _BALANCED),
    "glm4_moe": Family(_balanced, _BALANCED),
    "solar_open": Family(_solar_open, _BALANCED),
    "exaone_moe": Family(_exaone_moe, _BALANCED),
    "kolibri1": Family(_kolibri1, {**_BALANCED, **SANDWICH}),
    "mimo_v2_flash": Family(_mimo_v2, _BALANCED),
    "minimax_m3_vl_text": Family(_minimax_m3, _BLOCKS),
}
