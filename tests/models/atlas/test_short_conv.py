"""The gated short convolution, equal to the layers of LFM2."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from companion.models.atlas.kept import bytes_kept
from companion.models.atlas.mixers.short_conv import ShortConv, ShortConvSpec
from tests.models.atlas.references import (
    check_causal,
    check_gradients,
    check_pieces,
    count_bytes,
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


@pytest.mark.parametrize("length", [1, 2, 5, 63])
def test_keeps_what_the_reference_caches(length: int) -> None:
    config, layer = reference()
    cache, x, made = dynamic_cache(config), tokens(length + 1, WIDTH), ours(layer)
    with torch.no_grad():
        layer(x[:, :length], past_key_values=cache)
        _, state = made(x[:, :length])
        assert difference(state.inputs.mT, cache.layers[0].conv_states[0][..., 1:]) < 1e-5
        assert count_bytes(cache) == bytes_kept(made.spec.keeps(), length, batch_size=2, itemsize=4)
        step = layer(x[:, length:], past_key_values=cache)
        assert difference(made(x[:, length:], state)[0], step) < 1e-5
    assert count_bytes(cache) == bytes_kept(made.spec.keeps(), length + 1, batch_size=2, itemsize=4)


def test_counts_the_bytes_of_a_cache_in_half_precision() -> None:
    config, layer = reference()
    cache = dynamic_cache(config)
    layer.bfloat16()(tokens(5, WIDTH).bfloat16(), past_key_values=cache)
    assert count_bytes(cache) == bytes_kept(
        ShortConvSpec(WIDTH).keeps(), 5, batch_size=2, itemsize=2
    )
    assert bytes_kept(ShortConvSpec(WIDTH).keeps(), 0) == 0


@pytest.mark.parametrize("length", [1, 5, 7])
@pytest.mark.parametrize("kernel", [1, 3])
def test_pieces_equal_the_whole(length: int, kernel: int) -> None:
    check_pieces(ours(reference(kernel, bias=True)[1]), tokens(length, WIDTH))


def test_the_future_changes_no_past() -> None:
    check_causal(ours(reference()[1]), tokens(11, WIDTH))


def test_gradients_are_finite() -> None:
    check_gradients(ShortConv(WIDTH, ShortConvSpec(7, 4, bias=True)), tokens(67, WIDTH))


def test_the_code_on_show_fits_a_screen() -> None:
    source = inspect.getsource(inspect.unwrap(ShortConv.forward))
    assert len(source.rpartition('"""')[2].strip().splitlines()) <= 25


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^conv_width: got 0"):
        ShortConvSpec(3, 0)
    layer = ShortConv(WIDTH, ShortConvSpec(WIDTH))
    with pytest.raises(ValueError, match=r"^x: got embed_dim = 11"):
        layer(tokens(5, 11))
    _, state = layer(tokens(5, WIDTH))
    with pytest.raises(ValueError, match=r"^state: got one of b = 2, wanted 3 as in x"):
        layer(tokens(5, WIDTH, batch=3), state)
