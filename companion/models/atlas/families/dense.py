"""Families with one feed-forward layer for all tokens: Llama, those that came from it, Gemma."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from companion.differential import initial_factor
from companion.models.atlas.families.family import Family, Made, Names
from companion.models.atlas.families.shared import (
    BOTH_NORMS,
    LLAMA,
    POST_NORMS,
    attention_of,
    attentions,
    feed_forward_of,
    granite_scales,
    head_width,
    kinds,
    layer_bases,
    model_of,
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
from companion.models.atlas.token_input import TokenInputSpec
from companion.models.options import Options


def llama(options: Options) -> ModelSpec:
    """Return a model of grouped-query attention, with windows where the kinds say so."""
    return stacked(options, attentions(options))


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
        for kind, base in zip(kinds(options), layer_bases(options), strict=True)
    ]  # fmt: skip


def _granite_swa(options: Options) -> ModelSpec:
    scales = granite_scales(options)
    return stacked(options, granite_windows(options), **scales)


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
    scale = options.get("attention_multiplier") or head_width(options) ** -0.5
    return stacked(
        options, attentions(options, scale=scale),
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


def _plain_gemma(
    options: Options, mixers: list[AttentionSpec], **choices: Any
) -> ModelSpec:
    """Return a Gemma without the norms behind its parts."""
    return stacked(
        options, mixers, norm=norm_of(options, gain="one_plus_weight"), tied=True,
        embedding_scale=options["hidden_size"] ** 0.5, **choices,
    )  # fmt: skip


def _bounded_gemma(
    options: Options, post_norm: Any = None, **attention: Any
) -> ModelSpec:
    """Return a Gemma whose scores of words are bounded."""
    scale = options["query_pre_attn_scalar"] ** -0.5
    return _plain_gemma(
        options, attentions(options, scale=scale, **attention), post_norm=post_norm,
        logit_softcap=options.get("final_logit_softcapping"),
    )  # fmt: skip


def _gemma(options: Options) -> ModelSpec:
    return _plain_gemma(options, attentions(options))


def _gemma2(options: Options) -> ModelSpec:
    norm = norm_of(options, gain="one_plus_weight")
    softcap = options["attn_logit_softcapping"]
    return _bounded_gemma(options, norm, softcap=softcap)


def _gemma3(options: Options) -> ModelSpec:
    norm = norm_of(options, gain="one_plus_weight")
    return _bounded_gemma(options, norm, qk_norm=norm)


def _vaultgemma(options: Options) -> ModelSpec:
    return _bounded_gemma(options, softcap=options["attn_logit_softcapping"])


def _gemma4(options: Options) -> ModelSpec:
    """Return Gemma 4, whose last layers attend to keys and values of earlier ones."""
    options.require(enable_moe_block=False)
    named = kinds(options)
    own = len(named) - (options.get("num_kv_shared_layers") or 0)
    sources = {kind: number for number, kind in enumerate(named[:own])}
    wide = options.flag("use_double_wide_mlp", False)
    width, norm = options["intermediate_size"], norm_of(options)
    token_dim = options.get("hidden_size_per_layer_input")
    layers = [
        LayerSpec(
            _gemma4_attention(options, number, kind),
            feed_forward_of(options, width=width * (2 if wide and number >= own else 1)),
            norm, post_norm=norm, scaled=True,
            token_input=TokenInputSpec(token_dim, norm=norm) if token_dim else None,
            shares=sources[kind] if number >= own else None,
        )
        for number, kind in enumerate(named)
    ]  # fmt: skip
    return model_of(
        options, layers, tied=True, embedding_scale=options["hidden_size"] ** 0.5,
        logit_softcap=options.get("final_logit_softcapping"),
    )  # fmt: skip


def _gemma4_attention(
    options: Options, number: int, kind: str
) -> AttentionSpec:
    """Return attention with norms of queries, keys and values instead of a scale."""
    width = options["widths"][number]
    full = kind == "full_attention"
    return attention_of(
        options, kind, head_dim=width, scale=1.0,
        num_kv_heads=options["key_heads"][number],
        rotary=rotary_of(options, width, kind=kind), qk_norm=norm_of(options),
        value_norm=norm_of(options, gain="none"),
        key_is_value=full and options.flag("attention_k_eq_v", False),
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
_GEMMA = {**LLAMA, **BOTH_NORMS}
_GEMMA4 = {
    **_GEMMA,
    "layers.*.scalar": "model.layers.*.layer_scalar",
    "layers.*.token_input.gate": "model.layers.*.per_layer_input_gate",
    "layers.*.token_input.proj": "model.layers.*.per_layer_projection",
    "layers.*.token_input.norm": "model.layers.*.post_per_layer_input_norm",
    "token_inputs.table": "model.embed_tokens_per_layer",
    "token_inputs.proj": "model.per_layer_model_projection",
    "token_inputs.norm": "model.per_layer_projection_norm",
}
_VAULTGEMMA = {
    "layers.*.feed_forward_norm": "model.layers.*.pre_feedforward_layernorm"
}

FAMILIES = {
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
        ("llama", "mistral", "cwm", "internlm3", "iquestcoder", "ministral"),
        Family(llama, LLAMA),
    ),
    "gemma": Family(_gemma, LLAMA),
    "vaultgemma": Family(_vaultgemma, {**LLAMA, **_VAULTGEMMA}),
    "gemma4_text": Family(_gemma4, _GEMMA4),
    "gemma4_unified_text": Family(_gemma4, _GEMMA4),
    "gemma2": Family(_gemma2, _GEMMA),
    "gemma3_text": Family(_gemma3, _GEMMA),
}
