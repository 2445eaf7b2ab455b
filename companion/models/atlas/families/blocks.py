"""Families that attend to blocks of keys."""

from __future__ import annotations

from companion.models.atlas.families.family import Family, Names
from companion.models.atlas.families.shared import (
    ATTENTION,
    LLAMA,
    attention_of,
    balanced_experts_of,
    expert_names,
    feed_forward_of,
    halves,
    kinds,
    mixed_model,
    norm_of,
    sparse_layers,
)
from companion.models.atlas.mixers.block_indexed import BlockIndexedSpec
from companion.models.atlas.specs import MixerSpec, ModelSpec
from companion.models.options import Options


def _minimax_m3(options: Options) -> ModelSpec:
    """Return MiniMax M3, some of whose layers choose blocks, and whose products are bounded."""
    norm = norm_of(options, gain="one_plus_weight")
    attention = attention_of(options, qk_norm=norm)
    blocks = BlockIndexedSpec(
        attention, options["index_head_dim"], options["index_block_size"],
        options["index_topk_blocks"], options["index_local_blocks"], norm,
    )  # fmt: skip
    mixers: list[MixerSpec] = [
        blocks if kind == "minimax_m3_sparse" else attention
        for kind in kinds(options)
    ]
    bounded = {
        "activation": "gelu_quick",
        "limit": options["swiglu_limit"],
        "shifted": True,
    }
    experts = balanced_experts_of(
        options, hidden_dim=options["intermediate_size"], shared_alike=True,
        shared_dim=options["shared_intermediate_size"], **bounded,
    )  # fmt: skip
    return mixed_model(
        options, mixers, experts, sparse_layers(options), norm=norm,
        dense=feed_forward_of(options, width=options["dense_intermediate_size"], **bounded),
    )  # fmt: skip


_BLOCKS: Names = {
    **LLAMA,
    **expert_names(correction="gate.e_score_correction_bias"),
    **{
        name.replace(".mixer.", ".mixer.attention."): theirs
        for name, theirs in ATTENTION.items()
    },
    **{
        f"layers.*.mixer.index_{part}_{kind}": f"model.layers.*.self_attn.indexer.{part[0]}_{kind}"
        for part in ("query", "key")
        for kind in ("proj", "norm")
    },
    **halves("model.layers.*.mlp.gate_up_proj"),
    **halves(
        "model.layers.*.mlp.shared_experts.gate_up_proj",
        "layers.*.feed_forward.shared",
    ),
}

FAMILIES = {"minimax_m3_vl_text": Family(_minimax_m3, _BLOCKS)}
