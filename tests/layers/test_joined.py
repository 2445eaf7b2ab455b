"""Weights that lie side by side: the same values, and whoever writes into them is heard."""

from __future__ import annotations

import copy
import weakref

import pytest
import torch
from torch import Tensor, nn

from companion.layers import FeedForward, MultiHeadAttention
from companion.layers._joined import Joined

X = torch.linspace(-1, 1, 3 * 5).reshape(3, 5).double()


def make() -> tuple[nn.Linear, nn.Linear]:
    torch.manual_seed(7)
    layers = nn.Linear(5, 2, bias=False).double(), nn.Linear(5, 7, bias=False).double()
    return layers


def expected(*layers: nn.Linear) -> Tensor:
    return torch.cat([X @ layer.weight.T for layer in layers], -1)


@torch.no_grad()
def test_one_matmul_gives_what_the_layers_give() -> None:
    layers, joined = make(), Joined()
    assert joined(X, *layers) is None
    joined.lay_out(*layers)
    torch.testing.assert_close(joined(X, *layers), expected(*layers))
    layers[1].weight.mul_(-3)
    torch.testing.assert_close(joined(X, *layers), expected(*layers))


@torch.no_grad()
def test_what_was_replaced_or_is_listened_to_is_left_alone() -> None:
    layers, joined = make(), Joined()
    joined.lay_out(*layers)
    handle = layers[0].register_forward_hook(lambda *call: None)
    assert joined(X, *layers) is None
    handle.remove()
    assert joined(X, *layers) is not None
    assert joined(X, *reversed(layers)) is None
    layers[0].weight = nn.Parameter(layers[0].weight.clone())
    assert joined(X, *layers) is None


def test_gradients_reach_every_layer() -> None:
    layers, joined = make(), Joined()
    joined.lay_out(*layers)
    x = X.repeat(2, 1)
    together = joined(x, *layers)
    assert together is not None
    together.square().sum().backward()  # type: ignore[no-untyped-call]
    for layer in layers:
        wanted = 2 * (x @ layer.weight.detach().T).T @ x
        torch.testing.assert_close(layer.weight.grad, wanted)


@pytest.mark.parametrize("gradients", [False, True])
def test_a_block_that_all_weights_have_left_is_let_go(gradients: bool) -> None:
    layers, joined = make(), Joined()
    joined.lay_out(*layers)
    gone: list[bool] = []
    weakref.finalize(layers[0].weight.untyped_storage(), gone.append, True)
    layers[0].float()
    with torch.set_grad_enabled(gradients):
        joined(X, *layers)
        assert not gone  # the other weight is still in it
        layers[1].float()
        joined(X.float(), *layers)
    assert gone


def test_a_block_is_let_go_where_no_other_can_be_made() -> None:
    layers, joined = make(), Joined()
    joined.lay_out(*layers)
    gone: list[bool] = []
    weakref.finalize(layers[0].weight.untyped_storage(), gone.append, True)
    layers[0].register_forward_hook(lambda *call: None)
    for layer in layers:
        layer.float()
    joined.lay_out(*layers)
    assert gone


@torch.no_grad()
def test_layers_are_joined_again_after_casts_and_loads() -> None:
    attention, feed_forward = MultiHeadAttention(6, 2), FeedForward(6, 5, gated=True, bias=False)
    for layer in (attention, feed_forward):
        twin = copy.deepcopy(layer)
        assert twin.fused_weight is None
        x = torch.ones(1, 2, 6)
        torch.testing.assert_close(twin(x), layer(x))
        fused = twin.double().fused_weight
        assert fused is not None
        assert fused.dtype == torch.float64
        state = {name: 2 * tensor for name, tensor in layer.state_dict().items()}
        layer.load_state_dict(state, assign=True)
        fused = layer.fused_weight
        assert fused is not None
        assert any(torch.equal(fused[: len(part)], part) for part in state.values())
