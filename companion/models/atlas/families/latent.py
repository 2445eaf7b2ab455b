"""Families with latent attention: DeepSeek-V2 and those that came from it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from companion.models.atlas.families.dense import pre_norm_model
from companion.models.atlas.families.family import Family, Made, Names
from companion.models.atlas.families.shared import (
    LLAMA,
    balanced_experts_of,
    expert_names,
    norm_of,
    rotary_of,
    within,
)
from companion.models.atlas.families.sparse import mixed_model
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


def score_scale(options: Options) -> float:
    """Return 1 / sqrt(d + r), times the square of what YaRN adds where the files ask for it."""
    rope = options.get("rope_parameters") or {}
    scale: float = (
        options["qk_nope_head_dim"] + options["qk_rope_head_dim"]
    ) ** -0.5
    if rope.get("rope_type", "default") == "default" or not rope.get(
        "mscale_all_dim"
    ):
        return scale
    more: float = (
        0.1 * rope["mscale_all_dim"] * math.log(max(rope["factor"], 1.0)) + 1
    )
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


def latent_names(
    block: str = "model.layers.*.self_attn",
) -> dict[str, str | Made]:
    """Return the names of latent attention whose queries unfold from a latent."""
    ours, unfolding = "layers.*.mixer", f"{block}.kv_b_proj.weight"
    return {
        f"{ours}.query_down": f"{block}.q_a_proj",
        f"{ours}.query_norm": f"{block}.q_a_layernorm",
        f"{ours}.query_proj": f"{block}.q_b_proj",
        f"{ours}.latent_proj": f"{block}.kv_a_proj_with_mqa",
        f"{ours}.latent_norm": f"{block}.kv_a_layernorm",
        f"{ours}.indexer.query_proj": f"{block}.indexer.wq_b",
        f"{ours}.indexer.key_proj": f"{block}.indexer.wk",
        f"{ours}.indexer.key_norm": f"{block}.indexer.k_norm",
        f"{ours}.indexer.weight_proj": f"{block}.indexer.weights_proj",
        f"{ours}.key_weight": Made(unfolding, _keys),
        f"{ours}.value_weight": Made(unfolding, _values),
    }


def _sparse(options: Options) -> list[bool]:
    """Return which layers have experts: named layer by layer, or all behind some dense ones."""
    named = options.get("mlp_layer_types")
    if named is not None:
        return [kind == "sparse" for kind in named]
    return [
        number >= options["first_k_dense_replace"]
        for number in range(_depth(options))
    ]


def _depth(options: Options) -> int:
    return int(options["num_hidden_layers"])


def _deepseek_v3(options: Options) -> ModelSpec:
    mixers = [latent_of(options) for _ in range(_depth(options))]
    return mixed_model(
        options, mixers, _sparse(options), balanced_experts_of(options)
    )


def _deepseek_v2(options: Options) -> ModelSpec:
    """Return DeepSeek-V2, whose router is a softmax and judges a group by its best expert."""
    in_groups = options["topk_method"] == "group_limited_greedy"
    groups = {} if in_groups else {"groups": 1, "groups_per_token": 1}
    experts = balanced_experts_of(
        options,
        scores="softmax",
        corrected=False,
        normalised=False,
        group_best=1,
        **groups,
    )
    mixers = [latent_of(options) for _ in range(_depth(options))]
    return mixed_model(options, mixers, _sparse(options), experts)


def _mistral4(options: Options) -> ModelSpec:
    """Return Mistral 4, whose queries grow with their position."""
    rope = options["rope_parameters"]
    scale = (
        rope["llama_4_scaling_beta"],
        rope["original_max_position_embeddings"],
    )
    # Of which a part is rotated.
    width = options["qk_nope_head_dim"] + options["qk_rope_head_dim"]
    rotary = rotary_of(
        options, width, interleaved=options.flag("rope_interleave", True)
    )
    mixers = [
        latent_of(options, rotary=rotary, length_scale=scale)
        for _ in range(_depth(options))
    ]
    experts = balanced_experts_of(options, scores="softmax", corrected=False)
    return mixed_model(options, mixers, _sparse(options), experts)


def _deepseek_v32(options: Options) -> ModelSpec:
    mixers = [
        latent_of(options, indexer=indexer_of(options))
        for _ in range(_depth(options))
    ]
    return mixed_model(
        options, mixers, _sparse(options), balanced_experts_of(options)
    )


def _glm_moe_dsa(options: Options) -> ModelSpec:
    """Return GLM-5, some of whose layers take over the keys that an earlier one has chosen."""
    rotary = rotary_of(options, options["qk_rope_head_dim"], interleaved=True)
    indexer = indexer_of(options, rotary=rotary)
    mixers = [
        latent_of(options, indexer=indexer) for _ in range(_depth(options))
    ]
    model = mixed_model(
        options, mixers, _sparse(options), balanced_experts_of(options)
    )
    return _sharing_choices(model, options)


def _hy_v4(options: Options) -> ModelSpec:
    """Return Hunyuan 4, with several residual streams, sinks, and gates."""
    rotary = rotary_of(options, options["qk_rope_head_dim"])
    indexer = indexer_of(
        options, rotary_last=True, key_norm=norm_of(options, **_CENTRED)
    )
    mixer = latent_of(
        options, rotary=rotary, indexer=indexer, sinks=True, gate="feature"
    )
    streams = StreamsSpec(
        options["hc_mult"], options["hc_magnitude"], options["hc_eps"], gate_eps_on_given=True,
        norm_eps=options["rms_norm_eps"],
    )  # fmt: skip
    mixers = [mixer] * _depth(options)
    experts = balanced_experts_of(options, limit=options["swiglu_limit"])
    model = mixed_model(
        options, mixers, _sparse(options), experts, streams=streams
    )
    return _sharing_choices(model, options)


def _sharing_choices(model: ModelSpec, options: Options) -> ModelSpec:
    """Let layers take over the choice of keys that an earlier one has made."""
    layers = zip(model.layers, choosers(options), strict=True)
    return replace(
        model,
        layers=tuple(
            replace(layer, chosen_by=chooser) for layer, chooser in layers
        ),
    )


def _axk1(options: Options) -> ModelSpec:
    mixers = [latent_of(options) for _ in range(_depth(options))]
    experts = balanced_experts_of(options, output_norm=norm_of(options))
    return mixed_model(options, mixers, _sparse(options), experts)


def _youtu(options: Options) -> ModelSpec:
    return pre_norm_model(
        options, [latent_of(options) for _ in range(_depth(options))]
    )


def _minicpm3(options: Options) -> ModelSpec:
    rotary = rotary_of(options, options["qk_rope_head_dim"])
    mixers = [
        latent_of(options, rotary=rotary) for _ in range(_depth(options))
    ]
    return pre_norm_model(
        options, mixers, residual_scale=options["scale_depth"] / len(mixers) ** 0.5,
        embedding_scale=options["scale_emb"],
        logit_scale=options["dim_model_base"] / options["hidden_size"], tied=True,
    )  # fmt: skip


def _kimi_k25(options: Options) -> ModelSpec:
    return _deepseek_v3(
        Options(options["text_config"], f"text_config of {options.path}")
    )


_CENTRED: dict[str, Any] = {"centred": True, "bias": True}
STREAMS = {
    **{
        f"layers.*.{ours}_streams.{part}": f"model.layers.*.{theirs}_hc.{stored}"
        for ours, theirs in (("mixer", "attn"), ("feed_forward", "ffn"))
        for part, stored in (
            ("proj.weight", "fn"),
            ("base", "base"),
            ("scale", "scale"),
        )
    },
    "streams.proj.weight": "model.hc_head.hc_fn",
    "streams.base": "model.hc_head.hc_base",
    "streams.scale": "model.hc_head.hc_scale",
}
LATENT: Names = {**LLAMA, **latent_names()}
_BALANCED: Names = {**LATENT, **expert_names()}
_AXK1: Names = {
    **_BALANCED,
    "layers.*.feed_forward.output_norm": "model.layers.*.post_mlp_layernorm",
}
_HY_V4: Names = {**_BALANCED, **STREAMS}
_NOT_OF_TEXT = ("*vision_tower.*", "*mm_projector.*")

FAMILIES = {
    "deepseek_v2": Family(_deepseek_v2, _BALANCED),
    "deepseek_v3": Family(_deepseek_v3, _BALANCED),
    "kimi_k25": Family(
        _kimi_k25, within(_BALANCED, "model.language_model."), _NOT_OF_TEXT
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
