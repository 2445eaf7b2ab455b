"""What training costs beyond a forward pass: operations of a step, and bytes that stay."""

from __future__ import annotations

from typing import NamedTuple

import torch

from companion.contracts import contract
from companion.cost.size import array_bytes


@contract(forward=">= 0")
def training_flops(forward: int, *, recomputed: bool = False) -> int:
    """Return the operations of a forward and a backward pass.

    A product of two matrices has two in its backward pass, a gradient for either, so the two
    passes count three times the forward one, and four times where activations are computed again
    instead of kept (Chen et al., 2016). Exceptions count less: an input that wants no gradient; a
    product of a matrix and a vector, one of whose gradients is made elementwise. Tiled attention
    counts more, see `tiled_flops`. The optimizer works elementwise, and counts nothing.

    Args:
        forward: operations of the forward pass.
        recomputed: the whole forward pass is done a second time.

    >>> training_flops(100), training_flops(100, recomputed=True)
    (300, 400)
    """
    return (4 if recomputed else 3) * forward


class TrainingBytes(NamedTuple):
    """What stays in memory from step to step.

    Attributes:
        weights: the parameters.
        gradients: one for each.
        moments: the optimizer's running means, and a counter a tensor.
    """

    weights: int
    gradients: int
    moments: int

    @property
    def total(self) -> int:
        """Sum of all parts."""
        return sum(self)


@contract(parameters=">= 0", tensors=">= 0")
def training_bytes(
    parameters: int, *, tensors: int = 0, dtype: torch.dtype | None = None
) -> TrainingBytes:
    """Return what `torch.optim.AdamW` and its model keep (Kingma & Ba, 2015).

    Tables of angles, which all models with the same rotary share, are left out.

    Args:
        parameters: numbers that are learned, such as `count_parameters` gives.
        tensors: how many tensors they are; each has a counter of steps, in float32, or in float64
            where that is torch's default.
        dtype: of the parameters; None means torch's default.

    >>> training_bytes(1000, dtype=torch.float32)
    TrainingBytes(weights=4000, gradients=4000, moments=8000)
    """
    weights = array_bytes(parameters, dtype=dtype)
    wide = torch.get_default_dtype() == torch.float64
    counters = array_bytes(
        tensors, dtype=torch.float64 if wide else torch.float32
    )
    return TrainingBytes(weights, weights, 2 * weights + counters)
