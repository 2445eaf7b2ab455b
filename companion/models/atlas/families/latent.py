"""Families with latent attention: DeepSeek-V2 and those that came from it."""

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
    field_inside,
    within,
)
from companion.models.atlas.families.shared import (
    LLAMA,
    balanced_experts_of,
    behind_dense,
    expert_names,
    mixed_model,
    norm_of,
    rotary_of,
    stacked,
)
from companion.models.atlas.mixers.indexed import IndexerSpec
from companion.models.atlas.mixers.latent import LatentSpec
from companion.models.atlas.specs import LayerSpec, ModelSpec
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
    rotary = rotary_of(
        options, width, interleaved=options.flag("rope_interleave", True)
    )
    mixers = _latents(
        options, rotary=rotary, length_scale=(rope[size], rope[step])
    )
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
    return stacked(
        options, mixers, residual_scale=options["scale_depth"] / len(mixers) ** 0.5,
        embedding_scale=options["scale_emb"],
        logit_scale=options["dim_model_base"] / options["hidden_size"], tied=True,
    )  # fmt: skip


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

FAMILIES = {
    "deepseek_v2": Family(_deepseek_v2, _BALANCED),
    "deepseek_v3": Family(_deepseek_v3, _BALANCED),
    "kimi_k25": Family(
        field_inside("text_config", _deepseek_v3),
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
}
