"""Families whose attention gates what it has gathered."""

from __future__ import annotations

from typing import Any

from companion.models.atlas.families.family import Family, within
from companion.models.atlas.families.shared import (
    BOTH_NORMS,
    LLAMA,
    attention_of,
    attentions,
    balanced_experts_of,
    expert_names,
    head_width,
    kinds,
    layer_bases,
    mixed_model,
    norm_of,
    rotary_of,
    sparse_layers,
    stacked,
    windows,
)
from companion.models.atlas.mixers.softmax import AttentionSpec
from companion.models.atlas.specs import ModelSpec
from companion.models.options import Options


def _afmoe(options: Options) -> ModelSpec:
    norm, turned = norm_of(options), windows(options)
    mixers = attentions(options, turned, qk_norm=norm, gate="feature")
    experts = balanced_experts_of(options, scale=options["route_scale"])
    sparse = [i >= options["num_dense_layers"] for i in range(len(mixers))]
    scaled = options.flag("mup_enabled", False)
    return mixed_model(
        options, mixers, experts, sparse, post_norm=norm,
        embedding_scale=options["hidden_size"] ** 0.5 if scaled else 1.0,
    )  # fmt: skip


def _laguna(options: Options) -> ModelSpec:
    heads, features = ("True", "per-head"), ("False", "per-element")
    gates = dict.fromkeys(heads, "head") | dict.fromkeys(features, "feature")
    gate = options.one_of("gating", gates)
    softcap = options["moe_router_logit_softcapping"]
    mixers = [
        attention_of(
            options, kind, num_heads=heads, qk_norm=norm_of(options), gate=gate,
            gate_activation="softplus",
        )
        for kind, heads in zip(
            kinds(options), options["num_attention_heads_per_layer"], strict=True
        )
    ]  # fmt: skip
    experts = balanced_experts_of(
        options, scale=options["moe_routed_scaling_factor"], softcap=softcap or None,
        shared_dim=options["shared_expert_intermediate_size"],
    )  # fmt: skip
    return mixed_model(options, mixers, experts, sparse_layers(options))


def _step3p7(options: Options) -> ModelSpec:
    """Return Step 3.7, whose windows have heads of their own number."""
    if options.get("swiglu_limits") or options.get("swiglu_limits_shared"):
        raise ValueError(
            f"swiglu_limits: {options.path} has some, wanted none"
        )
    norm = norm_of(options, gain="one_plus_weight")
    mixers = [
        attention_of(
            options, kind, qk_norm=norm, gate="head",
            num_heads=heads, scale=options["query_pre_attn_scalar"] ** -0.5,
        )
        for kind, heads in zip(kinds(options), options["query_heads"], strict=True)
    ]  # fmt: skip
    experts = balanced_experts_of(
        options, scale=options["moe_router_scaling_factor"], shared_dim=options["share_expert_dim"]
    )  # fmt: skip
    sparse = sparse_layers(options)
    return mixed_model(options, mixers, experts, sparse, norm=norm)


def _muse_attention(options: Options, **choices: Any) -> list[AttentionSpec]:
    """Return attention with norms without weights, and queries that are multiplied."""
    return attentions(
        options, layer_bases(options, still=4), qk_norm=norm_of(options, gain="none"),
        gate="feature", scale=options["qk_scale_factor"] * head_width(options) ** -0.5, **choices,
    )  # fmt: skip


def _muse(options: Options) -> dict[str, Any]:
    """Return what both models have around their parts."""
    return {
        "norm": norm_of(options),
        "pre_norm": norm_of(options, gain="one_plus_weight"),
        "embedding_norm": norm_of(options, gain="none"),
        "logit_scale": options["output_multiplier"],
        "logit_softcap": options["final_logit_softcapping"],
    }


def _muse_glimmer(options: Options) -> ModelSpec:
    after = norm_of(options, eps="post_norm_eps", gain="one_plus_weight")
    mixers = _muse_attention(options)
    return stacked(options, mixers, post_norm=after, **_muse(options))


