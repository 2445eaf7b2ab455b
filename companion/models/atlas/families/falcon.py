"""Falcon-H1: Mamba-2 and attention side by side in every layer, with factors on all they read."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from companion.models.atlas.families.family import (
    Family,
    Made,
    Make,
    Names,
    as_it_is,
)
from companion.models.atlas.families.mamba import (
    BAMBA,
    cut_rows,
    mamba_names,
    mamba_of,
)
from companion.models.atlas.families.shared import attention_of, stacked
from companion.models.atlas.mixers.mamba2 import Mamba2Spec
from companion.models.atlas.specs import LayerSpec, ModelSpec
from companion.models.options import Options


def _falcon_h1(options: Options) -> ModelSpec:
    """Return Falcon-H1: Mamba-2 and attention side by side in every layer.

    Its factors on what enters and leaves the parts are multiplied to the weights.
    """
    options.require(
        attention_bias=False, mlp_bias=False, mamba_proj_bias=False
    )
    before = options.flag("mamba_norm_before_gate", True)
    normed = options.flag("mamba_rms_norm", False)
    norm = ("before_gate" if before else "after_gate") if normed else "none"
    mixers = [mamba_of(options, norm=norm)] * options["num_hidden_layers"]
    return stacked(
        options, mixers, beside=attention_of(options),
        embedding_scale=options["embedding_multiplier"], logit_scale=options["lm_head_multiplier"],
    )  # fmt: skip


def _times(factor: float, make: Make = as_it_is) -> Make:
    """Return what multiplies a weight by a factor."""
    return lambda stored, layer: make(stored, layer) * factor


def _values_keys_queries(factors: Sequence[float]) -> Make:
    """Return what takes the rows of values, keys and queries, each times a factor."""

    def make(stored: Tensor, layer: LayerSpec) -> Tensor:
        assert isinstance(layer.mixer, Mamba2Spec)
        shared = layer.mixer.num_groups * layer.mixer.state_dim
        rows = [layer.mixer.inner_dim, shared, shared]
        parts = torch.split(cut_rows(1)(stored, layer), rows)
        pairs = zip(parts, factors, strict=True)
        return torch.cat([part * factor for part, factor in pairs])

    return make


def _falcon_names(options: Options) -> Names:
    """Return the names of Falcon-H1's weights, times the factors of its fields."""
    before = options["attention_in_multiplier"]
    between = options["key_multiplier"]
    first = options["ssm_in_multiplier"]
    gates, *mixed, steps = (first * x for x in options["ssm_multipliers"])
    gate, down = options["mlp_multipliers"]
    made = {
        "beside.query_proj": ("self_attn.q_proj", _times(before)),
        "beside.key_proj": ("self_attn.k_proj", _times(before * between)),
        "beside.value_proj": ("self_attn.v_proj", _times(before)),
        "beside.output_proj": ("self_attn.o_proj", _times(options["attention_out_multiplier"])),
        "mixer.gate_proj": ("mamba.in_proj", _times(gates, cut_rows(0))),
        "mixer.input_proj": ("mamba.in_proj", _values_keys_queries(mixed)),
        "mixer.step_proj": ("mamba.in_proj", _times(steps, cut_rows(2))),
        "mixer.output_proj": ("mamba.out_proj", _times(options["ssm_out_multiplier"])),
        "feed_forward.gate_proj": ("feed_forward.gate_proj", _times(gate)),
        "feed_forward.down_proj": ("feed_forward.down_proj", _times(down)),
    }  # fmt: skip
    return {
        f"layers.*.{own}": Made(f"model.layers.*.{stored}", make)
        for own, (stored, make) in made.items()
    }


FAMILIES = {
    "falcon_h1": Family(
        _falcon_h1, {**BAMBA, **mamba_names("mamba")}, by_fields=_falcon_names
    )
}
