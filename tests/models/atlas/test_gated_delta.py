"""Gated DeltaNet, equal to the layers of Qwen3-Next, Qwen3.5, OLMo Hybrid and Qwen4."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

import pytest

from companion.models.atlas.mixers.gated_delta import GatedDelta, GatedDeltaSpec
from companion.models.atlas.mixers.recurrent import RecurrentState
from tests.models.atlas.references import (
    check_bytes_in_half_precision,
    check_cache,
    check_causal,
    check_code_on_show,
    check_forgetting,
    check_gradients,
    check_pieces,
    check_pieces_beyond_a_chunk,
    check_wrong_calls,
    difference,
    dynamic_cache,
    quiet,
    randomised,
    tokens,
    torch,
)

WIDTH, KEY_HEADS, VALUE_HEADS, KEY, VALUE, KERNEL = 13, 3, 6, 5, 7, 4
REFERENCES = {
    "qwen3_next": ("Qwen3NextConfig", "Qwen3NextGatedDeltaNet"),
    "qwen3_5": ("Qwen3_5TextConfig", "Qwen3_5GatedDeltaNet"),
    "olmo_hybrid": ("OlmoHybridConfig", "OlmoHybridGatedDeltaNet"),
    "qwen4_exp": ("Qwen4ExpTextConfig", "Qwen4ExpTextGatedDeltaNet"),
}
OTHERS: dict[str, Any] = {"qwen4_exp": {"output_gate_type": "sigmoid"}}


def reference(name: str) -> tuple[Any, Any]:
    """A configuration and the first layer that it describes."""
    config_name, layer_name = REFERENCES[name]
    folder = f"transformers.models.{name}"
    config = quiet(
        getattr(importlib.import_module(f"{folder}.configuration_{name}"), config_name),
        hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
        linear_num_key_heads=KEY_HEADS, linear_num_value_heads=VALUE_HEADS,
        linear_key_head_dim=KEY, linear_value_head_dim=VALUE, linear_conv_kernel_dim=KERNEL,
        layer_types=["linear_attention", "full_attention"], **OTHERS.get(name, {}),
    )  # fmt: skip
    layers = importlib.import_module(f"{folder}.modeling_{name}")
    return config, randomised(getattr(layers, layer_name)(config, 0))


def spec_of(name: str) -> GatedDeltaSpec:
    others: dict[str, Any] = {
        "olmo_hybrid": {"max_beta": 2.0, "norm_eps": 1e-5}, "qwen4_exp": {"gate": "sigmoid"}
    }  # fmt: skip
    return GatedDeltaSpec(KEY_HEADS, VALUE_HEADS, KEY, VALUE, KERNEL, **others.get(name, {}))


def ours(name: str, layer: Any) -> GatedDelta:
    """Our layer with the weights of a reference."""
    stored = layer.state_dict()
    if name == "qwen3_next":
        stored |= ungrouped(stored)
    if name == "olmo_hybrid":
        parts = [stored[f"{part}_proj.weight"] for part in "qkv"]
        stored |= {"in_proj_qkv.weight": torch.cat(parts)}
        names = {"a_proj": "in_proj_a", "b_proj": "in_proj_b", "g_proj": "in_proj_z"}
        names |= {"o_proj": "out_proj", "o_norm": "norm"}
        stored |= {f"{new}.weight": stored[f"{old}.weight"] for old, new in names.items()}
    made = GatedDelta(WIDTH, spec_of(name))
    made.load_state_dict({
        "qkv_proj.weight": stored["in_proj_qkv.weight"],
        "conv_weight": stored["conv1d.weight"][:, 0],
        "decay_proj.weight": stored["in_proj_a.weight"],
        "decay_rate": stored["A_log"],
        "decay_bias": stored["dt_bias"],
        "beta_proj.weight": stored["in_proj_b.weight"],
        "gate_proj.weight": stored["in_proj_z.weight"],
        "norm.weight": stored["norm.weight"],
        "output_proj.weight": stored["out_proj.weight"],
    })  # fmt: skip
    return made


def ungrouped(stored: dict[str, Any]) -> dict[str, Any]:
    """Qwen3-Next stores rows by key head: query, key, then the values and gates that share it."""
    shared = VALUE_HEADS // KEY_HEADS
    rows = stored["in_proj_qkvz.weight"].unflatten(0, (KEY_HEADS, -1))
    sizes = [KEY, KEY, shared * VALUE, shared * VALUE]
    query, key, value, gate = (part.flatten(0, 1) for part in rows.split(sizes, dim=1))
    rows = stored["in_proj_ba.weight"].unflatten(0, (KEY_HEADS, -1))
    beta, decay = (part.flatten(0, 1) for part in rows.split([shared, shared], dim=1))
    return {
        "in_proj_qkv.weight": torch.cat([query, key, value]), "in_proj_z.weight": gate,
        "in_proj_b.weight": beta, "in_proj_a.weight": decay,
    }  # fmt: skip


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("length", [1, 5, 7, 63, 131])
def test_equals_the_reference(name: str, length: int) -> None:
    _, layer = reference(name)
    x = tokens(length, WIDTH)
    with torch.no_grad():
        wanted, (actual, _) = layer(x), ours(name, layer)(x)
    assert wanted.abs().max() > 0.1
    assert difference(actual, wanted) < 1e-5


def read(layer: Any, x: Any, cache: Any) -> Any:
    return layer(x, cache_params=cache)


def same(state: RecurrentState, cache: Any) -> None:
    kept = cache.layers[0]
    assert difference(state.memory, kept.recurrent_states[0]) < 1e-5
    assert difference(state.inputs.mT, kept.conv_states[0][..., 1:]) < 1e-5


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("length", [1, 2, 5, 63])
def test_keeps_what_the_reference_caches(name: str, length: int) -> None:
    config, layer = reference(name)
    check_cache(
        partial(read, layer), dynamic_cache(config), ours(name, layer), tokens(length + 1, WIDTH),
        same,
    )  # fmt: skip


@pytest.mark.parametrize("name", REFERENCES)
def test_counts_the_bytes_of_a_cache_in_half_precision(name: str) -> None:
    config, layer = reference(name)
    check_bytes_in_half_precision(
        partial(read, layer.bfloat16()), dynamic_cache(config), spec_of(name).keeps(), WIDTH
    )


def layer_of(name: str = "olmo_hybrid") -> GatedDelta:
    return ours(name, reference(name)[1])


@pytest.mark.parametrize("length", [1, 5, 7])
def test_pieces_equal_the_whole(length: int) -> None:
    check_pieces(layer_of(), tokens(length, WIDTH))


def test_pieces_equal_the_whole_beyond_a_chunk() -> None:
    check_pieces_beyond_a_chunk(layer_of(), tokens(131, WIDTH))


def test_the_future_changes_no_past() -> None:
    check_causal(layer_of(), tokens(11, WIDTH))


def test_gradients_are_finite() -> None:
    check_gradients(GatedDelta(WIDTH, spec_of("qwen3_next")), tokens(67, WIDTH))


def test_all_may_be_forgotten() -> None:
    check_forgetting(GatedDelta(WIDTH, spec_of("qwen3_next")), tokens(67, WIDTH))


def test_half_precision_keeps_its_dtype_and_a_wide_memory() -> None:
    layer = layer_of().bfloat16()
    output, state = layer(tokens(7, WIDTH).bfloat16())
    assert (output.dtype, state.inputs.dtype) == (torch.bfloat16, torch.bfloat16)
    assert state.memory.dtype == torch.float32
    wide, _ = layer.float()(tokens(7, WIDTH))
    assert difference(output.float(), wide) < 0.1 * wide.abs().max()


def test_the_code_on_show_fits_a_screen() -> None:
    check_code_on_show(GatedDelta)


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^num_key_heads: got 4, wanted a divisor of num_value"):
        GatedDeltaSpec(4, 6, 5, 7)
    with pytest.raises(ValueError, match=r"^max_beta: got 3"):
        GatedDeltaSpec(3, 6, 5, 7, max_beta=3.0)
    check_wrong_calls(GatedDelta(WIDTH, spec_of("qwen3_next")), WIDTH)
