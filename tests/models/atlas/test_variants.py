"""Hybrids equal their references with other fields than those of their rows, too."""

from dataclasses import replace
from typing import Any

import pytest

from experiments.atlas.check import build, check
from experiments.atlas.rows import ROWS, Row

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "dense layers among experts": ("qwen3_next", {"mlp_only_layers": [1], "norm_topk_prob": False}),
    "no positions": ("olmo_hybrid", {
        "rope_parameters": {"rope_type": "default", "rope_theta": None},
        "linear_allow_neg_eigval": False,
    }),
    "windows": ("minimax", {"sliding_window": 30}),
    "widths as they are given": ("lfm2", {"block_auto_adjust_ff_dim": False}),
    "no correction": ("lfm2_moe", {"use_expert_bias": False, "norm_topk_prob": False}),
    "no gate, norms before": ("lfm3", {"use_attention_gate": False, "use_sandwich_norm": False}),
    "experts of full width": ("nemotron_h", {"moe_latent_size": None, "use_bias": True}),
    "no experts, positions": ("granitemoehybrid", {
        "num_local_experts": 0, "position_embedding_type": "rope", "mamba_proj_bias": True,
    }),
    "biases": ("bamba", {"mlp_bias": True, "attention_bias": True, "mamba_conv_bias": False}),
    "gate before norm": ("falcon_h1", {"mamba_norm_before_gate": False}),
    "no norm": ("falcon_h1", {"mamba_rms_norm": False}),
    "latent queries": ("kimi_linear", {"q_lora_rank": 28}),
    "no floor": ("bailing_hybrid", {"kda_safe_gate": False}),
}  # fmt: skip


def row_of(name: str, fields: dict[str, Any]) -> Row:
    row = next(row for row in ROWS if row.name == name)
    return replace(row, toy={**row.toy, **fields})


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_equals_its_reference(variant: str) -> None:
    outcome = check(row_of(*VARIANTS[variant]))
    assert outcome.size > 0.1
    assert max(outcome.difference, outcome.leak, outcome.cached) < 1e-5
    assert outcome.bytes == outcome.reference_bytes


def test_what_is_not_covered_is_refused() -> None:
    rows: list[tuple[str, dict[str, Any], str]] = [
        ("bamba", {"time_step_limit": (0.0, 0.5)}, "time_step_limit: bamba has 0.5, wanted no"),
        ("qwen3_next", {"attention_bias": True}, "attention_bias: qwen3_next has True, wanted"),
        ("falcon_h1", {"attention_bias": True}, "attention_bias: falcon_h1 has True, wanted False"),
        ("nemotron_h", {"mlp_bias": True}, "mlp_bias: nemotron_h has True, wanted False"),
    ]
    for name, fields, message in rows:
        with pytest.raises(ValueError, match=message):
            build(row_of(name, fields))
