"""Families with one feed-forward layer for all tokens: Llama and those that came from it."""

from __future__ import annotations

import torch
from torch import Tensor

from companion.differential import initial_factor
from companion.models.atlas.families.family import Family, Made, Names
from companion.models.atlas.families.shared import (
    LLAMA,
    POST_NORMS,
    attention_of,
    attentions,
    feed_forward_of,
    granite_scales,
    head_width,
    kinds,
    norm_of,
    rotary_of,
    stacked,
    turned_in_windows,
    windows,
)
from companion.models.atlas.mixers.differential import DifferentialSpec
from companion.models.atlas.mixers.softmax import AttentionSpec
from companion.models.atlas.norms import NormSpec
from companion.models.atlas.specs import LayerSpec, ModelSpec
from companion.models.options import Options


def _llama(options: Options) -> ModelSpec:
    return stacked(options, attentions(options))


def mistral(options: Options) -> ModelSpec:
    """Return a model whose layers all have the window, if there is one."""
    attention = attention_of(options, window=options.get("sliding_window"))
    return stacked(options, [attention] * len(kinds(options)))


def _ministral3(options: Options) -> ModelSpec:
    rope = options["rope_parameters"]
    size = rope.get("llama_4_scaling_beta")
    step = rope.get("original_max_position_embeddings")
    scale = None if size is None else (size, step)
    mixers = attentions(
        options, length_scale=scale, length_scale_from_zero=True
    )
    return stacked(options, mixers)


def _qwen2(options: Options) -> ModelSpec:
    return stacked(options, attentions(options, bias=True, output_bias=False))


def _qwen3(options: Options) -> ModelSpec:
    return stacked(options, attentions(options, qk_norm=norm_of(options)))


def _smollm3(options: Options) -> ModelSpec:
    mixers = attentions(options, list(options["no_rope_layers"]))
    return stacked(options, mixers, tied=True)


def _olmo(options: Options) -> ModelSpec:
    norm = norm_of(options)
    mixers = attentions(options, qk_norm=norm, qk_norm_over="all")
    return stacked(options, mixers, pre_norm=None, post_norm=norm)


def _exaone4(options: Options) -> ModelSpec:
    norm = norm_of(options)
    mixers = attentions(options, turned_in_windows(options), qk_norm=norm)
    return stacked(options, mixers, pre_norm=None, post_norm=norm)


def _granite(options: Options) -> ModelSpec:
    mixers = attentions(options, scale=options["attention_multiplier"])
    return stacked(options, mixers, **granite_scales(options))


def granite_windows(options: Options) -> list[AttentionSpec]:
    """Return windows and sinks, where every layer has its base of rotary positions, or 0."""
    width, scale = head_width(options), options["attention_multiplier"]
    return [
        attention_of(
            options, kind, scale=scale, sinks=True,
            rotary=rotary_of(options, width, base=base) if base else None,
        )
        for kind, base in zip(kinds(options), options["layer_rope_theta"], strict=True)
    ]  # fmt: skip


def _granite_swa(options: Options) -> ModelSpec:
    mixers = granite_windows(options)
    return stacked(options, mixers, **granite_scales(options))


def _apertus(options: Options) -> ModelSpec:
    mixers = attentions(options, qk_norm=norm_of(options))
    return stacked(options, mixers, feed_forward_of(options, gated=False))


def _seed_oss(options: Options) -> ModelSpec:
    bias = options.flag("attention_out_bias", False)
    return stacked(options, attentions(options, output_bias=bias))


def _hunyuan(options: Options) -> ModelSpec:
    norm = norm_of(options)
    mixers = attentions(options, qk_norm=norm, qk_norm_after_rotary=True)
    return stacked(options, mixers)


def _arcee(options: Options) -> ModelSpec:
    dense = feed_forward_of(options, gated=False)
    return stacked(options, attentions(options), dense)


def _ernie4_5(options: Options) -> ModelSpec:
    bias = options.flag("use_bias", False)
    mixers = attentions(options, interleaved=True, bias=bias, output_bias=bias)
    dense = feed_forward_of(options, bias=bias)
    return stacked(options, mixers, dense, tied=True)


def _diffllama(options: Options) -> ModelSpec:
    """Return Llama with differential attention, whose factor begins higher layer by layer."""
    mixers = [
        DifferentialSpec(
            **vars(attention), first_factor=initial_factor(number),
            eps=options["rms_norm_eps"],
        )
        for number, attention in enumerate(attentions(options))
    ]  # fmt: skip
    return stacked(options, mixers)


def _nanochat(options: Options) -> ModelSpec:
    """Return nanochat: norms have no weights, and the embeddings have one."""
    norm = norm_of(options, gain="none")
    return stacked(
        options, attentions(options, qk_norm=norm, qk_norm_after_rotary=True),
        feed_forward_of(options, gated=False), norm=norm, embedding_norm=norm,
        logit_softcap=options["final_logit_softcapping"],
    )  # fmt: skip


