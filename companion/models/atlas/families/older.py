"""Names that weights have in files, and what the library calls them once a model is built."""

from __future__ import annotations

from collections.abc import Mapping

_MIXTRAL = {
    ".block_sparse_moe.": ".mlp.",
    ".w1.": ".gate_proj.",
    ".w2.": ".down_proj.",
    ".w3.": ".up_proj.",
}
_GRANITE = {
    ".block_sparse_moe.input_linear.weight": ".block_sparse_moe.experts.gate_up_proj",
    ".block_sparse_moe.output_linear.weight": ".block_sparse_moe.experts.down_proj",
    ".block_sparse_moe.router.layer.weight": ".block_sparse_moe.router.weight",
}
_PLAIN_QUERIES = {"self_attn.q_proj.": "self_attn.q_b_proj."}  # they unfold from no latent
_LIQUID = {".w1.": ".gate_proj.", ".w2.": ".down_proj.", ".w3.": ".up_proj."}
_CORRECTION = "mlp.gate.e_score_correction_bias"

OLDER: Mapping[str, Mapping[str, str]] = {
    "axk1": {".mlp.post_mlp_layernorm": ".post_mlp_layernorm"},
    "deepseek_v2": _PLAIN_QUERIES,
    "deepseek_v3": _PLAIN_QUERIES,
    "ernie4_5_moe": {"mlp.moe_statics.": "mlp.gate.moe_statics."},
    "exaone_moe": {"mlp.e_score_correction_bias": _CORRECTION},
    "flint": {"self_attn.softmax_offset": "self_attn.sinks"},
    "glm4_moe_lite": _PLAIN_QUERIES,
    "gpt_neox": {"embed_out.": "lm_head."},
    "granitemoe": _GRANITE,
    "granitemoehybrid": _GRANITE,
    "granitemoe_swa": _GRANITE,
    "granitemoeshared": _GRANITE,
    "hy_v3": {
        "mlp.router.gate.": "mlp.gate.",
        "mlp.expert_bias": "mlp.e_score_correction_bias",
        "mlp.shared_mlp.": "mlp.shared_experts.",
    },
    "kimi_k25": {
        **_PLAIN_QUERIES,
        "language_model.model.": "model.language_model.",
        "language_model.lm_head.": "lm_head.",
        ".language_model.blocks.": ".language_model.layers.",  # as the library itself writes them
    },
    "kolibri1": {
        "moe.router.expert_bias": _CORRECTION,
        "post_attn_norm": "post_self_attn_layernorm",
        "post_ffn_norm": "post_mlp_layernorm",
    },
    "laguna": {
        "mlp.experts.e_score_correction_bias": _CORRECTION,
        "mlp.shared_expert.": "mlp.shared_experts.",
    },
    "lfm2": _LIQUID,
    "lfm2_moe": _LIQUID,
    "lfm3": {**_LIQUID, ".self_attn.gate_proj.": ".self_attn.g_proj."},
    "mimo_v2_flash": {"self_attn.attention_sink_bias": "self_attn.sinks"},
    "minicpm3": _PLAIN_QUERIES,
    "minimax": _MIXTRAL,
    "minimax_m2": _MIXTRAL,
    "mistral4": _PLAIN_QUERIES,
    "mixtral": _MIXTRAL,
    "step3p7": {
        "model.language_model.": "model.",
        ".moe.gate.": ".mlp.gate.",
        ".moe.router_bias": ".mlp.gate.e_score_correction_bias",
        ".moe.gate_proj.weight": ".mlp.experts.gate_proj",
        ".moe.up_proj.weight": ".mlp.experts.up_proj",
        ".moe.down_proj.weight": ".mlp.experts.down_proj",
        ".share_expert.": ".mlp.shared_experts.",
    },
    "youtu": _PLAIN_QUERIES,
    "nemotron_h": {"backbone.": "model."},
    "olmo_hybrid": {
        ".attention_layer_norm.": ".input_layernorm.",
        ".feedforward_layer_norm.": ".post_attention_layernorm.",
    },
}
"""By model_type, parts of names that have changed since; what is not listed has kept its names."""
