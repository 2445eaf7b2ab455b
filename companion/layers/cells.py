"""A recurrent layer, step by step, where each input is known in part before the first step."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.kernels import turns
from companion.layers.reading import weights_of


class Steps:
    """Steps of a recurrent layer over inputs [known; found], of which the last is found on the way.

    The matrix that inputs are multiplied by falls into two parts as they do. What is known is
    multiplied for all steps at once.

    Args:
        layer: with one layer, one direction and biases.
        known: (b, n, e), the first part of the inputs of n steps.

    >>> layer = nn.GRU(5, 7, batch_first=True)
    >>> steps = Steps(layer, torch.ones(2, 3, 4))
    >>> (state,) = steps(0, torch.ones(2, 1), (torch.zeros(2, 7),))
    >>> bool(torch.isclose(state, layer(torch.ones(2, 1, 5))[0][:, 0]).all())
    True
    """

    def __init__(self, layer: nn.GRU | nn.LSTM, known: Tensor) -> None:
        input_weight, state_weight, input_bias, self.bias = weights_of(layer)
        width = known.shape[-1]
        self.known = F.linear(known, input_weight[:, :width], input_bias).unbind(1)
        self.found_weight, self.state_weight = input_weight[:, width:].mT, state_weight.mT
        self.cell = _gru if isinstance(layer, nn.GRU) else _lstm

    def __call__(self, step: int, found: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Return the state after a step; the steps must be taken in order.

        Args:
            step: which, from 0.
            found: (b, .), the rest of its input.
            state: (h,) of a GRU, (h, c) of an LSTM, each (b, hidden_size).
        """
        of_found, self.found_weight = turns.product(found, self.found_weight)
        of_state, self.state_weight = turns.product(state[0], self.state_weight)
        return self.cell(self.known[step] + of_found, of_state + self.bias, *state)


def _gru(inputs: Tensor, hidden: Tensor, state: Tensor) -> tuple[Tensor]:
    """Return the next state of a GRU from what its gates get (Cho et al., 2014)."""
    sizes = [2 * state.shape[-1], state.shape[-1]]
    of_gates, of_new = torch.split(inputs, sizes, -1)
    of_state, of_old = torch.split(hidden, sizes, -1)
    reset, keep = torch.sigmoid(of_gates + of_state).chunk(2, -1)
    return (torch.lerp(torch.tanh(torch.addcmul(of_new, reset, of_old)), state, keep),)


def _lstm(inputs: Tensor, hidden: Tensor, state: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Return the next state of an LSTM from what its gates get (Gers et al., 2000)."""
    write, keep, new, read = (inputs + hidden).chunk(4, -1)
    cell = keep.sigmoid() * cell + write.sigmoid() * new.tanh()
    return read.sigmoid() * cell.tanh(), cell
