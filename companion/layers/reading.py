"""Padded sentences, read by a recurrent layer in both directions."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def read_both_ways(
    layer: nn.GRU | nn.LSTM, inputs: Tensor, lengths: Tensor
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Read sentences forward and backward; padding changes nothing.

    On the CPU the gradients of a packed GRU take time that grows with the square of the length:
    every word makes one of the size of all inputs. There a GRU goes over the padding instead, and
    what it makes of it is left out.

    Args:
        layer: bidirectional, with one layer, biases and `batch_first`.
        inputs: (b, n, e), padded at the end.
        lengths: (b,) number of words, each at least 1, on the CPU.

    Returns:
        (b, n, 2 * hidden_size) states, zeros at the padding; and the last states of both
        directions, each (2, b, hidden_size): (h,) of a GRU, (h, c) of an LSTM.

    >>> layer = nn.GRU(3, 5, batch_first=True, bidirectional=True)
    >>> states, (last,) = read_both_ways(layer, torch.ones(2, 4, 3), torch.tensor([4, 1]))
    >>> states.shape, last.shape, states[1, 1:].abs().sum().item()
    (torch.Size([2, 4, 10]), torch.Size([2, 2, 5]), 0.0)
    """
    if isinstance(layer, nn.LSTM) or inputs.device.type != "cpu":
        return _read_packed(layer, inputs, lengths)
    return _read_padded(layer, inputs, lengths)


def weights_of(layer: nn.GRU | nn.LSTM, suffix: str = "") -> list[Tensor]:
    """Return a layer's matrices for its inputs and its states, then the biases of both.

    Args:
        layer: with one layer and biases.
        suffix: "" for the forward direction, "_reverse" for the other.

    >>> [tuple(weight.shape) for weight in weights_of(nn.GRU(3, 5))]
    [(15, 3), (15, 5), (15,), (15,)]
    """
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    return [getattr(layer, f"{name}_l0{suffix}") for name in names]


def _read_packed(
    layer: nn.GRU | nn.LSTM, inputs: Tensor, lengths: Tensor
) -> tuple[Tensor, tuple[Tensor, ...]]:
    packed = pack_padded_sequence(
        inputs, lengths, batch_first=True, enforce_sorted=False
    )
    outputs, last = layer(packed)
    states, _ = pad_packed_sequence(
        outputs, batch_first=True, total_length=inputs.shape[1]
    )
    return states, (last,) if isinstance(last, Tensor) else last


def _read_padded(
    layer: nn.GRU, inputs: Tensor, lengths: Tensor
) -> tuple[Tensor, tuple[Tensor, ...]]:
    batch, n, _ = inputs.shape
    positions = torch.arange(n)
    sentences = n * torch.arange(batch)
    # The words of each sentence in reverse, and so its padding: reversed twice, all is as before.
    reverse = (
        sentences[:, None] + (lengths[:, None] - 1 - positions) % n
    ).flatten()
    forward = _run(layer, "", inputs)
    backward = _reordered(
        _run(layer, "_reverse", _reordered(inputs, reverse)), reverse
    )
    last = forward.flatten(0, 1).index_select(0, sentences + lengths - 1)
    padding = positions >= lengths[:, None]
    states = torch.cat((forward, backward), -1).masked_fill(
        padding[..., None], 0
    )
    return states, (torch.stack((last, backward[:, 0])),)


def _run(layer: nn.GRU, suffix: str, inputs: Tensor) -> Tensor:
    """Run one direction of a layer over all positions, from the first to the last."""
    start = inputs.new_zeros(1, inputs.shape[0], layer.hidden_size)
    options = True, 1, 0.0, layer.training, False, True
    states, _ = torch.gru(inputs, start, weights_of(layer, suffix), *options)
    return states


def _reordered(rows: Tensor, order: Tensor) -> Tensor:
    return rows.flatten(0, 1).index_select(0, order).view_as(rows)
