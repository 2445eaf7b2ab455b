"""Families that mix Kimi Delta Attention in most layers with latent attention in a few."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from companion.models.atlas.families.family import (
    Family,
    Made,
    Names,
    as_it_is,
)
from companion.models.atlas.families.latent import LATENT, latent_of
from companion.models.atlas.families.shared import (
    balanced_experts_of,
    channels_first,
    expert_names,
    flat,
    kinds,
    mixed_model,
    sparse_layers,
)
from companion.models.atlas.mixers.kda import KimiDeltaSpec
from companion.models.atlas.specs import LayerSpec, MixerSpec, ModelSpec
from companion.models.options import Options


def known(options: Options) -> Options:
    """Return the fields under the names that most families have for them."""
    return Options(
        {_FIELDS.get(name, name): field for name, field in options.items()},
        options.path,
    )


_FIELDS = {
    "num_experts_per_token": "num_experts_per_tok",
    "num_expert_group": "n_group",
    "num_shared_experts": "n_shared_experts",
    "moe_renormalize": "norm_topk_prob",
}


def kimi_delta_of(options: Options, **choices: Any) -> KimiDeltaSpec:
    """Return Kimi Delta Attention; `choices` say what the fields do not."""
    given = {
        "num_heads": options["linear_num_heads"],
        "head_dim": options["linear_head_dim"],
        "conv_width": options["linear_conv_kernel_dim"],
        "norm_eps": options["rms_norm_eps"],
    }
    return KimiDeltaSpec(**(given | choices))


def _mixed(
    options: Options, delta: KimiDeltaSpec, attention: MixerSpec
) -> ModelSpec:
    mixers = [
        delta if kind == "linear_attention" else attention
        for kind in kinds(options)
    ]
    experts = balanced_experts_of(options)
    return mixed_model(options, mixers, experts, sparse_layers(options))


def _kimi_linear(options: Options) -> ModelSpec:
    """Return Kimi Linear, whose latent attention rotates nothing."""
    options = known(options)
    rank = options["linear_head_dim"]
    delta = kimi_delta_of(options, decay_rank=rank, gate_rank=rank)
    return _mixed(options, delta, latent_of(options, rotary=None))


def _bailing_hybrid(options: Options) -> ModelSpec:
    """Return Ling 3.0, whose decays have a floor and whose latent attention has gates."""
    options = known(options)
    floored = options.flag("kda_safe_gate", True)
    floor = options["kda_lower_bound"] if floored else None
    delta = kimi_delta_of(options, decay_floor=floor)
    attention = latent_of(options, gate="head", query_dim=None)
    return _mixed(options, delta, attention)


def _by_head(stored: Tensor, layer: LayerSpec) -> Tensor:
    assert isinstance(layer.mixer, KimiDeltaSpec)
    return stored.reshape(layer.mixer.num_heads, layer.mixer.head_dim)


_OWN, _BLOCK = "layers.*.mixer", "model.layers.*.self_attn"
_FORGET = f"{_BLOCK}.forget_gate"
_DELTA: Names = {
    f"{_OWN}.input_proj": Made(
        tuple(f"{_BLOCK}.{part}_proj" for part in "qkv"), as_it_is
    ),
    f"{_OWN}.conv_weight": Made(f"{_BLOCK}.conv1d.weight", channels_first),
    f"{_OWN}.decay_proj": f"{_FORGET}.f_proj",
    f"{_OWN}.decay_proj.0": f"{_FORGET}.f_a_proj",
    f"{_OWN}.decay_proj.1": f"{_FORGET}.f_b_proj",
    f"{_OWN}.decay_rate": Made(f"{_FORGET}.A_log", flat),
    f"{_OWN}.decay_bias": Made(f"{_FORGET}.dt_bias", _by_head),
    f"{_OWN}.beta_proj": f"{_BLOCK}.b_proj",
    f"{_OWN}.gate_proj": f"{_BLOCK}.g_proj",
    f"{_OWN}.gate_proj.0": f"{_BLOCK}.g_a_proj",
    f"{_OWN}.gate_proj.1": f"{_BLOCK}.g_b_proj",
    f"{_OWN}.norm": f"{_BLOCK}.o_norm",
    f"{_OWN}.output_proj": f"{_BLOCK}.o_proj",
}
_NAMES: Names = {
    **LATENT,
    **expert_names(),
    f"{_OWN}.gate_proj": f"{_BLOCK}.g_proj",
}


def _queries(options: Options) -> Names:
    """Return what queries are called where they come from the token itself."""
    return {} if options.get("q_lora_rank") else _PLAIN


_PLAIN: Names = {f"{_OWN}.query_proj": f"{_BLOCK}.q_proj"}

FAMILIES = {
    "kimi_linear": Family(
        _kimi_linear,
        _NAMES,
        mixers={KimiDeltaSpec: _DELTA},
        by_fields=_queries,
    ),
    "bailing_hybrid": Family(
        _bailing_hybrid, {**_NAMES, **_PLAIN}, mixers={KimiDeltaSpec: _DELTA}
    ),
}