def _halves_exchanged(stored: Tensor, layer: LayerSpec) -> Tensor:
    """Exchange the halves of every head: to turn (a, b) backwards is to turn (b, a) forwards."""
    assert isinstance(layer.mixer, AttentionSpec)
    halves = torch.unflatten(stored, 0, (-1, 2, layer.mixer.head_dim // 2))
    return halves.flip(1).flatten(0, 2)


def _hyperclovax(options: Options) -> ModelSpec:
    behind = options.flag("use_post_norm", True)
    return stacked(
        options, attentions(options, scale=options["attention_multiplier"]),
        post_norm=norm_of(options) if behind else None,
        residual_scale=options["residual_multiplier"],
        embedding_scale=options["embedding_multiplier"], logit_scale=options["logits_scaling"],
    )  # fmt: skip


def _cohere2(options: Options) -> ModelSpec:
    return stacked(
        options, attentions(options, windows(options), interleaved=True),
        norm=NormSpec(eps=options["layer_norm_eps"], centred=True), parallel=True,
        logit_scale=options["logit_scale"], tied=True,
    )  # fmt: skip


def _cohere_compass(options: Options) -> ModelSpec:
    """Return Cohere Compass, with rotary positions in the kinds of layers that have a base."""
    width, ropes = head_width(options), options["rope_parameters"]
    mixers = [
        attention_of(
            options, kind,
            rotary=rotary_of(options, width, kind=kind) if ropes.get(kind) else None,
        )
        for kind in kinds(options)
    ]  # fmt: skip
    return stacked(
        options, mixers, norm=norm_of(options, eps="layer_norm_eps", centred=True), parallel=True,
        logit_scale=options.get("logit_scale") or 1.0, tied=True,
    )  # fmt: skip


_APERTUS = {
    "layers.*.mixer_norm": "model.layers.*.attention_layernorm",
    "layers.*.feed_forward_norm": "model.layers.*.feedforward_layernorm",
    "layers.*.feed_forward.activate.positive": "model.layers.*.mlp.act_fn.alpha_p",
    "layers.*.feed_forward.activate.negative": "model.layers.*.mlp.act_fn.alpha_n",
    "layers.*.feed_forward.activate.slope": "model.layers.*.mlp.act_fn.beta",
}
_DIFFLLAMA = {
    f"layers.*.mixer.factors.{name}": f"model.layers.*.self_attn.lambda_{name}"
    for name in ("q1", "k1", "q2", "k2")
}
_NANOCHAT: Names = {
    **{
        f"layers.*.mixer.{ours}_proj": Made(
            f"model.layers.*.self_attn.{theirs}_proj", _halves_exchanged
        )
        for ours, theirs in (("query", "q"), ("key", "k"))
    },
    "layers.*.feed_forward.up_proj": "model.layers.*.mlp.fc1",
    "layers.*.feed_forward.down_proj": "model.layers.*.mlp.fc2",
}
_HYPERCLOVAX = {
    "layers.*.mixer_post_norm": "model.layers.*.post_norm1",
    "layers.*.feed_forward_post_norm": "model.layers.*.post_norm2",
}
HUNYUAN = {
    f"layers.*.mixer.{part}_norm": f"model.layers.*.self_attn.{part}_layernorm"
    for part in ("query", "key")
}

FAMILIES = {
    "mistral": Family(mistral, LLAMA),
    "ministral3": Family(_ministral3, LLAMA),
    "qwen2": Family(_qwen2, LLAMA),
    "qwen3": Family(_qwen3, LLAMA),
    "smollm3": Family(_smollm3, LLAMA),
    "olmo2": Family(_olmo, {**LLAMA, **POST_NORMS}),
    "olmo3": Family(_olmo, {**LLAMA, **POST_NORMS}),
    "exaone4": Family(_exaone4, {**LLAMA, **POST_NORMS}),
    "granite": Family(_granite, LLAMA),
    "granite_swa": Family(_granite_swa, LLAMA),
    "apertus": Family(
        _apertus, {**LLAMA, **_APERTUS}, ignored=("*.act_fn.eps",)
    ),
    "seed_oss": Family(_seed_oss, LLAMA),
    "hunyuan_v1_dense": Family(_hunyuan, {**LLAMA, **HUNYUAN}),
    "arcee": Family(_arcee, LLAMA),
    "ernie4_5": Family(_ernie4_5, LLAMA),
    "diffllama": Family(_diffllama, {**LLAMA, **_DIFFLLAMA}),
    "nanochat": Family(_nanochat, {**LLAMA, **_NANOCHAT}),
    "hyperclovax": Family(_hyperclovax, {**LLAMA, **_HYPERCLOVAX}),
    "cohere_compass_text": Family(_cohere_compass, LLAMA),
    "cohere2": Family(_cohere2, LLAMA),
    **dict.fromkeys(
        ("llama", "cwm", "internlm3", "iquestcoder", "ministral"),
        Family(_llama, LLAMA),
    ),
}
