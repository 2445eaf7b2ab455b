"""Families with latent attention, DeepSeek-V2 and those that came from it, up to DeepSeek-V4.

Some mix it with Kimi Delta Attention in most layers; in DeepSeek-V4 far tokens are pooled instead.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

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
    balanced_experts_of,
    behind_dense,
    channels_first,
    expert_names,
    flat,
    kinds,
    mixed_model,
    norm_of,
    rotary_of,
    sparse_layers,
    stacked,
)
from companion.models.atlas.mixers.compressed import CompressedSpec
from companion.models.atlas.mixers.indexed import IndexerSpec
from companion.models.atlas.mixers.kda import KimiDeltaSpec
from companion.models.atlas.mixers.latent import LatentSpec
from companion.models.atlas.specs import LayerSpec, MixerSpec, ModelSpec
from companion.models.atlas.streams import StreamsSpec
from companion.models.options import Options


def latent_of(options: Options, **choices: Any) -> LatentSpec:
    """Return latent attention with a rotary part; `choices` say what is different."""
    width = options["qk_rope_head_dim"]
    given = {
        "num_heads": options["num_attention_heads"],
        "latent_dim": options["kv_lora_rank"],
        "head_dim": options["qk_nope_head_dim"],
        "rotary_dim": width,
        "value_dim": options["v_head_dim"],
        "query_dim": options.get("q_lora_rank"),
        "bias": options.flag("attention_bias", False),
    }
    if "rotary" not in choices:
        interleaved = options.flag("rope_interleave", True)
        given["rotary"] = rotary_of(options, width, interleaved=interleaved)
    if "scale" not in choices:
        given["scale"] = score_scale(options)
    return LatentSpec(**(given | choices))


def _latents(options: Options, **choices: Any) -> list[LatentSpec]:
    """Return the same latent attention for every layer."""
    return [latent_of(options, **choices)] * int(options["num_hidden_layers"])


def score_scale(options: Options) -> float:
    """Return 1 / sqrt(d + r), times the square of what YaRN adds where the files ask for it."""
    rope = options.get("rope_parameters") or {}
    width = options["qk_nope_head_dim"] + options["qk_rope_head_dim"]
    scale: float = width**-0.5
    size = rope.get("mscale_all_dim")
    if rope.get("rope_type", "default") == "default" or not size:
        return scale
    more: float = 0.1 * size * math.log(max(rope["factor"], 1.0)) + 1
    return scale * more**2


def indexer_of(options: Options, **choices: Any) -> IndexerSpec:
    """Return a lightning indexer; `choices` say what is different."""
    given = {
        "num_heads": options["index_n_heads"],
        "head_dim": options["index_head_dim"],
        "count": options["index_topk"],
        "rotary": rotary_of(options, options["qk_rope_head_dim"]),
    }
    return IndexerSpec(**(given | choices))


def choosers(options: Options) -> list[int | None]:
    """Return, layer by layer, which earlier one has chosen its keys; None for itself."""
    chooser, found = 0, []
    for number, kind in enumerate(options["indexer_types"]):
        chooser = number if kind == "full" else chooser
        found.append(None if kind == "full" else chooser)
    return found


def _unfolded(part: str) -> Make:
    """Return what takes keys (h, c, d) or values (h, c, v) out of what unfolds both."""

    def take(stored: Tensor, layer: LayerSpec) -> Tensor:
        spec = layer.mixer
        assert isinstance(spec, LatentSpec)
        heads = torch.unflatten(stored, 0, (spec.num_heads, -1)).mT
        d = spec.head_dim
        return heads[..., :d] if part == "key" else heads[..., d:]

    return take


def _sparse(options: Options) -> list[bool]:
    """Return which layers have experts: named layer by layer, or all behind some dense ones."""
    named = options.get("mlp_layer_types")
    if named is None:
        return behind_dense(options)
    return [kind == "sparse" for kind in named]


def _mixed(
    options: Options, mixers: list[LatentSpec], **choices: Any
) -> ModelSpec:
    """Return a model with DeepSeek-V3's experts; `choices` say what is different."""
    experts = choices.pop("experts", None) or balanced_experts_of(options)
    return mixed_model(options, mixers, experts, _sparse(options), **choices)


def _deepseek_v3(options: Options) -> ModelSpec:
    return _mixed(options, _latents(options))


def _deepseek_v2(options: Options) -> ModelSpec:
    """Return DeepSeek-V2, whose router is a softmax and judges a group by its best expert."""
    in_groups = options["topk_method"] == "group_limited_greedy"
    groups = {} if in_groups else {"groups": 1, "groups_per_token": 1}
    experts = balanced_experts_of(
        options, scores="softmax", corrected=False, normalised=False, group_best=1, **groups
    )  # fmt: skip
    return _mixed(options, _latents(options), experts=experts)


