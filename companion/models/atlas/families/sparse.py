"""Families with softmax attention and experts."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from companion.models.atlas.families.dense import model_of
from companion.models.atlas.families.family import Family, Made
from companion.models.atlas.families.shared import (
    LLAMA,
    attention_of,
    expert_names,
    experts_of,
    feed_forward_of,
    kinds,
    norm_of,
)
from companion.models.atlas.mixers.softmax import AttentionSpec
from companion.models.atlas.specs import LayerSpec, ModelSpec
from companion.models.options import Options


def sparse_model(
    options: Options, mixers: list[AttentionSpec], sparse: list[bool], **experts: Any
) -> ModelSpec:
    """Return a model with a norm before every part, and experts in some layers."""
    layers = [
        LayerSpec(
            mixer,
            experts_of(options, **experts) if routed else feed_forward_of(options),
            norm_of(options),
        )
        for mixer, routed in zip(mixers, sparse, strict=True)
    ]
    return model_of(options, layers)


def _gpt_oss(options: Options) -> ModelSpec:
    mixers = [attention_of(options, kind, sinks=True) for kind in kinds(options)]
    return sparse_model(
        options, mixers, [True] * len(mixers),
        scores="softmax_of_chosen", bias=True, limit=options["swiglu_limit"],
    )  # fmt: skip


def _alternating_bias(stored: Tensor, _: LayerSpec) -> Tensor:
    return torch.unflatten(stored, -1, (-1, 2)).transpose(1, 2).flatten(1, 2)


def _alternating_rows(stored: Tensor, _: LayerSpec) -> Tensor:
    return torch.unflatten(stored.mT, 1, (-1, 2)).transpose(1, 2).flatten(1, 2)


def _transposed(stored: Tensor, _: LayerSpec) -> Tensor:
    return stored.mT


def _qwen3_moe(options: Options) -> ModelSpec:
    norm, step = norm_of(options), options.get("decoder_sparse_step", 1)
    mixers = [attention_of(options, kind, qk_norm=norm) for kind in kinds(options)]
    dense = options.get("mlp_only_layers") or []
    sparse = [i not in dense and (i + 1) % step == 0 for i in range(len(mixers))]
    return sparse_model(options, mixers, sparse, normalised=options.flag("norm_topk_prob", False))


def _mixtral(options: Options) -> ModelSpec:
    mixers = [
        attention_of(options, window=options.get("sliding_window"), bias=False)
        for _ in kinds(options)
    ]
    return sparse_model(options, mixers, [True] * len(mixers))


_EXPERTS = "layers.*.feed_forward"
_GPT_OSS = {
    f"{_EXPERTS}.gate_up": Made("model.layers.*.mlp.experts.gate_up_proj", _alternating_rows),
    f"{_EXPERTS}.gate_up_bias": Made(
        "model.layers.*.mlp.experts.gate_up_proj_bias", _alternating_bias
    ),
    f"{_EXPERTS}.down": Made("model.layers.*.mlp.experts.down_proj", _transposed),
}

_MIXTRAL = {
    ".block_sparse_moe.": ".mlp.",
    ".w1.": ".gate_proj.",
    ".w2.": ".down_proj.",
    ".w3.": ".up_proj.",
}

FAMILIES = {
    "mixtral": Family(_mixtral, {**LLAMA, **expert_names()}, older=_MIXTRAL),
    "qwen3_moe": Family(_qwen3_moe, {**LLAMA, **expert_names()}),
    "gpt_oss": Family(_gpt_oss, {**LLAMA, **expert_names(router="router"), **_GPT_OSS}),
}
