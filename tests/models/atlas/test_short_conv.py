"""The gated short convolution, equal to the layers of LFM2."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from companion.models.atlas.mixers.short_conv import ShortConv, ShortConvSpec
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

lfm2: Any = pytest.importorskip("transformers.models.lfm2.modeling_lfm2")

WIDTH = 13


def reference(kernel: int = 3, bias: bool = False) -> tuple[Any, Any]:
    config = quiet(
        lfm2.Lfm2Config, hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=1,
        num_key_value_heads=1, conv_L_cache=kernel, conv_bias=bias, layer_types=["conv"],
    )  # fmt: skip
    return config, randomised(lfm2.Lfm2ShortConv(config, 0))


def ours(layer: Any) -> ShortConv:
    """Our layer with the weights of a reference."""
    stored = layer.state_dict()
    made = ShortConv(WIDTH, ShortConvSpec(WIDTH, layer.conv_kernel_size, layer.bias))
    names = {"input_proj": "in_proj", "output_proj": "out_proj"}
    weights = {"conv_weight": stored["conv.weight"][:, 0]}
    for kind in ("weight", "bias")[: 1 + layer.bias]:
        weights |= {f"{new}.{kind}": stored[f"{old}.{kind}"] for new, old in names.items()}
    if layer.bias:
        weights["conv_bias"] = stored["conv.bias"]
    made.load_state_dict(weights)
    return made


@pytest.mark.parametrize(("kernel", "bias"), [(3, False), (4, True), (1, False)])
@pytest.mark.parametrize("length", [1, 5, 7, 63])
def test_equals_the_reference(length: int, kernel: int, bias: bool) -> None:
    _, layer = reference(kernel, bias)
    x = tokens(length, WIDTH)
    with torch.no_grad():
        wanted, (actual, _) = layer(x), ours(layer)(x)
    assert wanted.abs().max() > 0.1
    assert difference(actual, wanted) < 1e-5


def read(layer: Any, x: Any, cache: Any) -> Any:
    return layer(x, past_key_values=cache)


def same(state: Any, cache: Any) -> None:
    assert difference(state.inputs.mT, cache.layers[0].conv_states[0][..., 1:]) < 1e-5


@pytest.mark.parametrize("length", [1, 2, 5, 63])
def test_keeps_what_the_reference_caches(length: int) -> None:
    config, layer = reference()
    check_cache(
        partial(read, layer), dynamic_cache(config), ours(layer), tokens(length + 1, WIDTH), same
    )


def test_counts_the_bytes_of_a_cache_in_half_precision() -> None:
    config, layer = reference()
    check_bytes_in_half_precision(
        partial(read, layer.bfloat16()), dynamic_cache(config), ShortConvSpec(WIDTH).keeps(), WIDTH
    )


@pytest.mark.parametrize("length", [1, 5, 7])
@pytest.mark.parametrize("kernel", [1, 3])
def test_pieces_equal_the_whole(length: int, kernel: int) -> None:
    check_pieces(ours(reference(kernel, bias=True)[1]), tokens(length, WIDTH))


def test_the_future_changes_no_past() -> None:
    check_causal(ours(reference()[1]), tokens(11, WIDTH))


def test_gradients_are_finite() -> None:
    check_gradients(ShortConv(WIDTH, ShortConvSpec(7, 4, bias=True)), tokens(67, WIDTH))


def test_the_code_on_show_fits_a_screen() -> None:
    check_code_on_show(ShortConv)


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^conv_width: got 0"):
        ShortConvSpec(3, 0)
    check_wrong_calls(ShortConv(WIDTH, ShortConvSpec(WIDTH)), WIDTH)