def _muse_spark(options: Options) -> ModelSpec:
    post_norm = norm_of(
        options, eps="post_norm_eps", gain="one_plus_weight", gain_first=True
    )
    experts = balanced_experts_of(
        options, logit_scale=options["output_multiplier"], inner_dim=options["moe_hidden_size"],
        inner_norm=norm_of(options, gain="one_plus_weight"), post_norm=post_norm,
    )  # fmt: skip
    return mixed_model(
        options, _muse_attention(options, output_norm=norm_of(options, gain="none")), experts,
        sparse_layers(options), post_norm=norm_of(options, eps="post_norm_eps", gain="none"),
        feed_forward_post_norm=post_norm, residual_gate=options["residual_gate_temperature"],
        **_muse(options),
    )  # fmt: skip


def _beam(options: Options) -> ModelSpec:
    """Return Beam, which has no positions in full layers.

    Its k-th part joins as sqrt((k - 1) / k) x + part / sqrt(k), which is 1 / sqrt(k) times the
    plain sum of all; every reader of x normalises it first, so that the plain sum gives the same.
    """
    norm, ropes = norm_of(options), options["rope_parameters"]
    width = head_width(options)
    mixers = [
        attention_of(
            options, kind, qk_norm=norm, gate="feature", gate_bias=True,
            rotary=rotary_of(options, width, kind=kind) if ropes.get(kind) else None,
            length_power=None if ropes.get(kind) else (0.1, 2048),
        )
        for kind in kinds(options)
    ]  # fmt: skip
    return mixed_model(
        options, mixers, balanced_experts_of(options), sparse_layers(options), post_norm=norm,
        logit_softcap=options["final_logit_softcapping"],
    )  # fmt: skip


_AFMOE = {
    **BOTH_NORMS,
    "layers.*.feed_forward_norm": "model.layers.*.pre_mlp_layernorm",
    "layers.*.feed_forward_post_norm": "model.layers.*.post_mlp_layernorm",
    **expert_names(router="router.gate", correction="expert_bias"),
}
_LAGUNA = {
    **LLAMA,
    **expert_names(),
    "layers.*.mixer.gate_proj": "model.layers.*.self_attn.g_proj",
}
_BEAM = {"layers.*.mixer.gate_bias": "model.layers.*.self_attn.gate_bias"}
_WHOLE = "model.language_model."
_OTHERS = (
    "*vision_*", "model.audio_*", "*vit_*", "model.multi_modal_projector*"
)  # fmt: skip
_MUSE = {**LLAMA, **BOTH_NORMS}
_MUSE_SPARK = {
    **_MUSE,
    **expert_names(),
    "layers.*.feed_forward.inner_proj": "model.layers.*.mlp.pre_expert_proj",
    "layers.*.feed_forward.inner_norm": "model.layers.*.mlp.pre_expert_norm",
    "layers.*.feed_forward.outer_proj": "model.layers.*.mlp.post_expert_proj",
    "layers.*.feed_forward.post_norm": "model.layers.*.mlp.experts.post_expert_norm",
    "layers.*.mixer_gate": "model.layers.*.post_attention_residual_gate",
    "layers.*.feed_forward_gate": "model.layers.*.post_feedforward_residual_gate",
}

FAMILIES = {
    "beam": Family(_beam, {**_MUSE, **expert_names(), **_BEAM}),
    "step3p7": Family(_step3p7, _LAGUNA, _OTHERS),
    **{
        name: Family(read, within(_WHOLE, names), _OTHERS)
        for name, read, names in (
            ("muse_glimmer", _muse_glimmer, _MUSE),
            ("muse_spark", _muse_spark, _MUSE_SPARK),
        )
    },
    "afmoe": Family(_afmoe, {**LLAMA, **_AFMOE}),
    "laguna": Family(_laguna, _LAGUNA),
}
