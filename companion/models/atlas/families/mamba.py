"""Families with layers of Mamba-2: alone, with attention in other layers, or beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from companion.models.atlas.experts import ExpertsSpec
from companion.models.atlas.families.family import (
    Family,
    Made,
    Make,
    Names,
    as_it_is,
    within,
)
from companion.models.atlas.families.shared import (
    LLAMA,
    TEXT,
    attention_of,
    balanced_experts_of,
    channels_first,
    expert_names,
    experts_of,
    feed_forward_names,
    feed_forward_of,
    granite_scales,
    halves,
    head_width,
    kinds,
    model_of,
    norm_of,
    rotary_of,
    stacked,
)
from companion.models.atlas.feed_forward import FeedForwardSpec
from companion.models.atlas.mixers.mamba2 import Mamba2Spec
from companion.models.atlas.specs import LayerSpec, ModelSpec
from companion.models.options import Options

_OWN = "layers.*.mixer"


def _mamba_of(options: Options, **choices: Any) -> Mamba2Spec:
    """Return Mamba-2 as most files describe it; `choices` say what is different."""
    least, most = options.get("time_step_limit") or (0.0, None)
    # Files write infinity as an object.
    if isinstance(most, float) and math.isfinite(most):
        raise ValueError(
            f"time_step_limit: {options.path} has {most}, wanted no upper limit"
        )
    given = {
        "num_heads": options["mamba_n_heads"],
        "head_dim": options["mamba_d_head"],
        "num_groups": options["mamba_n_groups"],
        "state_dim": options["mamba_d_state"],
        "conv_width": options["mamba_d_conv"],
        "conv_bias": options.flag("mamba_conv_bias", True),
        "bias": options.flag("mamba_proj_bias", False),
        "least_step": least,
        "norm_eps": options.get("rms_norm_eps"),
    }
    return Mamba2Spec(**(given | choices))


def _nemotron_h(options: Options) -> ModelSpec:
    """Return Nemotron-H, whose layers have one part each."""
    norm = norm_of(options, eps="layer_norm_epsilon")
    mamba = Mamba2Spec(
        options["mamba_num_heads"], options["mamba_head_dim"], options["n_groups"],
        options["ssm_state_size"], options["conv_kernel"], options.flag("use_conv_bias", True),
        options.flag("use_bias", False), options["time_step_min"],
        norm_eps=options["layer_norm_epsilon"],
    )  # fmt: skip
    dense = feed_forward_of(options, gated=False)
    attention = attention_of(options, rotary=None)
    layers = {
        "linear_attention": LayerSpec(mamba, None, norm),
        "full_attention": LayerSpec(attention, None, norm),
        "mlp": LayerSpec(None, dense, norm),
        "moe": LayerSpec(None, _nemotron_experts(options), norm),
    }
    named = [layers[kind] for kind in kinds(options)]
    return model_of(options, named, norm=norm)


def _nemotron_experts(options: Options) -> ExpertsSpec:
    options.require(mlp_bias=False)
    return balanced_experts_of(
        options, gated=False, inner_dim=options.get("moe_latent_size"),
        shared_dim=options["moe_shared_expert_intermediate_size"],
    )  # fmt: skip


def _granitemoehybrid(options: Options) -> ModelSpec:
    turned = options.get("position_embedding_type") == "rope"
    attention = attention_of(
        options, scale=options["attention_multiplier"],
        rotary=rotary_of(options, head_width(options)) if turned else None,
    )  # fmt: skip
    computing: FeedForwardSpec | ExpertsSpec
    shared, mamba = options["shared_intermediate_size"], _mamba_of(options)
    computing = feed_forward_of(options, width=shared, bias=False)
    if options["num_local_experts"]:
        scores = "softmax_of_chosen"
        computing = experts_of(options, scores=scores, shared_dim=shared)
    recurrent = [kind == "linear_attention" for kind in kinds(options)]
    mixers = [mamba if one else attention for one in recurrent]
    return stacked(options, mixers, computing, **granite_scales(options))


def _bamba(options: Options) -> ModelSpec:
    norm, mamba = norm_of(options), _mamba_of(options)
    mixers = [
        mamba if kind == "linear_attention" else attention_of(options)
        for kind in kinds(options)
    ]
    return stacked(options, mixers, norm=norm)


def _mamba2(options: Options) -> ModelSpec:
    norm = norm_of(options, eps="layer_norm_epsilon")
    mamba = Mamba2Spec(
        options["num_heads"], options["head_dim"], options["n_groups"], options["state_size"],
        options["conv_kernel"], options.flag("use_conv_bias", True),
        options.flag("use_bias", False), norm_eps=options["layer_norm_epsilon"],
    )  # fmt: skip
    layers = [LayerSpec(mamba, None, norm)] * options["num_hidden_layers"]
    return model_of(options, layers, norm=norm)


def _cut_rows(part: int) -> Make:
    """Return what takes gates, values with keys and queries, or steps of the rows of all."""

    def make(stored: Tensor, layer: LayerSpec) -> Tensor:
        assert isinstance(layer.mixer, Mamba2Spec)
        spec = layer.mixer
        rows = [spec.inner_dim, spec.channels, spec.num_heads]
        return torch.split(stored, rows)[part]

    return make


def _mamba_names(block: str) -> Names:
    """Return the names of a layer of Mamba-2 that the files call `block`."""
    theirs = f"model.layers.*.{block}"
    return {
        f"{_OWN}.gate_proj": Made(f"{theirs}.in_proj", _cut_rows(0)),
        f"{_OWN}.input_proj": Made(f"{theirs}.in_proj", _cut_rows(1)),
        f"{_OWN}.step_proj": Made(f"{theirs}.in_proj", _cut_rows(2)),
        f"{_OWN}.conv_weight": Made(f"{theirs}.conv1d.weight", channels_first),
        f"{_OWN}.conv_bias": f"{theirs}.conv1d.bias",
        f"{_OWN}.step_bias": f"{theirs}.dt_bias",
        f"{_OWN}.decay_rate": f"{theirs}.A_log",
        f"{_OWN}.skip": f"{theirs}.D",
        f"{_OWN}.norm": f"{theirs}.norm",
        f"{_OWN}.output_proj": f"{theirs}.out_proj",
    }


def _falcon_h1(options: Options) -> ModelSpec:
    """Return Falcon-H1: Mamba-2 and attention side by side in every layer.

    Its factors on what enters and leaves the parts are multiplied to the weights.
    """
    options.require(
        attention_bias=False, mlp_bias=False, mamba_proj_bias=False
    )
    before = options.flag("mamba_norm_before_gate", True)
    normed = options.flag("mamba_rms_norm", False)
    norm = ("before_gate" if before else "after_gate") if normed else "none"
    mixers = [_mamba_of(options, norm=norm)] * options["num_hidden_layers"]
    return stacked(
        options, mixers, beside=attention_of(options),
        embedding_scale=options["embedding_multiplier"], logit_scale=options["lm_head_multiplier"],
    )  # fmt: skip


def _times(factor: float, make: Make = as_it_is) -> Make:
    """Return what multiplies a weight by a factor."""
    return lambda stored, layer: make(stored, layer) * factor


def _values_keys_queries(factors: Sequence[float]) -> Make:
    """Return what takes the rows of values, keys and queries, each times a factor."""

    def make(stored: Tensor, layer: LayerSpec) -> Tensor:
        assert isinstance(layer.mixer, Mamba2Spec)
        shared = layer.mixer.num_groups * layer.mixer.state_dim
        rows = [layer.mixer.inner_dim, shared, shared]
        parts = torch.split(_cut_rows(1)(stored, layer), rows)
        pairs = zip(parts, factors, strict=True)
        return torch.cat([part * factor for part, factor in pairs])

    return make


def _falcon_names(options: Options) -> Names:
    """Return the names of Falcon-H1's weights, times the factors of its fields."""
    before = options["attention_in_multiplier"]
    between = options["key_multiplier"]
    first = options["ssm_in_multiplier"]
    gates, *mixed, steps = (first * x for x in options["ssm_multipliers"])
    gate, down = options["mlp_multipliers"]
    made = {
        "beside.query_proj": ("self_attn.q_proj", _times(before)),
        "beside.key_proj": ("self_attn.k_proj", _times(before * between)),
        "beside.value_proj": ("self_attn.v_proj", _times(before)),
        "beside.output_proj": ("self_attn.o_proj", _times(options["attention_out_multiplier"])),
        "mixer.gate_proj": ("mamba.in_proj", _times(gates, _cut_rows(0))),
        "mixer.input_proj": ("mamba.in_proj", _values_keys_queries(mixed)),
        "mixer.step_proj": ("mamba.in_proj", _times(steps, _cut_rows(2))),
        "mixer.output_proj": ("mamba.out_proj", _times(options["ssm_out_multiplier"])),
        "feed_forward.gate_proj": ("feed_forward.gate_proj", _times(gate)),
        "feed_forward.down_proj": ("feed_forward.down_proj", _times(down)),
    }  # fmt: skip
    return {
        f"layers.*.{own}": Made(f"model.layers.*.{stored}", make)
        for own, (stored, make) in made.items()
    }


