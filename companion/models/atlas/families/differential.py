"""Families with differential attention."""

from __future__ import annotations

from companion.differential import initial_factor
from companion.models.atlas.families.dense import pre_norm_model
from companion.models.atlas.families.family import Family, Names
from companion.models.atlas.families.shared import LLAMA, attention_of
from companion.models.atlas.mixers.differential import DifferentialSpec
from companion.models.atlas.specs import ModelSpec
from companion.models.options import Options


def _diffllama(options: Options) -> ModelSpec:
    """Return DiffLlama: Llama, each layer with a factor that begins elsewhere."""
    plain = attention_of(options)
    mixers = [
        DifferentialSpec(
            plain.num_heads, plain.num_kv_heads, plain.head_dim, initial_factor(number),
            rotary=plain.rotary, norm_eps=options["rms_norm_eps"], bias=plain.bias,
        )
        for number in range(options["num_hidden_layers"])
    ]  # fmt: skip
    return pre_norm_model(options, mixers)


_DIFFERENTIAL: Names = {
    **LLAMA,
    "layers.*.mixer.factor_query": "model.layers.*.self_attn.lambda_q1",
    "layers.*.mixer.factor_key": "model.layers.*.self_attn.lambda_k1",
    "layers.*.mixer.other_query": "model.layers.*.self_attn.lambda_q2",
    "layers.*.mixer.other_key": "model.layers.*.self_attn.lambda_k2",
}

FAMILIES = {"diffllama": Family(_diffllama, _DIFFERENTIAL)}
