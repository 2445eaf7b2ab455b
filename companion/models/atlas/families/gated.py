"""Families whose attention gates what it has gathered."""

from __future__ import annotations

from companion.models.atlas.families.dense import model_of
from companion.models.atlas.families.family import Family
from companion.models.atlas.families.shared import (
    BOTH_NORMS,
    LLAMA,
    attention_of,
    balanced_experts_of,
    expert_names,
    feed_forward_of,
    head_width,
    kinds,
    norm_of,
    rotary_of,
    sparse_layers,
)
from companion.models.atlas.families.sparse import mixed_model
from companion.models.atlas.specs import LayerSpec, ModelSpec
from companion.models.options import Options


def _afmoe(options: Options) -> ModelSpec:
    norm, rotary = norm_of(options), rotary_of(options, head_width(options))
    experts = balanced_experts_of(options, scale=options["route_scale"])
    layers = [
        LayerSpec(
            attention_of(
                options, kind, qk_norm=norm, gate="feature",
                rotary=rotary if kind == "sliding_attention" else None,
            ),
            experts if number >= options["num_dense_layers"] else feed_forward_of(options),
            norm,
            post_norm=norm,
        )
        for number, kind in enumerate(kinds(options))
    ]  # fmt: skip
    scale = options["hidden_size"] ** 0.5 if options.flag("mup_enabled", False) else 1.0
    return model_of(options, layers, embedding_scale=scale)


def _laguna(options: Options) -> ModelSpec:
    gates = {"True": "head", "per-head": "head", "False": "feature", "per-element": "feature"}
    gate, softcap = options.one_of("gating", gates), options["moe_router_logit_softcapping"]
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
    return mixed_model(options, mixers, sparse_layers(options), experts)


_AFMOE = {
    **BOTH_NORMS,
    "layers.*.feed_forward_norm": "model.layers.*.pre_mlp_layernorm",
    "layers.*.feed_forward_post_norm": "model.layers.*.post_mlp_layernorm",
    **expert_names(router="router.gate", correction="expert_bias"),
}
_LAGUNA = {**expert_names(), "layers.*.mixer.gate_proj": "model.layers.*.self_attn.g_proj"}

FAMILIES = {
    "afmoe": Family(_afmoe, {**LLAMA, **_AFMOE}),
    "laguna": Family(_laguna, {**LLAMA, **_LAGUNA}),
}
