"""Families with attention in a few layers, and a state of fixed size or convolutions in most."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from companion.models.atlas.experts import ExpertsSpec
from companion.models.atlas.families.family import (
    Family,
    Made,
    Names,
    as_it_is,
    within,
)
from companion.models.atlas.families.shared import (
    LLAMA,
    POST_NORMS,
    attention_of,
    channels_first,
    every_step,
    expert_names,
    experts_of,
    feed_forward_names,
    feed_forward_of,
    head_width,
    kinds,
    mixed_model,
    model_of,
    norm_of,
    of_each_head,
    rotary_of,
    stacked,
)
from companion.models.atlas.feed_forward import FeedForwardSpec
from companion.models.atlas.mixers.gated_delta import GatedDeltaSpec
from companion.models.atlas.mixers.lightning import LightningSpec
from companion.models.atlas.mixers.short_conv import ShortConvSpec
from companion.models.atlas.mixers.softmax import AttentionSpec
from companion.models.atlas.norms import NormSpec
from companion.models.atlas.specs import LayerSpec, MixerSpec, ModelSpec
from companion.models.options import Options

_OWN, _LINEAR = "layers.*.mixer", "model.layers.*.linear_attn"
_ATTENTION, _CONV = "model.layers.*.self_attn", "model.layers.*.conv"


def gated_delta_of(options: Options, **choices: object) -> GatedDeltaSpec:
    """Return Gated DeltaNet; `choices` say what the fields do not."""
    given = {
        "num_key_heads": options["linear_num_key_heads"],
        "num_value_heads": options["linear_num_value_heads"],
        "key_dim": options["linear_key_head_dim"],
        "value_dim": options["linear_value_head_dim"],
        "conv_width": options["linear_conv_kernel_dim"],
    }
    return GatedDeltaSpec(**(given | choices))


def _qwen_model(options: Options, computing: Any = None) -> ModelSpec:
    # Half of it would belong to the gate.
    options.require(attention_bias=False)
    norm = norm_of(options, gain="one_plus_weight")
    eps = options["rms_norm_eps"]
    mixers = [
        gated_delta_of(options, norm_eps=eps)
        if kind == "linear_attention"
        else attention_of(options, kind, qk_norm=norm, gate="feature")
        for kind in kinds(options)
    ]
    return stacked(options, mixers, computing, norm=norm)


def _qwen_experts(options: Options, *, normalised: bool = True) -> ExpertsSpec:
    return experts_of(
        options, normalised=normalised, shared_gate=True,
        shared_dim=options["shared_expert_intermediate_size"],
    )  # fmt: skip


def _qwen3_next(options: Options) -> ModelSpec:
    normalised = options.flag("norm_topk_prob", True)
    experts = _qwen_experts(options, normalised=normalised)
    return _qwen_model(options, [
        experts if sparse else feed_forward_of(options) for sparse in every_step(options)
    ])  # fmt: skip


def _qwen3_5_moe(options: Options) -> ModelSpec:
    return _qwen_model(options, _qwen_experts(options))


def _olmo_hybrid(options: Options) -> ModelSpec:
    """Return OLMo Hybrid: its recurrent layers have norms before their parts, the others behind."""
    norm = norm_of(options)
    rope = options.get("rope_parameters") or {}
    turned = rope.get("rope_theta", 0.0) is not None
    max_beta = 2.0 if options.flag("linear_allow_neg_eigval", True) else 1.0
    linear = gated_delta_of(options, norm_eps=1e-5, max_beta=max_beta)
    attention = attention_of(
        options, qk_norm=norm, qk_norm_over="all",
        rotary=rotary_of(options, head_width(options)) if turned else None,
    )  # fmt: skip
    dense = feed_forward_of(options)
    return model_of(options, [
        LayerSpec(linear, dense, norm)
        if kind == "linear_attention"
        else LayerSpec(attention, dense, pre_norm=None, post_norm=norm)
        for kind in kinds(options)
    ])  # fmt: skip


def _minimax(options: Options) -> ModelSpec:
    """Return MiniMax-01, whose residual goes on from the normalised x."""
    last = options["num_hidden_layers"] - 1 + 1e-5
    layers = []
    for number, kind in enumerate(kinds(options)):
        attends = "full" if kind == "full_attention" else "linear"
        window = options.get("sliding_window")
        mixer: MixerSpec = attention_of(options, window=window or None)
        if kind == "linear_attention":
            mixer = LightningSpec(
                options["num_attention_heads"], head_width(options),
                slope_scale=1 - number / last + 1e-5,
            )  # fmt: skip
        layers.append(LayerSpec(
            mixer, experts_of(options), norm_of(options), carries_norm=True,
            carry_scale=_pair(options, attends, "alpha"),
            residual_scale=_pair(options, attends, "beta"),
        ))  # fmt: skip
    return model_of(options, layers)


def _pair(options: Options, attends: str, name: str) -> tuple[float, float]:
    """Return the factors of the two parts of a layer of MiniMax-01."""
    mixer = options.get(f"{attends}_attn_{name}_factor", 1.0)
    return mixer, options.get(f"mlp_{name}_factor", 1.0)


def _by_key_head(stored: Tensor, mixer: MixerSpec | None) -> list[Tensor]:
    """Cut rows that lie by key head into those of queries, keys, values and gates."""
    assert isinstance(mixer, GatedDeltaSpec)
    values = mixer.num_value_heads // mixer.num_key_heads * mixer.value_dim
    heads = torch.unflatten(stored, 0, (mixer.num_key_heads, -1))
    widths = [mixer.key_dim, mixer.key_dim, values, values]
    parts = torch.split(heads, widths, dim=1)
    return [part.flatten(0, 1) for part in parts]


def _queries_keys_values(stored: Tensor, layer: LayerSpec) -> Tensor:
    return torch.cat(_by_key_head(stored, layer.mixer)[:3])


def _gates(stored: Tensor, layer: LayerSpec) -> Tensor:
    return _by_key_head(stored, layer.mixer)[3]


def _by_kind(stored: Tensor, layer: LayerSpec) -> Tensor:
    """Put the rows of all queries first, then all keys and all values: they lie by head."""
    assert isinstance(layer.mixer, LightningSpec)
    heads = torch.unflatten(stored, 0, (layer.mixer.num_heads, 3, -1))
    return heads.transpose(0, 1).flatten(0, 2)


def _convolutions(
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
    mixers = _convolutions(options, norm)
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
    mixers = _convolutions(options, norm)
    dense_layers = options["num_dense_layers"]
    sparse = [number >= dense_layers for number in range(len(mixers))]
    return mixed_model(
        options, mixers, experts, sparse, dense=dense, norm=norm, tied=True
    )


def _lfm3(options: Options) -> ModelSpec:
    norm = norm_of(options, eps="norm_eps")
    gate = "head" if options.flag("use_attention_gate", True) else None
    after = norm if options.flag("use_sandwich_norm", True) else None
    dense = FeedForwardSpec(options["intermediate_size"])
    mixers = _convolutions(options, norm, gate=gate)
    return stacked(
        options, mixers, dense, norm=norm, post_norm=after, tied=True
    )


def _beside_pictures(family: Family) -> Family:
    """Return the family of a text model whose fields and weights lie inside a larger one's."""
    prefix = "model.language_model."
    return Family(
        family.read,
        within(prefix, family.names),
        ignored=("model.visual.*", "mtp.*"),
        mixers={
            kind: within(prefix, names)
            for kind, names in family.mixers.items()
        },
    )


