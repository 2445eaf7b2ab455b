"""Kimi Delta Attention, equal to the layers of Kimi Linear, GLM-5 Next and Ling 3.0."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any, NamedTuple

import pytest

from companion.models.atlas.mixers.kda import KimiDelta, KimiDeltaSpec
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

WIDTH, HEADS, DIM, KERNEL = 13, 3, 5, 4
FLOOR = -3.0


class Reference(NamedTuple):
    """Where a layer lies, its options and what our specification says of it."""

    folder: str
    config: str
    layer: str
    options: dict[str, Any]
    spec: dict[str, Any]


SIZES = {"linear_num_heads": HEADS, "linear_head_dim": DIM, "linear_conv_kernel_dim": KERNEL}
LOW_RANK = {"decay_rank": DIM, "gate_rank": DIM}
GLM = "glm5_next", "Glm5NextTextConfig", "Glm5NextTextLinearAttention"
LING = "bailing_hybrid", "BailingHybridConfig", "BailingHybridDeltaAttention"
LING_SIZES = {"head_dim": DIM, "num_attention_heads": HEADS, "short_conv_kernel_size": KERNEL}
REFERENCES = {
    "kimi_linear": Reference(
        "kimi_linear", "KimiLinearConfig", "KimiLinearDeltaAttention", SIZES, LOW_RANK
    ),
    "glm5_next": Reference(
        *GLM, {**SIZES, "linear_lower_bound": FLOOR}, {**LOW_RANK, "decay_floor": FLOOR}
    ),
    "glm5_next, no floor": Reference(*GLM, {**SIZES, "linear_lower_bound": None}, LOW_RANK),
    "bailing_hybrid": Reference(
        *LING, {**LING_SIZES, "kda_lower_bound": FLOOR}, {"decay_floor": FLOOR}
    ),
    "bailing_hybrid, no floor": Reference(*LING, {**LING_SIZES, "kda_safe_gate": False}, {}),
}


def reference(name: str) -> tuple[Any, Any]:
    """A configuration and the first layer that it describes."""
    folder, config_name, layer_name, options, _ = REFERENCES[name]
    place = f"transformers.models.{folder}"
    config = quiet(
        getattr(importlib.import_module(f"{place}.configuration_{folder}"), config_name),
        hidden_size=WIDTH, num_hidden_layers=1, layer_types=["linear_attention"],
        mlp_layer_types=["dense"], **options,
    )  # fmt: skip
    layers = importlib.import_module(f"{place}.modeling_{folder}")
    return config, randomised(getattr(layers, layer_name)(config, 0))


def spec_of(name: str) -> KimiDeltaSpec:
    norm_eps = 1e-6 if name.startswith("bailing") else 1e-5
    return KimiDeltaSpec(HEADS, DIM, KERNEL, norm_eps=norm_eps, **REFERENCES[name].spec)


def ours(name: str, layer: Any) -> KimiDelta:
    """Our layer with the weights of a reference."""
    stored = layer.state_dict()
    weights = {
        "qkv_proj.weight": torch.cat([stored[f"{part}_proj.weight"] for part in "qkv"]),
        "conv_weight": stored["conv1d.weight"][:, 0],
        "decay_rate": stored["forget_gate.A_log"].flatten(),
        "decay_bias": stored["forget_gate.dt_bias"].view(HEADS, DIM),
        "beta_proj.weight": stored["b_proj.weight"],
        "norm.weight": stored["o_norm.weight"],
        "output_proj.weight": stored["o_proj.weight"],
    }
    for new, old in {"decay_proj": "forget_gate.f", "gate_proj": "g"}.items():
        if f"{old}_proj.weight" in stored:
            weights[f"{new}.weight"] = stored[f"{old}_proj.weight"]
        else:
            weights[f"{new}.0.weight"] = stored[f"{old}_a_proj.weight"]
            weights[f"{new}.1.weight"] = stored[f"{old}_b_proj.weight"]
    made = KimiDelta(WIDTH, spec_of(name))
    made.load_state_dict(weights)
    return made


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("length", [1, 5, 7, 63])
def test_equals_the_reference(name: str, length: int) -> None:
    _, layer = reference(name)
    x = tokens(length, WIDTH)
    with torch.no_grad():
        wanted, (actual, _) = layer(x), ours(name, layer)(x)
    assert wanted.abs().max() > 0.1
    assert difference(actual, wanted) < 1e-5


@pytest.mark.parametrize("name", REFERENCES)
def test_beyond_a_chunk_the_reference_rounds_more(name: str) -> None:
    """It subtracts sums of logarithms from one another, where ours multiplies factors."""
    _, layer = reference(name)
    made, x = ours(name, layer), tokens(131, WIDTH)
    with torch.no_grad():
        theirs, (output, _) = layer(x), made(x)
        exact, _ = made.double()(x.double())
    assert difference(output, exact) < 1e-5
    assert difference(output, exact) < difference(theirs, exact) < 5e-5


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


@pytest.mark.parametrize("length", [1, 5, 7])
@pytest.mark.parametrize("name", ["kimi_linear", "bailing_hybrid"])
def test_pieces_equal_the_whole(name: str, length: int) -> None:
    check_pieces(ours(name, reference(name)[1]), tokens(length, WIDTH))


def test_pieces_equal_the_whole_beyond_a_chunk() -> None:
    check_pieces_beyond_a_chunk(KimiDelta(WIDTH, spec_of("kimi_linear")), tokens(131, WIDTH))


def test_the_future_changes_no_past() -> None:
    check_causal(ours("kimi_linear", reference("kimi_linear")[1]), tokens(11, WIDTH))


@pytest.mark.parametrize("name", ["kimi_linear", "bailing_hybrid"])
def test_gradients_are_finite(name: str) -> None:
    check_gradients(KimiDelta(WIDTH, spec_of(name)), tokens(67, WIDTH))


def test_all_may_be_forgotten() -> None:
    check_forgetting(KimiDelta(WIDTH, spec_of("kimi_linear")), tokens(67, WIDTH))


def test_every_channel_forgets_by_itself() -> None:
    layer = ours("kimi_linear", reference("kimi_linear")[1])
    with torch.no_grad():
        _, one = layer(tokens(5, WIDTH))
        layer.decay_bias[0, 0] += 1
        _, other = layer(tokens(5, WIDTH))
    assert (one.memory[:, 0, 0] != other.memory[:, 0, 0]).all()
    assert torch.equal(one.memory[:, 1:], other.memory[:, 1:])


def test_the_code_on_show_fits_a_screen() -> None:
    check_code_on_show(KimiDelta)


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^decay_floor: got 1"):
        KimiDeltaSpec(3, 5, decay_floor=1.0)
    check_wrong_calls(KimiDelta(WIDTH, spec_of("kimi_linear")), WIDTH)