def _mistral4(options: Options) -> ModelSpec:
    """Return Mistral 4, whose queries grow with their position."""
    rope = options["rope_parameters"]
    size, step = "llama_4_scaling_beta", "original_max_position_embeddings"
    # Of which a part is rotated.
    width = options["qk_nope_head_dim"] + options["qk_rope_head_dim"]
    interleaved = options.flag("rope_interleave", True)
    rotary = rotary_of(options, width, interleaved=interleaved)
    scale = (rope[size], rope[step])
    mixers = _latents(options, rotary=rotary, length_scale=scale)
    experts = balanced_experts_of(options, scores="softmax", corrected=False)
    return _mixed(options, mixers, experts=experts)


def _deepseek_v32(options: Options) -> ModelSpec:
    return _mixed(options, _latents(options, indexer=indexer_of(options)))


def _glm_moe_dsa(options: Options) -> ModelSpec:
    """Return GLM-5, some of whose layers take over the keys that an earlier one has chosen."""
    rotary = rotary_of(options, options["qk_rope_head_dim"], interleaved=True)
    indexer = indexer_of(options, rotary=rotary)
    model = _mixed(options, _latents(options, indexer=indexer))
    return _sharing_choices(model, options)


def _hy_v4(options: Options) -> ModelSpec:
    """Return Hunyuan 4, with several residual streams, sinks, and gates."""
    rotary = rotary_of(options, options["qk_rope_head_dim"])
    key_norm = norm_of(options, centred=True, bias=True)
    indexer = indexer_of(options, rotary_last=True, key_norm=key_norm)
    mixers = _latents(
        options, rotary=rotary, indexer=indexer, sinks=True, gate="feature"
    )
    streams = StreamsSpec(
        options["hc_mult"], options["hc_magnitude"], options["hc_eps"], gate_eps_on_given=True,
        norm_eps=options["rms_norm_eps"],
    )  # fmt: skip
    experts = balanced_experts_of(options, limit=options["swiglu_limit"])
    model = _mixed(options, mixers, experts=experts, streams=streams)
    return _sharing_choices(model, options)


def _sharing_choices(model: ModelSpec, options: Options) -> ModelSpec:
    """Let layers take over the choice of keys that an earlier one has made."""
    layers = tuple(
        replace(layer, chosen_by=chooser)
        for layer, chooser in zip(model.layers, choosers(options), strict=True)
    )
    return replace(model, layers=layers)


def _axk1(options: Options) -> ModelSpec:
    experts = balanced_experts_of(options, output_norm=norm_of(options))
    return _mixed(options, _latents(options), experts=experts)


def _youtu(options: Options) -> ModelSpec:
    return stacked(options, _latents(options))


def _minicpm3(options: Options) -> ModelSpec:
    rotary = rotary_of(options, options["qk_rope_head_dim"])
    mixers = _latents(options, rotary=rotary)
    depth = len(mixers) ** 0.5
    return stacked(
        options, mixers, residual_scale=(options.get("scale_depth") or depth) / depth,
        embedding_scale=options["scale_emb"],
        logit_scale=options["dim_model_base"] / options["hidden_size"], tied=True,
    )  # fmt: skip


def kimi_delta_of(options: Options, **choices: Any) -> KimiDeltaSpec:
    """Return Kimi Delta Attention; `choices` say what the fields do not."""
    given = {
        "num_heads": options["linear_num_heads"],
        "head_dim": options["linear_head_dim"],
        "conv_width": options["linear_conv_kernel_dim"],
        "norm_eps": options["rms_norm_eps"],
    }
    return KimiDeltaSpec(**(given | choices))


def _kimi(
    options: Options, delta: KimiDeltaSpec, attention: MixerSpec
) -> ModelSpec:
    linear = [kind == "linear_attention" for kind in kinds(options)]
    mixers = [delta if one else attention for one in linear]
    experts = balanced_experts_of(options)
    return mixed_model(options, mixers, experts, sparse_layers(options))


def _kimi_linear(options: Options) -> ModelSpec:
    """Return Kimi Linear, whose latent attention rotates nothing."""
    rank = options["linear_head_dim"]
    delta = kimi_delta_of(options, decay_rank=rank, gate_rank=rank)
    return _kimi(options, delta, latent_of(options, rotary=None))


def _bailing_hybrid(options: Options) -> ModelSpec:
    """Return Ling 3.0, whose decays have a floor and whose latent attention has gates."""
    floored = options.flag("kda_safe_gate", True)
    floor = options["kda_lower_bound"] if floored else None
    delta = kimi_delta_of(options, decay_floor=floor)
    attention = latent_of(options, gate="head", query_dim=None)
    return _kimi(options, delta, attention)