_GATED: Names = {
    f"{_OWN}.query_proj": Made(f"{_ATTENTION}.q_proj", of_each_head(0, 2)),
    f"{_OWN}.gate_proj": Made(f"{_ATTENTION}.q_proj", of_each_head(1, 2)),
}
_DELTA: Names = {
    f"{_OWN}.conv_weight": Made(f"{_LINEAR}.conv1d.weight", channels_first),
    f"{_OWN}.decay_rate": f"{_LINEAR}.A_log",
    f"{_OWN}.decay_bias": f"{_LINEAR}.dt_bias",
    f"{_OWN}.norm": f"{_LINEAR}.norm",
    f"{_OWN}.output_proj": f"{_LINEAR}.out_proj",
}
_QWEN3_NEXT: Names = {
    **_DELTA,
    f"{_OWN}.input_proj": Made(
        f"{_LINEAR}.in_proj_qkvz", _queries_keys_values
    ),
    f"{_OWN}.gate_proj": Made(f"{_LINEAR}.in_proj_qkvz", _gates),
    **{
        f"{_OWN}.{part}_proj": Made(
            f"{_LINEAR}.in_proj_ba", of_each_head(number, 2, "num_key_heads")
        )
        for number, part in enumerate(("beta", "decay"))
    },
}
_QWEN3_5: Names = {
    **_DELTA,
    f"{_OWN}.input_proj": f"{_LINEAR}.in_proj_qkv",
    f"{_OWN}.gate_proj": f"{_LINEAR}.in_proj_z",
    f"{_OWN}.beta_proj": f"{_LINEAR}.in_proj_b",
    f"{_OWN}.decay_proj": f"{_LINEAR}.in_proj_a",
}
_OLMO: Names = {
    **_DELTA,
    f"{_OWN}.input_proj": Made(
        tuple(f"{_LINEAR}.{part}_proj" for part in "qkv"), as_it_is
    ),
    f"{_OWN}.gate_proj": f"{_LINEAR}.g_proj",
    f"{_OWN}.beta_proj": f"{_LINEAR}.b_proj",
    f"{_OWN}.decay_proj": f"{_LINEAR}.a_proj",
    f"{_OWN}.norm": f"{_LINEAR}.o_norm",
    f"{_OWN}.output_proj": f"{_LINEAR}.o_proj",
}
_LIGHTNING: Names = {
    f"{_OWN}.qkv_proj": Made(f"{_ATTENTION}.qkv_proj", _by_kind),
    f"{_OWN}.gate_proj": f"{_ATTENTION}.output_gate",
    f"{_OWN}.norm": f"{_ATTENTION}.norm",
    f"{_OWN}.output_proj": f"{_ATTENTION}.out_proj",
}

