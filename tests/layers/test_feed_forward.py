"""The feed-forward layer against loops and against the one in torch's own Transformer layer."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from companion.layers import FeedForward
from tests.layers.test_multi_head import draw
from tests.oracle import as_numpy, assert_matches

B, N, E, HIDDEN = 2, 3, 5, 11

ACTIVATIONS: dict[str, Callable[[float], float]] = {
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + math.exp(-x)),
}


def make(activation: Any = "gelu", **options: Any) -> FeedForward:
    torch.manual_seed(1)
    return FeedForward(E, HIDDEN, activation=activation, **options).double()


def linear(layer: Any, x: Any) -> list[float]:
    """One position through one projection, a number at a time."""
    weight = as_numpy(layer.weight)
    bias = np.zeros(len(weight)) if layer.bias is None else as_numpy(layer.bias)
    return [math.fsum([*(row * x), b]) for row, b in zip(weight, bias, strict=True)]


def test_every_position_goes_through_the_formula() -> None:
    for activation in ACTIVATIONS:
        for gated, bias in [(False, True), (True, False)]:
            layer, x = make(activation, gated=gated, bias=bias), draw(B, N, E)
            activate = ACTIVATIONS[activation]
            expected = np.zeros((B, N, E))
            for b, i in np.ndindex(B, N):
                hidden = linear(layer.up_proj, as_numpy(x)[b, i])
                if gated:  # Shazeer (2020), equation 6
                    gate = linear(layer.gate_proj, as_numpy(x)[b, i])
                    hidden = [activate(g) * h for g, h in zip(gate, hidden, strict=True)]
                else:
                    hidden = [activate(h) for h in hidden]
                expected[b, i] = linear(layer.down_proj, np.array(hidden))
            assert_matches(layer(x), expected)


def test_gradients() -> None:
    layer, x = make("silu", gated=True), draw(N, E).requires_grad_()
    leaves = [x, *layer.parameters()]  # weights are changed in their places
    assert torch.autograd.gradcheck(lambda *_: layer(x), leaves, fast_mode=True)


def test_dropout_is_for_training_alone() -> None:
    layer, x = make(dropout_p=0.5), draw(B, N, E)
    assert not torch.equal(layer(x), layer(x))
    layer.eval()
    assert torch.equal(layer(x), make()(x))
