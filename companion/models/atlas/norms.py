"""Norms: a vector over its own size, times gains that are learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn

from companion.contracts import contract


@contract(eps="> 0")
@dataclass(frozen=True)
class NormSpec:
    """How a norm divides and multiplies.

    Attributes:
        eps: number that is added to the mean square.
        gain: what the result is multiplied by: a learned "weight", "one_plus_weight", which is
            stored as its distance from 1, or "none".
        centred: subtract the mean first (Ba et al., 2016); without, the norm divides by the root
            mean square alone (Zhang and Sennrich, 2019).
        bias: add a learned number for each feature.
        gain_first: multiply by the gain before the norm divides, not after (Muse Spark).

    >>> NormSpec(eps=1e-5).gain
    'weight'
    """

    eps: float = 1e-6
    gain: Literal["weight", "one_plus_weight", "none"] = "weight"
    centred: bool = False
    bias: bool = False
    gain_first: bool = False


class Norm(nn.Module):
    """x / sqrt(mean(x^2) + eps) * gain + bias, over the last axis, in at least float32.

    Args:
        width: of the last axis.
        spec: how it divides and multiplies.

    >>> Norm(2, NormSpec())(torch.tensor([3.0, 4.0])).square().mean().round(decimals=3)
    tensor(1., grad_fn=<RoundBackward1>)
    """

    def __init__(self, width: int, spec: NormSpec) -> None:
        super().__init__()
        self.spec = spec
        start = torch.zeros if spec.gain == "one_plus_weight" else torch.ones
        gain = None if spec.gain == "none" else nn.Parameter(start(width))
        self.weight = gain
        self.bias = nn.Parameter(torch.zeros(width)) if spec.bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Normalise (..., width)."""
        wide = x if x.dtype == torch.float64 else x.float()
        if self.spec.gain_first:
            wide = self._multiplied(wide)
        if self.spec.centred:
            wide = wide - wide.mean(-1, keepdim=True)
        square = wide.square().mean(-1, keepdim=True)
        normed = wide * torch.rsqrt(square + self.spec.eps)
        if not self.spec.gain_first:
            normed = self._multiplied(normed)
        if self.bias is not None:
            normed = normed + self.bias.to(normed.dtype)
        return normed.to(x.dtype)

    def _multiplied(self, x: Tensor) -> Tensor:
        """Multiply by the gain."""
        if self.weight is None:
            return x
        distance = self.spec.gain == "one_plus_weight"
        gain = self.weight + 1 if distance else self.weight
        return x * gain.to(x.dtype)

    if TYPE_CHECKING:
        __call__ = forward


def optional_norm(width: int, spec: NormSpec | None) -> Norm | None:
    """Return a norm of a last axis, where there is to be one."""
    return None if spec is None else Norm(width, spec)


def optional_zeros(wanted: bool, *shape: int) -> nn.Parameter | None:
    """Return weights that are 0 at first, where there are to be some."""
    return nn.Parameter(torch.zeros(shape)) if wanted else None


def optional_linear(rows: int, columns: int | None) -> nn.Linear | None:
    """Return a projection without a bias, where its width is given."""
    return nn.Linear(rows, columns, bias=False) if columns else None