def _by_head(stored: Tensor, layer: LayerSpec) -> Tensor:
    assert isinstance(layer.mixer, KimiDeltaSpec)
    return stored.reshape(layer.mixer.num_heads, layer.mixer.head_dim)


_KINDS: dict[str, dict[str, Any]] = {
    "sliding_attention": {},
    "heavily_compressed_attention": {},
    "compressed_sparse_attention": {"overlap": True},
}


def _compressed_of(options: Options, kind: str) -> CompressedSpec:
    """Return the attention of a layer of some kind."""
    near = kind == "sliding_attention"
    given = dict(Options(_KINDS, options.path)[kind])
    if not near:
        given["size"] = options[kind]
    if kind == "compressed_sparse_attention":
        given |= {
            "count": options["index_topk"], "index_heads": options["index_n_heads"],
            "index_dim": options["index_head_dim"],
        }  # fmt: skip
    width = options["head_dim"]
    return CompressedSpec(
        options["num_attention_heads"], width, options["q_lora_rank"], options["sliding_window"],
        rotary_of(options, width, kind="main" if near else "compress", interleaved=True),
        options["o_groups"], options["o_lora_rank"], norm=norm_of(options), **given,
    )  # fmt: skip


def _deepseek_v4(options: Options) -> ModelSpec:
    options.require(scoring_func="sqrtsoftplus")
    streams = StreamsSpec(
        options["hc_mult"], gate_eps=options["hc_eps"], mixing=options["hc_sinkhorn_iters"],
        norm_eps=options["rms_norm_eps"],
    )  # fmt: skip
    scored = balanced_experts_of(
        options, scores="sqrt_softplus", limit=options["swiglu_limit"], shared_alike=True,
        shared_dim=options["moe_intermediate_size"], groups=1, groups_per_token=1, normalised=True,
    )  # fmt: skip
    ids = options["vocab_size"]
    looked_up = replace(scored, corrected=False, looked_up=ids)
    experts = {"moe": scored, "hash_moe": looked_up}
    computing = [experts[routed] for routed in options["mlp_layer_types"]]
    mixers = [_compressed_of(options, kind) for kind in kinds(options)]
    return stacked(options, mixers, computing, streams=streams)


def _groups(stored: Tensor, layer: LayerSpec) -> Tensor:
    """Cut the first output projection into those of its groups."""
    assert isinstance(layer.mixer, CompressedSpec)
    return torch.unflatten(stored, 0, (layer.mixer.groups, -1)).mT


def _pool_names(ours: str, theirs: str) -> dict[str, str | Made]:
    return {
        f"{ours}.proj": f"{theirs}.kv_proj",
        f"{ours}.gate_proj": f"{theirs}.gate_proj",
        f"{ours}.bias": Made(f"{theirs}.position_bias", flat),
        f"{ours}.norm": f"{theirs}.kv_norm",
    }


