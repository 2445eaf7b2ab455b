"""Names that weights have in files, and what the library calls them once a model is built."""

from __future__ import annotations

from collections.abc import Mapping

_LIQUID = {".w1.": ".gate_proj.", ".w2.": ".down_proj.", ".w3.": ".up_proj."}
_MIXTRAL = {".block_sparse_moe.": ".mlp.", **_LIQUID}
_GRANITE = {
    ".block_sparse_moe.input_linear.weight": ".block_sparse_moe.experts.gate_up_proj",
    ".block_sparse_moe.output_linear.weight": ".block_sparse_moe.experts.down_proj",
    ".block_sparse_moe.router.layer.weight": ".block_sparse_moe.router.weight",
}
_DEEPSEEK_V4 = {
    "lm_head.": "head.",
    ".attn_norm.": ".input_layernorm.",
    ".ffn_norm.": ".post_attention_layernorm.",
    ".attn.attn_sink": ".self_attn.sinks",
    ".attn.indexer.compressor.": ".self_attn.compressor.indexer.",
    ".attn.indexer.weights_proj.": ".self_attn.compressor.indexer.scorer.weights_proj.",
    ".attn.indexer.wq_b.": ".self_attn.compressor.indexer.q_b_proj.",
    ".attn.norm.": ".attn.kv_norm.",
    ".attn.q_norm.": ".attn.q_a_norm.",
    ".attn.": ".self_attn.",
    ".compressor.norm.": ".compressor.kv_norm.",
    ".indexer.norm.": ".indexer.kv_norm.",
    ".ape": ".position_bias",
    ".wq_a.": ".q_a_proj.",
    ".wq_b.": ".q_b_proj.",
    ".wkv.": ".kv_proj.",
    ".wgate.": ".gate_proj.",
    ".wo_a.": ".o_a_proj.",
    ".wo_b.": ".o_b_proj.",
    ".ffn.": ".mlp.",
    ".gate.bias": ".gate.e_score_correction_bias",
    **_LIQUID,
    ".hc_attn_": ".attn_hc.",
    ".hc_ffn_": ".ffn_hc.",
}
# They unfold from no latent.
_QUERIES = {"self_attn.q_proj.": "self_attn.q_b_proj."}
_FORGET = {
    f".self_attn.{name}": f".self_attn.forget_gate.{name}"
    for name in ("f_proj.", "f_a_proj.", "f_b_proj.", "dt_bias", "A_log")
}
_CORRECTION = "mlp.gate.e_score_correction_bias"

_ALIKE = (
    (
        _QUERIES,
        "deepseek_v2 deepseek_v3 glm4_moe_lite minicpm3 mistral4 youtu",
    ),
    (_GRANITE, "granitemoe granitemoehybrid granitemoe_swa granitemoeshared"),
    (_MIXTRAL, "minimax minimax_m2 mixtral"),
    (_LIQUID, "lfm2 lfm2_moe"),
)

OLDER: Mapping[str, Mapping[str, str]] = {
    **{name: names for names, families in _ALIKE for name in families.split()},
    "axk1": {".mlp.post_mlp_layernorm": ".post_mlp_layernorm"},
    "bailing_hybrid": {
        "model.word_embeddings.": "model.embed_tokens.",
        ".attention.": ".self_attn.",
        ".self_attn.dense.": ".self_attn.o_proj.",
        ".mlp.gate.expert_bias": ".mlp.gate.e_score_correction_bias",
        **_FORGET,
    },
    "deepseek_v4": _DEEPSEEK_V4,
    "ernie4_5_moe": {"mlp.moe_statics.": "mlp.gate.moe_statics."},
    "exaone_moe": {"mlp.e_score_correction_bias": _CORRECTION},
    "flint": {"self_attn.softmax_offset": "self_attn.sinks"},
    "gpt_neox": {"embed_out.": "lm_head."},
    "hy_v3": {
        "mlp.router.gate.": "mlp.gate.",
        "mlp.expert_bias": "mlp.e_score_correction_bias",
        "mlp.shared_mlp.": "mlp.shared_experts.",
    },
    "hy_v4": {
        ".hc_pre.": ".",
        ".hc_attn_layer.hc_": ".attn_hc.",
        ".hc_mlp_layer.hc_": ".ffn_hc.",
        ".hc_head_": ".hc_",
        ".learnable_sink_param": ".sinks",
        ".linear_gate": ".gate_proj",
    },
    "kimi_k25": {
        **_QUERIES,
        "language_model.model.": "model.language_model.",
        "language_model.lm_head.": "lm_head.",
        ".language_model.blocks.": ".language_model.layers.",  # as the library itself writes them
    },
    "kimi_linear": {**_MIXTRAL, **_FORGET},
    "kolibri1": {
        "moe.router.expert_bias": _CORRECTION,
        "post_attn_norm": "post_self_attn_layernorm",
        "post_ffn_norm": "post_mlp_layernorm",
    },
    "laguna": {
        "mlp.experts.e_score_correction_bias": _CORRECTION,
        "mlp.shared_expert.": "mlp.shared_experts.",
    },
    "lfm3": {**_LIQUID, ".self_attn.gate_proj.": ".self_attn.g_proj."},
    "mimo_v2_flash": {"self_attn.attention_sink_bias": "self_attn.sinks"},
    "step3p7": {
        "model.language_model.": "model.",
        ".moe.gate.": ".mlp.gate.",
        ".moe.router_bias": ".mlp.gate.e_score_correction_bias",
        ".moe.gate_proj.weight": ".mlp.experts.gate_proj",
        ".moe.up_proj.weight": ".mlp.experts.up_proj",
        ".moe.down_proj.weight": ".mlp.experts.down_proj",
        ".share_expert.": ".mlp.shared_experts.",
    },
    "nemotron_h": {"backbone.": "model."},
    "olmo_hybrid": {
        ".attention_layer_norm.": ".input_layernorm.",
        ".feedforward_layer_norm.": ".post_attention_layernorm.",
    },
}
"""By model_type, parts of names that have changed since; what is not listed has kept its names."""
