"""Mamba-2, equal to the layers of Nemotron-H, Falcon-H1, Bamba, Granite 4, Zamba 2 and its own."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any, NamedTuple

import pytest

from companion.models.atlas.mixers.mamba2 import Mamba2, Mamba2Spec
from companion.models.atlas.mixers.recurrent import RecurrentState
from tests.models.atlas.references import (
    check_bytes_in_half_precision,
    check_cache,
    check_causal,
    check_code_on_show,
    check_gradients,
    check_pieces,
    check_wrong_calls,
    difference,
    dynamic_cache,
    quiet,
    randomised,
    tokens,
    torch,
)

WIDTH, HEADS, DIM, GROUPS, STATE, KERNEL = 12, 6, 4, 3, 5, 4
INNER = HEADS * DIM


class Reference(NamedTuple):
    """Where a layer lies, its options and what our specification says of it."""

    folder: str
    config: str
    layer: str
    options: dict[str, Any]
    spec: dict[str, Any]


NAMED = {
    "mamba_n_heads": HEADS, "mamba_d_head": DIM, "mamba_n_groups": GROUPS, "mamba_d_state": STATE,
    "mamba_d_conv": KERNEL, "mamba_chunk_size": 8, "num_attention_heads": 2,
    "num_key_value_heads": 1, "num_hidden_layers": 1,
}  # fmt: skip
SHORT = {
    "head_dim": DIM, "n_groups": GROUPS, "chunk_size": 8, "num_hidden_layers": 1,
}  # fmt: skip
FALCON = "falcon_h1", "FalconH1Config", "FalconH1Mixer"
FALCON_SIZES = {**NAMED, "mamba_d_ssm": INNER}
REFERENCES = {
    "mamba2": Reference(
        "mamba2", "Mamba2Config", "Mamba2Mixer",
        {**SHORT, "num_heads": HEADS, "state_size": STATE, "conv_kernel": KERNEL,
         "layer_norm_epsilon": 1e-5},
        {"norm_eps": 1e-5},
    ),
    "nemotron_h": Reference(
        "nemotron_h", "NemotronHConfig", "NemotronHMamba2Mixer",
        {"mamba_num_heads": HEADS, "mamba_head_dim": DIM, "n_groups": GROUPS,
         "ssm_state_size": STATE, "conv_kernel": KERNEL, "chunk_size": 8,
         "layers_block_type": ["linear_attention"], "time_step_min": 0.5},
        {"norm_eps": 1e-5, "least_step": 0.5},
    ),
    "bamba": Reference(
        "bamba", "BambaConfig", "BambaMixer", {**NAMED, "mamba_conv_bias": False},
        {"norm_eps": 1e-5, "conv_bias": False},
    ),
    "granitemoehybrid": Reference(
        "granitemoehybrid", "GraniteMoeHybridConfig", "GraniteMoeHybridMambaLayer",
        {**NAMED, "layer_types": ["mamba"], "mamba_proj_bias": True}, {"bias": True},
    ),
    "falcon_h1": Reference(*FALCON, FALCON_SIZES, {"norm": "none"}),
    "falcon_h1, norm before": Reference(
        *FALCON, {**FALCON_SIZES, "mamba_rms_norm": True},
        {"norm": "before_gate", "norm_eps": 1e-5},
    ),
    "falcon_h1, norm after": Reference(
        *FALCON, {**FALCON_SIZES, "mamba_rms_norm": True, "mamba_norm_before_gate": False},
        {"norm_eps": 1e-5},
    ),
    "zamba2": Reference(
        "zamba2", "Zamba2Config", "Zamba2MambaMixer",
        {"mamba_d_state": STATE, "mamba_d_conv": KERNEL, "mamba_expand": 2,
         "mamba_ngroups": GROUPS, "n_mamba_heads": HEADS, "num_hidden_layers": 1,
         "layers_block_type": ["mamba"], "num_attention_heads": 2, "num_key_value_heads": 2,
         "chunk_size": 8, "time_step_min": 0.5},
        {"norm_eps": 1e-5, "least_step": 0.5},
    ),
}  # fmt: skip
CLAMPED = [name for name, reference in REFERENCES.items() if "least_step" in reference.spec]


def reference(name: str) -> tuple[Any, Any]:
    """A configuration and the first layer that it describes."""
    folder, config_name, layer_name, options, _ = REFERENCES[name]
    place = f"transformers.models.{folder}"
    made = getattr(importlib.import_module(f"{place}.configuration_{folder}"), config_name)
    config = quiet(made, hidden_size=WIDTH, **options)
    layers = importlib.import_module(f"{place}.modeling_{folder}")
    layer = getattr(layers, layer_name)(config, layer_idx=0)
    if folder == "falcon_h1":
        layer.register_buffer("mup_vector", layers.compute_mup_vector(config))
    return config, randomised(layer)


def spec_of(name: str) -> Mamba2Spec:
    return Mamba2Spec(HEADS, DIM, GROUPS, STATE, KERNEL, **REFERENCES[name].spec)


def ours(name: str, layer: Any) -> Mamba2:
    """Our layer with the weights of a reference."""
    stored, spec = layer.state_dict(), spec_of(name)
    weights = {
        "conv_weight": stored["conv1d.weight"][:, 0], "step_bias": stored["dt_bias"],
        "decay_rate": stored["A_log"], "skip": stored["D"],
    }  # fmt: skip
    if spec.conv_bias:
        weights["conv_bias"] = stored["conv1d.bias"]
    if spec.norm != "none":
        weights["norm.weight"] = stored["norm.weight"]
    for kind in ("weight", "bias")[: 1 + spec.bias]:
        rows = stored[f"in_proj.{kind}"].split([INNER, spec.channels, HEADS])
        names = "gate_proj", "value_key_query_proj", "step_proj"
        weights |= {f"{new}.{kind}": part for new, part in zip(names, rows, strict=True)}
        weights[f"output_proj.{kind}"] = stored[f"out_proj.{kind}"]
    made = Mamba2(WIDTH, spec)
    made.load_state_dict(weights)
    return made


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("length", [1, 5, 7, 63, 131])
def test_equals_the_reference(name: str, length: int) -> None:
    _, layer = reference(name)
    x = tokens(length, WIDTH)
    with torch.no_grad():
        wanted, (actual, _) = layer(x), ours(name, layer)(x)
    assert wanted.abs().max() > 0.1
    assert difference(actual, wanted) < 1e-5 * max(1, wanted.abs().max())


def read(layer: Any, x: Any, cache: Any) -> Any:
    return layer(x, cache_params=cache)


def same(state: RecurrentState, cache: Any) -> None:
    kept = cache.layers[0]
    assert difference(state.memory, kept.recurrent_states[0].mT) < 1e-5
    assert difference(state.inputs.mT, kept.conv_states[0][..., 1:]) < 1e-5


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("length", [1, 2, 5, 63])
def test_keeps_what_the_reference_caches(name: str, length: int) -> None:
    config, layer = reference(name)
    check_cache(
        partial(read, layer), dynamic_cache(config), ours(name, layer), tokens(length + 1, WIDTH),
        same, steps_alike=name not in CLAMPED,  # whose step of one token has no bound
    )  # fmt: skip


@pytest.mark.parametrize("name", CLAMPED)
def test_a_reference_forgets_its_least_step_when_it_goes_token_by_token(name: str) -> None:
    config, layer = reference(name)
    cache, x = dynamic_cache(config), tokens(6, WIDTH)
    with torch.no_grad():
        whole = layer(x)
        layer(x[:, :5], cache_params=cache)
        assert difference(layer(x[:, 5:], cache_params=cache), whole[:, 5:]) > 1e-3


@pytest.mark.parametrize("name", REFERENCES)
def test_counts_the_bytes_of_a_cache_in_half_precision(name: str) -> None:
    config, layer = reference(name)
    check_bytes_in_half_precision(
        partial(read, layer.bfloat16()), dynamic_cache(config), spec_of(name).keeps(), WIDTH
    )


@pytest.mark.parametrize("length", [1, 5, 7])
@pytest.mark.parametrize("name", ["nemotron_h", "falcon_h1, norm before"])
def test_pieces_equal_the_whole(name: str, length: int) -> None:
    check_pieces(ours(name, reference(name)[1]), tokens(length, WIDTH))


def test_the_future_changes_no_past() -> None:
    check_causal(ours("mamba2", reference("mamba2")[1]), tokens(11, WIDTH))


@pytest.mark.parametrize("name", ["mamba2", "falcon_h1", "falcon_h1, norm before"])
def test_gradients_are_finite(name: str) -> None:
    check_gradients(Mamba2(WIDTH, spec_of(name)), tokens(67, WIDTH))


def test_half_precision_keeps_its_dtype_and_a_wide_memory() -> None:
    layer = ours("mamba2", reference("mamba2")[1])
    wide, _ = layer(tokens(7, WIDTH))
    output, state = layer.bfloat16()(tokens(7, WIDTH).bfloat16())
    assert (output.dtype, state.memory.dtype) == (torch.bfloat16, torch.float32)
    assert difference(output.float(), wide) < 0.1 * wide.abs().max()


def test_the_code_on_show_fits_a_screen() -> None:
    check_code_on_show(Mamba2)


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^num_groups: got 4, wanted a divisor of num_heads, 6"):
        Mamba2Spec(6, 5, 4, 7)
    check_wrong_calls(Mamba2(WIDTH, spec_of("mamba2")), WIDTH)
