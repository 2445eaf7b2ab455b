"""Steps of a recurrent layer against the layer, which gets its inputs whole."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from companion.layers.cells import Steps

B, N, KNOWN, FOUND, WIDTH = 2, 4, 3, 5, 7


@pytest.mark.parametrize("kind", [nn.GRU, nn.LSTM])
def test_steps_are_those_of_the_layer(kind: type[nn.GRU | nn.LSTM]) -> None:
    torch.manual_seed(1)
    layer = kind(KNOWN + FOUND, WIDTH, batch_first=True).double()
    known, found = torch.randn(B, N, KNOWN).double(), torch.randn(B, N, FOUND).double()
    start = tuple(torch.randn(B, WIDTH).double() for _ in range(1 if kind is nn.GRU else 2))
    given = [x.requires_grad_() for x in (known, found, *start)]

    steps, state, outputs = Steps(layer, known), start, []
    for place in range(N):
        state = steps(place, found[:, place], state)
        outputs.append(state[0])
    hidden = tuple(part[None] for part in start)
    expected, last = layer(torch.cat((known, found), -1), hidden if len(hidden) > 1 else hidden[0])

    results = []
    for states, final in ((torch.stack(outputs, 1), state), (expected, last)):
        final = (final,) if isinstance(final, Tensor) else final
        loss = (states * torch.arange(states.numel()).view(states.shape)).sum() + final[-1].sum()
        results.append((states, *torch.autograd.grad(loss, (*given, *layer.parameters()))))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)
