"""DeepSeek-V4: far tokens are pooled, and residual streams are several."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from companion.models.atlas.families.family import Family, Made, Names
from companion.models.atlas.families.latent import STREAMS
from companion.models.atlas.families.shared import (
    LLAMA,
    balanced_experts_of,
    expert_names,
    flat,
    kinds,
    norm_of,
    rotary_of,
    stacked,
)
from companion.models.atlas.mixers.compressed import CompressedSpec
from companion.models.atlas.specs import LayerSpec, ModelSpec
from companion.models.atlas.streams import StreamsSpec
from companion.models.options import Options

_BLOCKS: dict[str, dict[str, Any]] = {
    "sliding_attention": {},
    "heavily_compressed_attention": {},
    "compressed_sparse_attention": {"overlap": True},
}


def _compressed_of(options: Options, kind: str) -> CompressedSpec:
    """Return the attention of a layer of some kind."""
    near = kind == "sliding_attention"
    given = dict(Options(_BLOCKS, options.path)[kind])
    if not near:
        given["size"] = options["compress_rates"][kind]
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


_OURS, _THEIRS = "layers.*.mixer", "model.layers.*.self_attn"
_COMPRESSED: Names = {
    **LLAMA,
    **expert_names(),
    **STREAMS,
    "output": "head",
    f"{_OURS}.query_down": f"{_THEIRS}.q_a_proj",
    f"{_OURS}.query_norm": f"{_THEIRS}.q_a_norm",
    f"{_OURS}.query_proj": f"{_THEIRS}.q_b_proj",
    f"{_OURS}.key_proj": f"{_THEIRS}.kv_proj",
    f"{_OURS}.key_norm": f"{_THEIRS}.kv_norm",
    f"{_OURS}.group_weight": Made(f"{_THEIRS}.o_a_proj.weight", _groups),
    f"{_OURS}.output_proj": f"{_THEIRS}.o_b_proj",
    **_pool_names(f"{_OURS}.far", f"{_THEIRS}.compressor"),
    **_pool_names(f"{_OURS}.index", f"{_THEIRS}.compressor.indexer"),
    f"{_OURS}.index_query_proj": f"{_THEIRS}.compressor.indexer.q_b_proj",
    f"{_OURS}.index_weight_proj": f"{_THEIRS}.compressor.indexer.scorer.weights_proj",
    "layers.*.feed_forward.router.table": "model.layers.*.mlp.gate.tid2eid",
}

FAMILIES = {"deepseek_v4": Family(_deepseek_v4, _COMPRESSED)}
