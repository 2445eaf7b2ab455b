"""Families with latent attention: DeepSeek-V2 and those that came from it."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from companion.models.atlas.families.dense import pre_norm_model
from companion.models.atlas.families.family import Family, Made, Names
from companion.models.atlas.families.shared import (
    LLAMA,
    balanced_experts_of,
    expert_names,
    kinds,
    rotary_of,
)
from companion.models.atlas.families.sparse import mixed_model
from companion.models.atlas.mixers.latent import LatentSpec
from companion.models.atlas.specs import LayerSpec, ModelSpec
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


def score_scale(options: Options) -> float:
    """Return 1 / sqrt(d + r), times the square of what YaRN adds where the files ask for it."""
    rope = options.get("rope_parameters") or {}
    scale: float = (options["qk_nope_head_dim"] + options["qk_rope_head_dim"]) ** -0.5
    if rope.get("rope_type", "default") == "default" or not rope.get("mscale_all_dim"):
        return scale
    return scale * (0.1 * rope["mscale_all_dim"] * math.log(max(rope["factor"], 1.0)) + 1) ** 2


def _unfolding(stored: Tensor, layer: LayerSpec) -> tuple[Tensor, Tensor]:
    """Cut the matrix that unfolds keys and values, head by head, (h, c, d) and (h, c, v)."""
    spec = layer.mixer
    assert isinstance(spec, LatentSpec)
    heads = torch.unflatten(stored, 0, (spec.num_heads, -1)).mT
    return heads[..., : spec.head_dim], heads[..., spec.head_dim :]


def _keys(stored: Tensor, layer: LayerSpec) -> Tensor:
    return _unfolding(stored, layer)[0]


def _values(stored: Tensor, layer: LayerSpec) -> Tensor:
    return _unfolding(stored, layer)[1]


def latent_names(block: str = "model.layers.*.self_attn") -> dict[str, str | Made]:
    """Return the names of latent attention whose queries unfold from a latent."""
    ours, unfolding = "layers.*.mixer", f"{block}.kv_b_proj.weight"
    return {
        f"{ours}.query_down": f"{block}.q_a_proj",
        f"{ours}.query_norm": f"{block}.q_a_layernorm",
        f"{ours}.query_proj": f"{block}.q_b_proj",
        f"{ours}.latent_proj": f"{block}.kv_a_proj_with_mqa",
        f"{ours}.latent_norm": f"{block}.kv_a_layernorm",
        f"{ours}.key_weight": Made(unfolding, _keys),
        f"{ours}.value_weight": Made(unfolding, _values),
    }


def _sparse(options: Options) -> list[bool]:
    """Return which layers have experts: named layer by layer, or all behind some dense ones."""
    named = options.get("mlp_layer_types")
    if named is not None:
        return [kind == "sparse" for kind in named]
    return [number >= options["first_k_dense_replace"] for number in range(len(kinds(options)))]


def _deepseek_v3(options: Options) -> ModelSpec:
    mixers = [latent_of(options) for _ in kinds(options)]
    return mixed_model(options, mixers, _sparse(options), balanced_experts_of(options))


def _youtu(options: Options) -> ModelSpec:
    return pre_norm_model(options, [latent_of(options) for _ in kinds(options)])


LATENT: Names = {**LLAMA, **latent_names()}
_BALANCED: Names = {**LATENT, **expert_names()}

FAMILIES = {
    "deepseek_v3": Family(_deepseek_v3, _BALANCED),
    "glm4_moe_lite": Family(_deepseek_v3, _BALANCED),
    "youtu": Family(_youtu, LATENT),
}
