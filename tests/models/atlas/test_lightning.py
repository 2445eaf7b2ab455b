"""Lightning attention, equal to the layers of MiniMax."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from companion.models.atlas.mixers.lightning import Lightning, LightningSpec
from tests.models.atlas.references import (
    check_bytes_in_half_precision,
    check_cache,
    check_causal,
    check_code_on_show,
    check_gradients,
    check_pieces,
    check_wrong_calls,
    difference,
    quiet,
    randomised,
    tokens,
    torch,
)

minimax: Any = pytest.importorskip("transformers.models.minimax.modeling_minimax")

WIDTH, HEADS, DIM, LAYERS = 13, 3, 6, 4


def reference(layer: int = 1, block_size: int = 256) -> Any:
    config = quiet(
        minimax.MiniMaxConfig, hidden_size=WIDTH, num_hidden_layers=LAYERS, head_dim=DIM,
        num_attention_heads=HEADS, num_key_value_heads=1, block_size=block_size,
        layer_types=["linear_attention"] * LAYERS,
    )  # fmt: skip
    return randomised(minimax.MiniMaxLightningAttention(config, layer))


def spec_of(layer: int = 1) -> LightningSpec:
    scale = 1 - layer / (LAYERS - 1 + 1e-5) + 1e-5
    return LightningSpec(HEADS, DIM, slope_scale=scale, norm_eps=1e-6)


def ours(layer: Any, number: int = 1) -> Lightning:
    """Our layer with the weights of a reference, whose rows lie by heads: query, key and value."""
    stored = layer.state_dict()
    rows = stored["qkv_proj.weight"].view(HEADS, 3, DIM, WIDTH)
    made = Lightning(WIDTH, spec_of(number))
    made.load_state_dict({
        "qkv_proj.weight": rows.transpose(0, 1).flatten(0, 2),
        "gate_proj.weight": stored["output_gate.weight"],
        "norm.weight": stored["norm.weight"],
        "output_proj.weight": stored["out_proj.weight"],
    })  # fmt: skip
    return made


def run(layer: Any, x: Any, cache: Any = None) -> Any:
    return layer(x, None, None, past_key_values=cache)[0]


@pytest.mark.parametrize("number", range(LAYERS))
@pytest.mark.parametrize("length", [1, 5, 7, 63, 131])
def test_equals_the_reference(number: int, length: int) -> None:
    layer, x = reference(number, block_size=7), tokens(length, WIDTH)
    with torch.no_grad():
        wanted, (actual, _) = run(layer, x), ours(layer, number)(x)
    assert wanted.abs().max() > 0.1
    assert difference(actual, wanted) < 1e-5


def same(state: Any, cache: Any) -> None:
    kept = cache.get_linear_cache(1)
    assert difference(state.memory, kept) < 1e-5 * kept.abs().max()


@pytest.mark.parametrize("length", [1, 2, 5, 63])
def test_keeps_what_the_reference_caches(length: int) -> None:
    layer = reference()
    check_cache(
        partial(run, layer), minimax.MiniMaxCache(), ours(layer), tokens(length + 1, WIDTH), same
    )


def test_counts_the_bytes_of_a_cache_in_half_precision() -> None:
    check_bytes_in_half_precision(
        partial(run, reference().bfloat16()), minimax.MiniMaxCache(), spec_of().keeps(), WIDTH
    )


@pytest.mark.parametrize("length", [1, 5, 7])
def test_pieces_equal_the_whole(length: int) -> None:
    check_pieces(ours(reference()), tokens(length, WIDTH))


def test_the_future_changes_no_past() -> None:
    check_causal(ours(reference()), tokens(11, WIDTH))


def test_gradients_are_finite() -> None:
    check_gradients(Lightning(WIDTH, spec_of()), tokens(67, WIDTH))


def test_half_precision_keeps_its_dtype_and_a_wide_memory() -> None:
    layer = ours(reference())
    wide, _ = layer(tokens(7, WIDTH))
    output, state = layer.bfloat16()(tokens(7, WIDTH).bfloat16())
    assert (output.dtype, state.memory.dtype) == (torch.bfloat16, torch.float32)
    assert difference(output.detach().float(), wide.detach()) < 0.1 * wide.abs().max()


def test_the_code_on_show_fits_a_screen() -> None:
    check_code_on_show(Lightning)


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^slope_scale: got -1"):
        LightningSpec(3, 5, slope_scale=-1.0)
    check_wrong_calls(Lightning(WIDTH, spec_of()), WIDTH)
