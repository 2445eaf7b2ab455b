"""Reading both ways against packed sequences."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from companion.layers.reading import read_both_ways

LENGTHS = torch.tensor([4, 7, 1, 5])
B, N, E, WIDTH = 4, 9, 3, 5


def packed(layer: nn.GRU | nn.LSTM, inputs: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
    sequence = pack_padded_sequence(inputs, LENGTHS, batch_first=True, enforce_sorted=False)
    outputs, last = layer(sequence)
    states, _ = pad_packed_sequence(outputs, batch_first=True, total_length=N)
    return states, (last,) if isinstance(last, Tensor) else last


def test_values_and_gradients_are_those_of_packed_sequences() -> None:
    for kind in (nn.GRU, nn.LSTM):
        torch.manual_seed(1)
        layer = kind(E, WIDTH, batch_first=True, bidirectional=True).double()
        inputs = torch.randn(B, N, E).double().requires_grad_()
        results = []
        for states, last in (read_both_ways(layer, inputs, LENGTHS), packed(layer, inputs)):
            loss = sum((x * torch.arange(x.numel()).view(x.shape)).sum() for x in (states, *last))
            assert isinstance(loss, Tensor)
            grads = torch.autograd.grad(loss, (inputs, *layer.parameters()))
            results.append((states, *last, *grads))
        for found, expected in zip(*results, strict=True):
            torch.testing.assert_close(found, expected)