_BLOCK = "model.layers.*.mixer"
_COMPUTING = "layers.*.feed_forward"
_NEMOTRON: Names = {
    **TEXT,
    "embedding": "model.embeddings",
    "norm": "model.norm_f",
    "layers.*.mixer_norm": "model.layers.*.norm",
    "layers.*.feed_forward_norm": "model.layers.*.norm",
    **{
        f"{_OWN}.{part}_proj": f"{_BLOCK}.{part[0]}_proj"
        for part in ("query", "key", "value", "output")
    },
    f"{_COMPUTING}.up_proj": f"{_BLOCK}.up_proj",
    f"{_COMPUTING}.down_proj": f"{_BLOCK}.down_proj",
    f"{_COMPUTING}.router.proj": f"{_BLOCK}.gate",
    f"{_COMPUTING}.router.correction": f"{_BLOCK}.gate.e_score_correction_bias",
    f"{_COMPUTING}.inner_proj": f"{_BLOCK}.fc1_latent_proj",
    f"{_COMPUTING}.outer_proj": f"{_BLOCK}.fc2_latent_proj",
    f"{_COMPUTING}.gate_up": f"{_BLOCK}.experts.up_proj",
    f"{_COMPUTING}.down": f"{_BLOCK}.experts.down_proj",
    f"{_COMPUTING}.shared.up_proj": f"{_BLOCK}.shared_experts.up_proj",
    f"{_COMPUTING}.shared.down_proj": f"{_BLOCK}.shared_experts.down_proj",
}
_GRANITE: Names = {
    **LLAMA,
    **expert_names("block_sparse_moe", router="router"),
    **{
        name: stored
        for ours in (_COMPUTING, f"{_COMPUTING}.shared")
        for name, stored in (
            *halves("model.layers.*.shared_mlp.input_linear", ours).items(),
            (f"{ours}.down_proj", "model.layers.*.shared_mlp.output_linear"),
        )
    },
}
_BAMBA: Names = {
    **LLAMA,
    **feed_forward_names("feed_forward"),
    "norm": "model.final_layernorm",
    "layers.*.feed_forward_norm": "model.layers.*.pre_ff_layernorm",
}
_MAMBA2: Names = {
    **TEXT,
    **_mamba_names("mixer"),
    "embedding": "model.embeddings",
    "norm": "model.norm_f",
    "layers.*.mixer_norm": "model.layers.*.norm",
}

FAMILIES = {
    "nemotron_h": Family(
        _nemotron_h, _NEMOTRON, mixers={Mamba2Spec: _mamba_names("mixer")}
    ),
    "granitemoehybrid": Family(
        _granitemoehybrid, _GRANITE, mixers={Mamba2Spec: _mamba_names("mamba")}
    ),
    "bamba": Family(
        _bamba, _BAMBA, mixers={Mamba2Spec: _mamba_names("mamba")}
    ),
    "mamba2": Family(_mamba2, within("backbone.", _MAMBA2)),
    "falcon_h1": Family(
        _falcon_h1,
        {**_BAMBA, **_mamba_names("mamba")},
        by_fields=_falcon_names,
    ),
}