_TABLES = ("*.slope_rate", "*.query_decay", "*.key_decay", "*.diagonal_decay")
_QWEN: Names = {**LLAMA, **expert_names(shared="shared_expert")}
_LFM: Names = {
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
    **_LFM,
    f"{_OWN}.output_proj": f"{_ATTENTION}.out_proj",
    f"{_OWN}.query_norm": f"{_ATTENTION}.q_layernorm",
    f"{_OWN}.key_norm": f"{_ATTENTION}.k_layernorm",
}
_LFM_EXPERTS = expert_names("feed_forward", correction="expert_bias")
_CONVOLUTION: dict[type, Names] = {
    ShortConvSpec: {f"{_OWN}.output_proj": f"{_CONV}.out_proj"}
}

FAMILIES = {
    **{
        name: Family(
            read, _QWEN, mixers={GatedDeltaSpec: delta, AttentionSpec: _GATED}
        )
        for name, read, delta in (
            ("qwen3_next", _qwen3_next, _QWEN3_NEXT),
            ("qwen3_5_text", _qwen_model, _QWEN3_5),
            ("qwen3_5_moe_text", _qwen3_5_moe, _QWEN3_5),
        )
    },
    "olmo_hybrid": Family(
        _olmo_hybrid, {**LLAMA, **POST_NORMS}, mixers={GatedDeltaSpec: _OLMO}
    ),
    "minimax": Family(
        _minimax,
        {**LLAMA, **expert_names()},
        mixers={LightningSpec: _LIGHTNING},
        ignored=_TABLES,
    ),
    "lfm2": Family(_lfm2, _LFM2, mixers=_CONVOLUTION),
    "lfm2_moe": Family(
        _lfm2_moe, {**_LFM2, **_LFM_EXPERTS}, mixers=_CONVOLUTION
    ),
    "lfm3": Family(_lfm3, _LFM, mixers=_CONVOLUTION),
}
FAMILIES |= {
    name: _beside_pictures(FAMILIES[f"{name}_text"])
    for name in ("qwen3_5", "qwen3_5_moe")
}