_OURS, _BLOCK = "layers.*.mixer", "model.layers.*.self_attn"
LATENT: Names = {
    **LLAMA,
    f"{_OURS}.query_down": f"{_BLOCK}.q_a_proj",
    f"{_OURS}.query_norm": f"{_BLOCK}.q_a_layernorm",
    f"{_OURS}.query_proj": f"{_BLOCK}.q_b_proj",
    f"{_OURS}.latent_proj": f"{_BLOCK}.kv_a_proj_with_mqa",
    f"{_OURS}.latent_norm": f"{_BLOCK}.kv_a_layernorm",
    f"{_OURS}.indexer.query_proj": f"{_BLOCK}.indexer.wq_b",
    f"{_OURS}.indexer.key_proj": f"{_BLOCK}.indexer.wk",
    f"{_OURS}.indexer.key_norm": f"{_BLOCK}.indexer.k_norm",
    f"{_OURS}.indexer.weight_proj": f"{_BLOCK}.indexer.weights_proj",
    **{
        f"{_OURS}.{part}_weight": Made(
            f"{_BLOCK}.kv_b_proj.weight", _unfolded(part)
        )
        for part in ("key", "value")
    },
}
_PARTS = (("proj.weight", "fn"), ("base", "base"), ("scale", "scale"))
STREAMS = {
    **{
        f"layers.*.{ours}_streams.{part}": f"model.layers.*.{theirs}_hc.{stored}"
        for ours, theirs in (("mixer", "attn"), ("feed_forward", "ffn"))
        for part, stored in _PARTS
    },
    **{f"streams.{part}": f"model.hc_head.hc_{name}" for part, name in _PARTS},
}
_BALANCED: Names = {**LATENT, **expert_names()}
_AXK1: Names = {
    **_BALANCED,
    "layers.*.feed_forward.output_norm": "model.layers.*.post_mlp_layernorm",
}
_HY_V4: Names = {**_BALANCED, **STREAMS}
_COMPRESSED: Names = {
    **LLAMA,
    **expert_names(),
    **STREAMS,
    "output": "head",
    f"{_OURS}.query_down": f"{_BLOCK}.q_a_proj",
    f"{_OURS}.query_norm": f"{_BLOCK}.q_a_norm",
    f"{_OURS}.query_proj": f"{_BLOCK}.q_b_proj",
    f"{_OURS}.key_proj": f"{_BLOCK}.kv_proj",
    f"{_OURS}.key_norm": f"{_BLOCK}.kv_norm",
    f"{_OURS}.group_weight": Made(f"{_BLOCK}.o_a_proj.weight", _groups),
    f"{_OURS}.output_proj": f"{_BLOCK}.o_b_proj",
    **_pool_names(f"{_OURS}.far", f"{_BLOCK}.compressor"),
    **_pool_names(f"{_OURS}.index", f"{_BLOCK}.compressor.indexer"),
    f"{_OURS}.index_query_proj": f"{_BLOCK}.compressor.indexer.q_b_proj",
    f"{_OURS}.index_weight_proj": f"{_BLOCK}.compressor.indexer.scorer.weights_proj",
    "layers.*.feed_forward.router.table": "model.layers.*.mlp.gate.tid2eid",
}
_FORGET = f"{_BLOCK}.forget_gate"
_KIMI_DELTA: Names = {
    f"{_OURS}.input_proj": Made(
        tuple(f"{_BLOCK}.{part}_proj" for part in "qkv"), as_it_is
    ),
    f"{_OURS}.conv_weight": Made(f"{_BLOCK}.conv1d.weight", channels_first),
    f"{_OURS}.decay_proj": f"{_FORGET}.f_proj",
    f"{_OURS}.decay_proj.0": f"{_FORGET}.f_a_proj",
    f"{_OURS}.decay_proj.1": f"{_FORGET}.f_b_proj",
    f"{_OURS}.decay_rate": Made(f"{_FORGET}.A_log", flat),
    f"{_OURS}.decay_bias": Made(f"{_FORGET}.dt_bias", _by_head),
    f"{_OURS}.beta_proj": f"{_BLOCK}.b_proj",
    f"{_OURS}.gate_proj": f"{_BLOCK}.g_proj",
    f"{_OURS}.gate_proj.0": f"{_BLOCK}.g_a_proj",
    f"{_OURS}.gate_proj.1": f"{_BLOCK}.g_b_proj",
    f"{_OURS}.norm": f"{_BLOCK}.o_norm",
    f"{_OURS}.output_proj": f"{_BLOCK}.o_proj",
}
_KIMI: Names = {
    **LATENT,
    **expert_names(),
    f"{_OURS}.gate_proj": f"{_BLOCK}.g_proj",
}


def _queries(options: Options) -> Names:
    """Return what queries are called where they come from the token itself."""
    return {} if options.get("q_lora_rank") else _QUERIES


_QUERIES: Names = {f"{_OURS}.query_proj": f"{_BLOCK}.q_proj"}

FAMILIES = {
    "deepseek_v2": Family(_deepseek_v2, _BALANCED),
    "deepseek_v3": Family(_deepseek_v3, _BALANCED),
    "kimi_k25": Family(
        _deepseek_v3,
        within("model.language_model.", _BALANCED),
        ("*vision_tower.*", "*mm_projector.*"),
    ),
    "mistral4": Family(_mistral4, _BALANCED),
    "deepseek_v32": Family(_deepseek_v32, _BALANCED),
    "glm_moe_dsa": Family(_glm_moe_dsa, _BALANCED),
    "hy_v4": Family(_hy_v4, _HY_V4),
    "glm4_moe_lite": Family(_deepseek_v3, _BALANCED),
    "axk1": Family(_axk1, _AXK1, ("*.post_mlp_layernorm.weight",)),
    "youtu": Family(_youtu, LATENT),
    "minicpm3": Family(_minicpm3, LATENT),
    "kimi_linear": Family(
        _kimi_linear,
        _KIMI,
        mixers={KimiDeltaSpec: _KIMI_DELTA},
        by_fields=_queries,
    ),
    "bailing_hybrid": Family(
        _bailing_hybrid,
        {**_KIMI, **_QUERIES},
        mixers={KimiDeltaSpec: _KIMI_DELTA},
    ),
    "deepseek_v4": Family(_deepseek_v4, _COMPRESSED),
}
