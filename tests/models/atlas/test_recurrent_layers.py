"""Layers with a state of fixed size, in pieces; `test_parity` holds them to their references."""

from typing import Any

import pytest
import torch
from torch import Tensor

from companion.models.atlas.mixers.gated_delta import GatedDelta, GatedDeltaSpec
from companion.models.atlas.mixers.kda import KimiDelta, KimiDeltaSpec
from companion.models.atlas.mixers.lightning import Lightning, LightningSpec
from companion.models.atlas.mixers.mamba2 import Mamba2, Mamba2Spec
from companion.models.atlas.mixers.short_conv import ShortConv, ShortConvSpec

WIDTH = 12
LAYERS: dict[str, tuple[Any, Any]] = {
    "gated delta": (GatedDelta, GatedDeltaSpec(3, 6, 5, 4, max_beta=2.0)),
    "gated delta by a sigmoid": (GatedDelta, GatedDeltaSpec(3, 6, 5, 4, gate="sigmoid")),
    "kimi": (KimiDelta, KimiDeltaSpec(3, 6, gate_rank=6, decay_rank=6)),
    "kimi with a floor": (KimiDelta, KimiDeltaSpec(3, 6, decay_floor=-3.0)),
    "mamba": (Mamba2, Mamba2Spec(6, 4, 3, 5, least_step=0.01)),
    "mamba, norm before": (Mamba2, Mamba2Spec(6, 4, 3, 5, norm="before_gate", bias=True)),
    "mamba without norm": (Mamba2, Mamba2Spec(6, 4, 3, 5, norm="none", conv_bias=False)),
    "lightning": (Lightning, LightningSpec(3, 6, slope_scale=0.7)),
    "convolution": (ShortConv, ShortConvSpec(WIDTH, 3, bias=True)),
}
each = pytest.mark.parametrize("name", LAYERS)


def layer_of(name: str) -> Any:
    """Return a layer whose every weight is random: zeros and ones hide what is done with them."""
    kind, spec = LAYERS[name]
    torch.manual_seed(0)
    layer = kind(WIDTH, spec).double()
    with torch.no_grad():
        for weight in layer.parameters():
            weight.copy_(torch.randn(weight.shape) / weight[0].numel() ** 0.5 + (weight.ndim == 1))
    return layer


def text(length: int, batch: int = 2) -> Tensor:
    generator = torch.Generator().manual_seed(length)
    return torch.randn(batch, length, WIDTH, generator=generator).double()


@each
def test_pieces_equal_the_whole_also_beyond_a_chunk(name: str) -> None:
    layer = layer_of(name)
    for length, cuts in ((7, range(8)), (131, (1, 63, 64, 65, 130))):
        x = text(length)
        whole, last = layer(x)
        for cut in cuts:
            before, state = layer(x[:, :cut])
            after, end = layer(x[:, cut:], state)
            torch.testing.assert_close(torch.cat([before, after], 1), whole)
            torch.testing.assert_close(tuple(end), tuple(last))
    state, steps = None, []
    for token in torch.split(text(7), 1, 1):
        output, state = layer(token, state)
        steps.append(output)
    torch.testing.assert_close(torch.cat(steps, 1), layer(text(7))[0])


@each
def test_all_weights_and_inputs_get_gradients(name: str) -> None:
    kind, spec = LAYERS[name]
    layer, x = kind(WIDTH, spec).double(), text(67).requires_grad_()  # as it begins
    output, state = layer(x)
    (output.square().sum() + sum(part.square().sum() for part in state)).backward()
    for part, tensor in [("x", x), *layer.named_parameters()]:
        assert tensor.grad.isfinite().all(), part
        assert tensor.grad.abs().max() > 0, part


@pytest.mark.parametrize("name", ["gated delta", "kimi"])
def test_all_may_be_forgotten(name: str) -> None:
    layer = layer_of(name)
    torch.nn.init.constant_(layer.decay_rate, 9.0)
    torch.nn.init.constant_(layer.decay_bias, 99.0)
    output, _ = layer(text(67))
    output.sum().backward()
    assert output.isfinite().all()
    assert all(weight.grad.isfinite().all() for weight in layer.parameters())


@pytest.mark.parametrize("name", ["gated delta", "kimi", "mamba", "lightning"])
def test_half_precision_keeps_its_dtype_and_a_wide_memory(name: str) -> None:
    layer = layer_of(name)
    with torch.no_grad():
        wide, _ = layer(text(7))
        output, state = layer.bfloat16()(text(7).bfloat16())
    assert (output.dtype, state.memory.dtype) == (torch.bfloat16, torch.float32)
    assert (output - wide).abs().max() < 0.1 * wide.abs().max()


def test_a_state_of_another_batch_is_refused() -> None:
    for name in LAYERS:
        layer = layer_of(name)
        _, state = layer(text(5))
        with pytest.raises(ValueError, match=r"^state: got one of b = 2, wanted 3 as in x"):
            layer(text(5, batch=3), state)


def test_shapes_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="num_key_heads: got 4, wanted a divisor of num_value"):
        GatedDeltaSpec(4, 6, 5, 7)
    with pytest.raises(ValueError, match="num_groups: got 4, wanted a divisor of num_heads, 6"):
        Mamba2Spec(6, 5, 4, 7)
