"""Several projections of one input as a single matmul."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Joined:
    """The weights of linear layers in one block of memory, as `nn.LSTM` keeps its own.

    The layers keep their parameters, which become parts of the block: what an optimizer writes
    into them it writes into the block. Where a parameter has been replaced, as by a change of
    dtype or device, the layers are called one by one until the next `lay_out`, and a block that
    all parameters have left is let go.

    >>> layers = nn.Linear(3, 2, bias=False), nn.Linear(3, 5, bias=False)
    >>> joined = Joined()
    >>> joined.lay_out(*layers)
    >>> with torch.no_grad():
    ...     joined(torch.ones(1, 3), *layers).shape
    torch.Size([1, 7])
    """

    def __init__(self) -> None:
        self._block: Tensor | None = None

    def __deepcopy__(self, memo: dict[int, object]) -> Joined:
        """Begin without a block: copied parameters lie apart."""
        return Joined()

    @torch.no_grad()
    def lay_out(self, *layers: nn.Linear) -> None:
        """Move the weights of layers of one width into a block, if they are not in it.

        A layer with a bias or of another class is left alone, and its neighbours with it. A block
        that no longer holds them is let go.
        """
        if self._holds(layers):
            return
        self._block = None
        if any(layer.bias is not None for layer in layers) or not all(map(_is_plain, layers)):
            return
        weights = [layer.weight for layer in layers]
        self._block = torch.cat([weight.detach() for weight in weights])
        parts = torch.split(self._block, [len(weight) for weight in weights])
        for weight, part in zip(weights, parts, strict=True):
            weight.data = part

    def __call__(self, x: Tensor, *layers: nn.Linear) -> Tensor | None:
        """Return what the layers make of x, side by side; None where they must be called.

        They must where somebody listens to one of them, or where a block has to be made for
        gradients and x is too short to be worth it.
        """
        if torch.compiler.is_compiling():
            return None
        held = self._holds(layers)
        if not held and self._is_left_by(layers):
            self._block = None
        if torch.is_grad_enabled():
            return _through_copies(x, layers)
        if not held:
            return None
        if torch.is_autocast_enabled(x.device.type):  # it keeps what it has cast of parameters
            return None
        assert self._block is not None  # it holds the layers
        return F.linear(x, self._block)

    def weight_of(self, *layers: nn.Linear) -> Tensor | None:
        """Return the weights of plain layers one below the other; None where they lie apart."""
        return self._block if self._holds(layers) else None

    def _holds(self, layers: tuple[nn.Linear, ...]) -> bool:
        """Say whether the weights of plain layers follow one another in the block."""
        block = self._block  # biases would need one of their own
        if block is None or block.device.type == "meta":
            return False
        place, size = block.data_ptr(), block.element_size()
        for layer in layers:
            if layer.bias is not None or not _is_plain(layer):
                return False
            weight = layer.weight
            if weight.data_ptr() != place or weight.dtype != block.dtype:
                return False
            place += weight.numel() * size
        return True

    def _is_left_by(self, layers: tuple[nn.Linear, ...]) -> bool:
        """Say whether the block holds no weight any more, and so but costs memory.

        Weights that are put in for one call, as by `functional_call`, are no parameters.
        """
        if self._block is None or not all(map(_is_plain, layers)):
            return False
        block = self._block.untyped_storage()._cdata
        return all(layer.weight.untyped_storage()._cdata != block for layer in layers)


def _through_copies(x: Tensor, layers: tuple[nn.Linear, ...]) -> Tensor | None:
    """Return the same with gradients, which do not flow through a block of parameters."""
    rows = x.numel() // max(x.shape[-1], 1)
    if rows < x.shape[-1] or not all(map(_is_plain, layers)):
        return None
    biases: list[Tensor] = [layer.bias for layer in layers if layer.bias is not None]
    if len(biases) not in (0, len(layers)):
        return None
    weight = torch.cat([layer.weight for layer in layers])
    return F.linear(x, weight, torch.cat(biases) if biases else None)


def _is_plain(layer: nn.Linear) -> bool:
    """Say whether a layer does what its class says, and no more, with an ordinary weight."""
    return (
        type(layer) is nn.Linear
        and type(layer.weight) is nn.Parameter
        and not (layer._forward_hooks or layer._forward_pre_hooks)
    )
