"""Falcon-H1: Mamba-2 and attention side by side in every layer, with factors on all they read."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from companion.models.atlas.families.dense import model_of
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
from companion.models.atlas.families.shared import (
    attention_of,
    feed_forward_of,
    norm_of,
)
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
    mamba = mamba_of(
        options,
        norm=("before_gate" if before else "after_gate") if normed else "none",
    )
    layer = LayerSpec(
        mamba,
        feed_forward_of(options),
        norm_of(options),
        beside=attention_of(options),
    )
    return model_of(
        options, [layer] * options["num_hidden_layers"],
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
        parts = torch.split(
            cut_rows(1)(stored, layer), [layer.mixer.inner_dim, shared, shared]
        )
        return torch.cat(
            [
                part * factor
                for part, factor in zip(parts, factors, strict=True)
            ]
        )

    return make


def _falcon_names(options: Options) -> Names:
    """Return the names of Falcon-H1's weights, times the factors of its fields."""
    attention, mamba = "model.layers.*.self_attn", "model.layers.*.mamba"
    before, between = (
        options["attention_in_multiplier"],
        options["key_multiplier"],
    )
    gates, *mixed, steps = (
        options["ssm_in_multiplier"] * x for x in options["ssm_multipliers"]
    )
    gate, down = options["mlp_multipliers"]
    made = {
        "beside.query_proj": Made(f"{attention}.q_proj", _times(before)),
        "beside.key_proj": Made(
            f"{attention}.k_proj", _times(before * between)
        ),
        "beside.value_proj": Made(f"{attention}.v_proj", _times(before)),
        "beside.output_proj": Made(
            f"{attention}.o_proj", _times(options["attention_out_multiplier"])
        ),
        "mixer.gate_proj": Made(
            f"{mamba}.in_proj", _times(gates, cut_rows(0))
        ),
        "mixer.input_proj": Made(
            f"{mamba}.in_proj", _values_keys_queries(mixed)
        ),
        "mixer.step_proj": Made(
            f"{mamba}.in_proj", _times(steps, cut_rows(2))
        ),
        "mixer.output_proj": Made(
            f"{mamba}.out_proj", _times(options["ssm_out_multiplier"])
        ),
        "feed_forward.gate_proj": Made(
            "model.layers.*.feed_forward.gate_proj", _times(gate)
        ),
        "feed_forward.down_proj": Made(
            "model.layers.*.feed_forward.down_proj", _times(down)
        ),
    }
    return {f"layers.*.{own}": source for own, source in made.items()}


FAMILIES = {
    "falcon_h1": Family(
        _falcon_h1, {**BAMBA, **mamba_names("mamba")}, by_fields=_falcon_names
    )
}
