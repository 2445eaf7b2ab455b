"""The rows of the atlas: a model_type of the library, and a size at which it is built in a moment.

Toy sizes are chosen so that every part of a model is at work: more than one layer of each kind, a
window and a top-k that are shorter than the text, heads that are shared, experts that are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_BASE = {
    "vocab_size": 67, "hidden_size": 48, "intermediate_size": 56, "num_hidden_layers": 4,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
    "initializer_range": 0.1, "max_position_embeddings": 256,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
_WINDOW = {"sliding_window": 7}
_LOCAL = {"num_local_experts": 6, "num_experts_per_tok": 2}
_EXPERTS = {"num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
_GROUPS = {
    "n_routed_experts": 6, "n_shared_experts": 2, "num_experts_per_tok": 2, "n_group": 3,
    "topk_group": 2, "first_k_dense_replace": 1, "moe_intermediate_size": 24,
    "norm_topk_prob": True, "routed_scaling_factor": 1.7,
}  # fmt: skip
_IMAGES = "AutoModelForImageTextToText"
_SMALL = {
    "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1,
    "layer_types": ["full_attention"],
}  # fmt: skip
_EYES = {
    "depth": 1, "hidden_size": 8, "num_heads": 2, "intermediate_size": 8, "out_hidden_size": 48,
}  # fmt: skip
_MUSE = {
    "sliding_window": 7, "layer_types": ["full_attention", "sliding_attention"] * 2,
    "layer_rope_theta": [0, 1e4, 0, 1e4], "qk_scale_factor": 1.3, "output_multiplier": 0.7,
    "final_logit_softcapping": 2.0,
}  # fmt: skip
_TURNS = ["sliding_attention", "full_attention"] * 3
_SPARSE = ["dense", "sparse", "sparse", "sparse"]
_LLAMA3 = {"rope_parameters": {
    "rope_type": "llama3", "rope_theta": 10_000.0, "factor": 4.0, "low_freq_factor": 1.0,
    "high_freq_factor": 4.0, "original_max_position_embeddings": 32,
}}  # fmt: skip
_HALF = {"rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 0.5}
_INDEX = {"index_topk": 5, "index_n_heads": 3, "index_head_dim": 12}
_YARN = {
    "rope_type": "yarn", "rope_theta": 10_000.0, "factor": 4.0, "beta_fast": 32.0,
    "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0, "original_max_position_embeddings": 8,
}  # fmt: skip
_GRANITE = {
    "attention_multiplier": 0.3, "residual_multiplier": 0.7, "embedding_multiplier": 3.0,
    "logits_scaling": 2.0,
}  # fmt: skip
_LATENT = {
    "kv_lora_rank": 20, "q_lora_rank": 28, "qk_nope_head_dim": 12, "qk_rope_head_dim": 8,
    "v_head_dim": 10, "head_dim": 8, "num_key_value_heads": 4,
}  # fmt: skip
_DELTA = {
    "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 6,
    "linear_value_head_dim": 10, "linear_conv_kernel_dim": 4, "rms_norm_eps": 1e-3,
}  # fmt: skip
_HYBRID = ["linear_attention", "full_attention"] * 2
_MAMBA = {
    "mamba_n_heads": 6, "mamba_d_head": 16, "mamba_n_groups": 2, "mamba_d_state": 6,
    "mamba_d_conv": 4, "mamba_chunk_size": 8, "head_dim": 12,
}  # fmt: skip
_BLOCKS = ["linear_attention", "moe", "full_attention", "mlp", "linear_attention", "moe"]
_CONVOLVED = ["conv", "full_attention"] * 2
_MIXED = ["full_attention", "sliding_attention", "sliding_attention", "full_attention"]


_SMALL_HEADS = (
    "The norm of a head divides by its size: what the first tokens read of a nearly empty state can"
    " be so small that the division shows rounding, 5e-5 in ours and in the reference alike."
)


@dataclass(frozen=True)
class Row:
    """One architecture.

    Attributes:
        name: model_type of its configuration.
        toy: fields of the configuration at toy size.
        base: fields that most rows share; a row that has none of them gives its own.
        auto: the library's class that builds it with a layer of scores.
        cache: what the library calls its cache.
        factors: by pattern of their names, what stored tensors are multiplied by where random ones
            make scores so large that rounding shows.
        ties: its indexer chooses among equal scores as torch.topk happens to, so that the
            reference differs from itself when the text grows; for all that is compared, torch.topk
            takes the earlier key, as ours does, and `reference_leak` and `reference_cached` say
            how large the difference is without that.
        rounding: why rounding would show with the fields of the other rows, where this one has
            others to keep it out of sight.
        held_twice: bytes of the reference's cache that repeat others of it, and that
            `reference_bytes` leaves out: its layers with a window alone keep keys and values apart
            where both are the same.
    """

    name: str
    toy: Mapping[str, Any] = field(default_factory=dict)
    base: Mapping[str, Any] = field(default_factory=lambda: _BASE)
    auto: str = "AutoModelForCausalLM"
    cache: str = "past_key_values"
    factors: Mapping[str, float] = field(default_factory=dict)
    ties: bool = False
    rounding: str = ""
    held_twice: int = 0

    @property
    def fields(self) -> dict[str, Any]:
        """All fields at toy size."""
        return {**self.base, **self.toy}


ROWS = (
    Row("llama", _LLAMA3),
    Row("mistral", _WINDOW),
    Row("ministral3", {"rope_parameters": {**_YARN, "llama_4_scaling_beta": 0.1}}),
    Row("qwen2"),
    Row("qwen3"),
    Row("smollm3", {"no_rope_layer_interval": 2}),
    Row("olmo2"),
    Row("olmo3", _WINDOW),
    Row("exaone4", {**_WINDOW, "sliding_window_pattern": 2}),
    Row("granite", _GRANITE),
    Row("cohere2", {**_WINDOW, "sliding_window_pattern": 2, "logit_scale": 0.5}),
    Row("gemma2", {**_WINDOW, "query_pre_attn_scalar": 12, "attn_logit_softcapping": 3.0,
                   "final_logit_softcapping": 2.0}),
    Row("gemma3_text", {**_WINDOW, "query_pre_attn_scalar": 12, "sliding_window_pattern": 2}),
    Row("mixtral", {**_LOCAL, **_WINDOW}),
    Row("qwen3_moe", {**_EXPERTS, "norm_topk_prob": True}),
    Row("gpt_oss", {**_LOCAL, **_WINDOW}),
    Row("seed_oss", {"attention_out_bias": True}),
    Row("arcee", {"mlp_bias": True}),
    Row("ernie4_5", {"use_bias": True}),
    Row("hunyuan_v1_dense"),
    Row("phi3", {**_WINDOW, "num_key_value_heads": 4, "head_dim": 12, "rope_parameters": _HALF}),
    Row("starcoder2", _WINDOW),
    Row("helium", {"head_dim": 12}),
    Row("glm", {"rope_parameters": _HALF, "attention_bias": True}),
    Row("glm4", {"rope_parameters": _HALF, "attention_bias": True}),
    Row("nemotron", {"rope_parameters": _HALF, "initializer_range": 0.06}),
    Row("jais2"),
    Row("stablelm", {"rope_parameters": _HALF, "use_qkv_bias": True, "head_dim": 12,
                     "use_parallel_residual": True}),
    Row("gpt_neox", {"rope_parameters": _HALF, "num_key_value_heads": 4, "head_dim": 12}),
    Row("olmo"),
    Row("cohere", {"logit_scale": 0.5}),
    Row("cwm", {**_WINDOW, "layer_types": _MIXED, **_LLAMA3}),
    Row("internlm3", {"attention_bias": True, "mlp_bias": True}),
    Row("iquestcoder"),
    Row("ministral", {**_WINDOW, "layer_types": _MIXED}),
    Row("nanochat", {"final_logit_softcapping": 2.0}),
    Row("hyperclovax", {"attention_multiplier": 0.3, "residual_multiplier": 0.7,
                        "embedding_multiplier": 3.0, "logits_scaling": 0.5}),
    Row("gemma", {"hidden_activation": "gelu_pytorch_tanh"}),
    Row("vaultgemma", {**_WINDOW, "query_pre_attn_scalar": 12, "attn_logit_softcapping": 3.0,
                       "final_logit_softcapping": 2.0}),
    Row("gemma4_text", {
        **_WINDOW, "num_hidden_layers": 6, "layer_types": _TURNS,
        "global_head_dim": 24, "num_global_key_value_heads": 1, "attention_k_eq_v": True,
        "num_kv_shared_layers": 2, "use_double_wide_mlp": True, "final_logit_softcapping": 2.0,
        "hidden_size_per_layer_input": 24, "vocab_size_per_layer_input": 67},
        factors={"*.q_norm.weight": 0.4, "*_layer_input_norm.weight": 0.4}),
    Row("gemma4_unified_text", {
        **_WINDOW, "num_hidden_layers": 6, "layer_types": _TURNS, "global_head_dim": 24,
        "num_kv_shared_layers": 2, "final_logit_softcapping": 2.0},
        factors={"*.q_norm.weight": 0.25}),
    Row("cohere_compass_text", {
        **_WINDOW, "layer_types": _MIXED, "logit_scale": 0.5, "rope_parameters": {
            "full_attention": None,
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e3,
                                  "mrope_section": [4, 2, 2]}}}),
    Row("phi", {"rope_parameters": _HALF, "head_dim": 12}),
    Row("beam", {
        **_EXPERTS, **_WINDOW, "layer_types": _MIXED, "mlp_layer_types": _SPARSE, "n_group": 3,
        "topk_group": 2, "routed_scaling_factor": 1.7, "final_logit_softcapping": 2.0}),
    Row("afmoe", {**_EXPERTS, **_WINDOW, "layer_types": _MIXED, "num_shared_experts": 2,
                  "mup_enabled": True, "route_scale": 1.7}),
    Row("laguna", {
        **_EXPERTS, **_WINDOW, "layer_types": _MIXED, "mlp_layer_types": _SPARSE,
        "num_attention_heads_per_layer": [4, 2, 6, 4], "shared_expert_intermediate_size": 20,
        "moe_routed_scaling_factor": 1.7, "moe_router_logit_softcapping": 1.5,
        "rope_parameters": {
            "full_attention": {"rope_type": "default", "rope_theta": 1e5,
                               "partial_rotary_factor": 0.5},
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e3}}}),
    Row("diffllama", {"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 8,
                      "lambda_std_dev": 0.5}),
    Row("step3p7", {"text_config": {
        **_BASE, **_WINDOW, "layer_types": _MIXED, "mlp_layer_types": _SPARSE,
        "n_routed_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 24,
        "share_expert_dim": 20, "moe_router_scaling_factor": 1.7, "query_pre_attn_scalar": 12,
        "num_sliding_attention_heads": 6,
        "rope_theta": [1e5, 1e3, 1e3, 1e5], "partial_rotary_factors": [0.5, 1.0, 1.0, 0.5],
    }, "vision_config": _SMALL}, base={}, auto=_IMAGES),
    Row("muse_glimmer", {
        "text_config": {**_BASE, **_MUSE, "hidden_activation": "silu"}, "vision_config": _SMALL,
        "projector_hidden_size": 8, "out_hidden_size": 8}, base={}, auto=_IMAGES),
    Row("muse_spark", {
        "text_config": {**_BASE, **_MUSE, "num_local_experts": 6, "num_experts_per_tok": 2,
                        "moe_intermediate_size": 24, "moe_hidden_size": 32,
                        "mlp_layer_types": _SPARSE, "routed_scaling_factor": 1.7,
                        "residual_gate_temperature": 1.5},
        "vision_config": _SMALL, "projector_hidden_size": 8, "out_hidden_size": 8,
        "audio_config": {"hidden_sizes": [8] * 4, "depths": [1] * 4, "out_hidden_size": 48}},
        base={}, auto=_IMAGES),
    Row("mellum", {**_EXPERTS, **_WINDOW, "num_local_experts": 6, "layer_types": _MIXED,
                   "mlp_layer_types": _SPARSE}),
    Row("flex_olmo", {**_LOCAL, "num_experts": 6}),
    Row("flint", {**_EXPERTS, **_WINDOW, "layer_types": _MIXED, "mlp_only_layers": [0],
                  "shared_expert_intermediate_size": 20}),
    Row("ernie4_5_moe", {"moe_num_experts": 6, "moe_k": 2, "moe_intermediate_size": 24,
                         "moe_layer_end_index": 3}),
    Row("hunyuan_v1_moe", {**_LOCAL, "num_experts": 6, "moe_topk": 2}),
    Row("granitemoe", {**_LOCAL, **_GRANITE}),
    Row("granitemoeshared", {**_LOCAL, **_GRANITE, "shared_intermediate_size": 20}),
    Row("granitemoe_swa", {**_LOCAL, **_GRANITE, **_WINDOW, "shared_intermediate_size": 20,
                           "layer_types": _MIXED, "layer_rope_theta": [0, 1e4, 1e3, 1e4]}),
    Row("solar_open", _GROUPS),
    Row("apertus", {"hidden_act": "xielu"}),
    Row("granite_swa", {**_WINDOW, "layer_types": _MIXED, "layer_rope_theta": [0, 1e4, 1e3, 1e4],
                        **_GRANITE}),
    Row("qwen2_moe", {**_EXPERTS, "shared_expert_intermediate_size": 32, "mlp_only_layers": [1]}),
    Row("olmoe", {**_LOCAL, "num_experts": 6, "head_dim": 12}),
    Row("llama4_text", {
        **_LOCAL, "attention_chunk_size": 5, "no_rope_layers": [1, 0, 1, 0], "floor_scale": 4,
        "attn_scale": 0.3, "moe_layers": [1, 2], "intermediate_size_mlp": 40}),
    Row("minimax_m2", _LOCAL),
    Row("hy_v3", {**_EXPERTS, "mlp_layer_types": ["dense", "sparse"] * 2}),
    Row("dots1", {**_GROUPS, "sliding_window": 7, "layer_types": _MIXED}),
    Row("glm4_moe", {**_GROUPS, "use_qk_norm": True, "attention_bias": True}),
    Row("exaone_moe", {
        **_GROUPS, **_WINDOW, "num_experts": 6, "num_shared_experts": 2, "layer_types": _MIXED,
        "mlp_layer_types": _SPARSE}),
    Row("kolibri1", {
        **_EXPERTS, **_WINDOW, "num_local_experts": 6, "norm_topk_prob": True,
        "shared_expert_intermediate_size": 20, "layer_types": _MIXED}),
    Row("cohere2_moe", {
        **_EXPERTS, **_WINDOW, "layer_types": _MIXED, "num_shared_experts": 2,
        "mlp_layer_types": _SPARSE,
        "prefix_dense_intermediate_size": 40, "logit_scale": 0.5}),
    Row("mimo_v2_flash", {
        **_GROUPS, **_WINDOW, "n_shared_experts": None, "v_head_dim": 12, "num_key_value_heads": 1,
        "layer_types": _MIXED, "mlp_layer_types": _SPARSE, "rope_parameters": {
            kind: {"rope_type": "default", "rope_theta": base, "partial_rotary_factor": 0.5}
            for kind, base in (("full_attention", 1e5), ("sliding_attention", 1e3))}}),
    Row("deepseek_v2", {
        **_LATENT, **_GROUPS, "q_lora_rank": None, "topk_method": "group_limited_greedy"}),
    Row("deepseek_v3", {**_LATENT, **_GROUPS, "rope_parameters": _YARN}),
    Row("kimi_k25", {
        "text_config": {**_BASE, **_LATENT, **_GROUPS, "model_type": "deepseek_v3"},
        "vision_config": {
            "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,
            "num_attention_heads": 2, "pos_emb_height": 2, "pos_emb_width": 2, "pos_emb_time": 2},
        "projection_hidden_size": 8, "tie_word_embeddings": False},
        base={}, auto=_IMAGES),
    Row("mistral4", {
        **_LATENT, **_GROUPS, "head_dim": 20,
        "rope_parameters": {**_YARN, "llama_4_scaling_beta": 0.1}},
        auto=_IMAGES),
    Row("deepseek_v32", {**_LATENT, **_GROUPS, **_INDEX}, ties=True),
    Row("glm_moe_dsa", {
        **_LATENT, **_GROUPS, **_INDEX, "indexer_types": ["full", "shared", "full", "shared"]},
        ties=True),
    Row("hy_v4", {
        **_LATENT, **_GROUPS, **_INDEX, "n_group": 1, "topk_group": 1, "hc_mult": 3,
        "swiglu_limit": 0.7, "initializer_range": 0.1,
        "indexer_types": ["full", "full", "shared", "shared"]}, ties=True),
    Row("glm4_moe_lite", {**_LATENT, **_GROUPS}),
    Row("axk1", {**_LATENT, **_GROUPS}),
    Row("youtu", {**_LATENT, "initializer_range": 0.1}),
    Row("minicpm3", {**_LATENT, "scale_emb": 3.0, "scale_depth": 1.4, "dim_model_base": 24}),
    Row("qwen3_next", {**_EXPERTS, **_DELTA, "shared_expert_intermediate_size": 20,
                       "layer_types": _HYBRID}, rounding=_SMALL_HEADS),
    Row("qwen3_5_text", {**_DELTA, "layer_types": _HYBRID}, rounding=_SMALL_HEADS),
    Row("qwen3_5_moe_text", {**_EXPERTS, **_DELTA, "shared_expert_intermediate_size": 20,
                             "layer_types": _HYBRID}, rounding=_SMALL_HEADS),
    Row("olmo_hybrid", {**_DELTA, "layer_types": _HYBRID}, rounding=_SMALL_HEADS),
    Row("minimax", {
        **_LOCAL, "block_size": 7, "full_attn_alpha_factor": 1.3, "full_attn_beta_factor": 0.7,
        "linear_attn_alpha_factor": 1.2, "linear_attn_beta_factor": 0.8,
        "mlp_alpha_factor": 1.1, "mlp_beta_factor": 0.9}),
    Row("lfm2", {"layer_types": _CONVOLVED, "block_multiple_of": 8, "conv_bias": True}),
    Row("lfm2_moe", {**_EXPERTS, "layer_types": _CONVOLVED, "num_dense_layers": 1,
                     "routed_scaling_factor": 1.7}),
    Row("lfm3", {**_WINDOW, "num_hidden_layers": 5, "layer_types": [
        "conv", "sliding_attention", "full_attention", "conv", "sliding_attention"]}),
    Row("nemotron_h", {
        **_GROUPS, "head_dim": 10, "layers_block_type": _BLOCKS, "ssm_state_size": 6,
        "mamba_num_heads": 4, "mamba_head_dim": 10, "n_groups": 2, "conv_kernel": 4,
        "moe_shared_expert_intermediate_size": 20, "moe_latent_size": 28, "chunk_size": 8,
        "time_step_min": 0.03}),
    Row("granitemoehybrid", {
        **_LOCAL, **_GRANITE, **_MAMBA, "shared_intermediate_size": 20,
        "layer_types": _HYBRID}),
    Row("bamba", {**_MAMBA, "attn_layer_indices": [1, 3]}),
    Row("falcon_h1", {
        **_MAMBA, "mamba_d_ssm": 96, "lm_head_multiplier": 0.7, "embedding_multiplier": 3.0,
        "mlp_multipliers": [1.3, 0.6], "key_multiplier": 1.2, "attention_out_multiplier": 0.8,
        "attention_in_multiplier": 1.4, "ssm_multipliers": [0.8, 1.2, 0.7, 1.3, 0.9],
        "ssm_in_multiplier": 1.3, "ssm_out_multiplier": 0.7, "mamba_rms_norm": True}),
    Row("minimax_m3_vl_text", {
        **_LOCAL, "rope_parameters": _HALF, "layer_types": [
            "full_attention", "minimax_m3_sparse", "minimax_m3_sparse", "full_attention"],
        "mlp_layer_types": _SPARSE, "dense_intermediate_size": 40, "swiglu_limit": 0.7,
        "shared_intermediate_size": 20, "index_n_heads": 2, "index_head_dim": 12,
        "index_block_size": 4, "index_topk_blocks": 2, "index_local_blocks": 1}),
    Row("deepseek_v4", {
        **_GROUPS, **_INDEX, "num_key_value_heads": 1, "partial_rotary_factor": 0.5,
        "q_lora_rank": 28, "sliding_window": 7, "o_groups": 2, "o_lora_rank": 10, "hc_mult": 3,
        "hc_sinkhorn_iters": 4, "swiglu_limit": 0.7, "n_shared_experts": 1, "index_topk": 3,
        "layer_types": ["sliding_attention", "compressed_sparse_attention",
                        "heavily_compressed_attention", "compressed_sparse_attention"],
        "compress_rates": {"compressed_sparse_attention": 3, "heavily_compressed_attention": 6},
        "initializer_range": 0.1, "mlp_layer_types": ["hash_moe", "moe", "moe", "moe"]},
        ties=True, held_twice=768),
    Row("kimi_linear", {
        **_LATENT, **_GROUPS, "q_lora_rank": None, "num_local_experts": 6, "layer_types": _HYBRID,
        "linear_num_heads": 3, "linear_head_dim": 6, "linear_conv_kernel_dim": 4,
        "rms_norm_eps": 1e-3}, rounding=_SMALL_HEADS),
    Row("bailing_hybrid", {
        **_LATENT, **_GROUPS, "head_dim": 6, "num_local_experts": 6, "layer_group_size": 2,
        "short_conv_kernel_size": 4, "rms_norm_eps": 1e-3}, rounding=_SMALL_HEADS),
    Row("mamba2", {
        "num_heads": 6, "head_dim": 16, "state_size": 6, "n_groups": 2, "chunk_size": 8},
        cache="cache_params"),
    Row("qwen3_5", {
        "text_config": {**_BASE, **_DELTA, "layer_types": _HYBRID}, "vision_config": _EYES},
        base={}, auto=_IMAGES, rounding=_SMALL_HEADS),
    Row("qwen3_5_moe", {
        "text_config": {**_BASE, **_EXPERTS, **_DELTA, "layer_types": _HYBRID,
                        "shared_expert_intermediate_size": 20}, "vision_config": _EYES},
        base={}, auto=_IMAGES, rounding=_SMALL_HEADS),
)  # fmt: skip
"""The architectures, each of which the check builds twice."""
