"""Google's Gemma: norms on both sides of every part, and gains that are stored less one."""

from __future__ import annotations

from typing import Any

from companion.models.atlas.families.family import Family
from companion.models.atlas.families.shared import (
    BOTH_NORMS,
    LLAMA,
    attention_of,
    attentions,
    feed_forward_of,
    kinds,
    model_of,
    norm_of,
    rotary_of,
    stacked,
)
from companion.models.atlas.mixers.softmax import AttentionSpec
from companion.models.atlas.specs import LayerSpec, ModelSpec
from companion.models.atlas.token_input import TokenInputSpec
from companion.models.options import Options


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
        logit_softcap=options["final_logit_softcapping"],
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
    own = len(named) - options["num_kv_shared_layers"]
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
    given = options.get("per_layer_config") or {}
    layer = {int(key): value for key, value in given.items()}.get(number, {})
    width = layer.get("head_dim", options["head_dim"])
    full = kind == "full_attention"
    return attention_of(
        options, kind, head_dim=width, scale=1.0,
        num_kv_heads=layer.get("num_key_value_heads", options["num_key_value_heads"]),
        rotary=rotary_of(options, width, kind=kind), qk_norm=norm_of(options),
        value_norm=norm_of(options, gain="none"),
        key_is_value=full and options.flag("attention_k_eq_v", False),
    )  # fmt: skip


_NAMES = {**LLAMA, **BOTH_NORMS}
_GEMMA4 = {
    **_NAMES,
    "layers.*.scalar": "model.layers.*.layer_scalar",
    "layers.*.token_input.gate": "model.layers.*.per_layer_input_gate",
    "layers.*.token_input.proj": "model.layers.*.per_layer_projection",
    "layers.*.token_input.norm": "model.layers.*.post_per_layer_input_norm",
    "token_inputs.table": "model.embed_tokens_per_layer",
    "token_inputs.proj": "model.per_layer_model_projection",
    "token_inputs.norm": "model.per_layer_projection_norm",
}
_PLAIN = {
    "layers.*.feed_forward_norm": "model.layers.*.pre_feedforward_layernorm"
}

FAMILIES = {
    "gemma": Family(_gemma, LLAMA),
    "vaultgemma": Family(_vaultgemma, {**LLAMA, **_PLAIN}),
    "gemma4_text": Family(_gemma4, _GEMMA4),
    "gemma4_unified_text": Family(_gemma4, _GEMMA4),
    "gemma2": Family(_gemma2, _NAMES),
    "gemma3_text": Family(_gemma3, _NAMES),
}
