"""Liquid AI's models: gated short convolutions in most layers, attention in a few."""

from __future__ import annotations

from typing import Any

from companion.models.atlas.experts import ExpertsSpec
from companion.models.atlas.families.family import Family, Made, Names
from companion.models.atlas.families.shared import (
    LLAMA,
    attention_of,
    channels_first,
    expert_names,
    feed_forward_names,
    kinds,
    mixed_model,
    norm_of,
    stacked,
)
from companion.models.atlas.feed_forward import FeedForwardSpec
from companion.models.atlas.mixers.short_conv import ShortConvSpec
from companion.models.atlas.norms import NormSpec
from companion.models.atlas.specs import MixerSpec, ModelSpec
from companion.models.options import Options


def _mixers(
    options: Options, norm: NormSpec, **choices: Any
) -> list[MixerSpec]:
    convolution = ShortConvSpec(
        options["hidden_size"], options["conv_L_cache"], options.flag("conv_bias", False)
    )  # fmt: skip
    return [
        convolution
        if kind == "conv"
        else attention_of(options, kind, qk_norm=norm, **choices)
        for kind in kinds(options)
    ]


def _lfm2(options: Options) -> ModelSpec:
    norm = norm_of(options, eps="norm_eps")
    dense = FeedForwardSpec(_width(options))
    mixers = _mixers(options, norm)
    return stacked(options, mixers, dense, norm=norm, tied=True)


def _width(options: Options) -> int:
    """Return the width of a feed-forward layer, which the library makes of three fields."""
    width = int(options["intermediate_size"])
    if not options.flag("block_auto_adjust_ff_dim", True):
        return width
    width, factor = int(2 * width / 3), options.get("block_ffn_dim_multiplier")
    if factor is None:
        return width
    step = int(options["block_multiple_of"])
    return -(-int(factor * width) // step) * step


def _lfm2_moe(options: Options) -> ModelSpec:
    norm = norm_of(options, eps="norm_eps")
    dense = FeedForwardSpec(options["intermediate_size"])
    experts = ExpertsSpec(
        options["num_experts"], options["num_experts_per_tok"], options["moe_intermediate_size"],
        scores="sigmoid", corrected=options.flag("use_expert_bias", True),
        normalised=options.flag("norm_topk_prob", True), sum_eps=1e-6,
        scale=options["routed_scaling_factor"],
    )  # fmt: skip
    mixers, dense_layers = _mixers(options, norm), options["num_dense_layers"]
    sparse = [number >= dense_layers for number in range(len(mixers))]
    return mixed_model(
        options, mixers, experts, sparse, dense=dense, norm=norm, tied=True
    )


def _lfm3(options: Options) -> ModelSpec:
    norm = norm_of(options, eps="norm_eps")
    gate = "head" if options.flag("use_attention_gate", True) else None
    after = norm if options.flag("use_sandwich_norm", True) else None
    dense = FeedForwardSpec(options["intermediate_size"])
    mixers = _mixers(options, norm, gate=gate)
    return stacked(
        options, mixers, dense, norm=norm, post_norm=after, tied=True
    )


_OWN, _CONV = "layers.*.mixer", "model.layers.*.conv"
_ATTENTION = "model.layers.*.self_attn"
_NAMES: Names = {
    **LLAMA,
    **feed_forward_names("feed_forward"),
    "norm": "model.embedding_norm",
    "layers.*.mixer_norm": "model.layers.*.operator_norm",
    "layers.*.feed_forward_norm": "model.layers.*.ffn_norm",
    "layers.*.mixer_post_norm": "model.layers.*.post_operator_norm",
    "layers.*.feed_forward_post_norm": "model.layers.*.post_ffn_norm",
    f"{_OWN}.gate_proj": f"{_ATTENTION}.g_proj",
    f"{_OWN}.input_proj": f"{_CONV}.in_proj",
    f"{_OWN}.conv_weight": Made(f"{_CONV}.conv.weight", channels_first),
    f"{_OWN}.conv_bias": f"{_CONV}.conv.bias",
}
_LFM2: Names = {
    **_NAMES,
    f"{_OWN}.output_proj": f"{_ATTENTION}.out_proj",
    f"{_OWN}.query_norm": f"{_ATTENTION}.q_layernorm",
    f"{_OWN}.key_norm": f"{_ATTENTION}.k_layernorm",
}
_EXPERTS = expert_names("feed_forward", correction="expert_bias")
_CONVOLUTION: dict[type, Names] = {
    ShortConvSpec: {f"{_OWN}.output_proj": f"{_CONV}.out_proj"}
}

FAMILIES = {
    "lfm2": Family(_lfm2, _LFM2, mixers=_CONVOLUTION),
    "lfm2_moe": Family(_lfm2_moe, {**_LFM2, **_EXPERTS}, mixers=_CONVOLUTION),
    "lfm3": Family(_lfm3, _NAMES, mixers=_CONVOLUTION),
}
