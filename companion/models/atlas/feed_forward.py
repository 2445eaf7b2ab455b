"""What a layer computes at every position by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.contracts import contract

Activation = Literal[
    "relu", "relu_squared", "gelu", "gelu_tanh", "gelu_quick", "silu", "sigmoid", "xielu"
]  # fmt: skip

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "relu_squared": lambda x: F.relu(x).square(),
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "gelu_quick": lambda x: x * torch.sigmoid(1.702 * x),
    "silu": F.silu,
    "sigmoid": F.sigmoid,
}
"""What an activation of each name computes."""


@contract(hidden_dim=">= 1")
@dataclass(frozen=True)
class FeedForwardSpec:
    """Two or three projections at every position.

    Attributes:
        hidden_dim: width between the projections.
        activation: "relu", "relu_squared", "gelu", "gelu_tanh", "gelu_quick", "silu", or "xielu",
            which learns.
        gated: multiply by a second projection (Shazeer, 2020).
        bias: whether the projections have biases.
        limit: bound on what enters the gate and the product, from above on the gate (gpt-oss).
        shifted: add 1 to what the gate multiplies (gpt-oss).

    >>> FeedForwardSpec(hidden_dim=8).gated
    True
    """

    hidden_dim: int
    activation: Activation = "silu"
    gated: bool = True
    bias: bool = False
    limit: float | None = None
    shifted: bool = False


class XIELU(nn.Module):
    """p x^2 + b x above 0, and n (e^x - 1 - x) + b x below, p and n learned (Huang, 2024).

    >>> XIELU()(torch.tensor([0.0, 1.0])).detach()
    tensor([0.0000, 1.3000])
    """

    def __init__(self) -> None:
        super().__init__()
        self.positive = nn.Parameter(torch.tensor([0.8]).expm1().log())
        self.negative = nn.Parameter(torch.tensor([0.3]).expm1().log())
        self.register_buffer("slope", torch.tensor(0.5))

    slope: Tensor

    def forward(self, x: Tensor) -> Tensor:
        """Compute every feature by itself."""
        p, n = F.softplus(self.positive), self.slope + F.softplus(self.negative)
        return torch.where(x > 0, p * x.square(), n * (x.clamp(max=0).expm1() - x)) + self.slope * x

    if TYPE_CHECKING:
        __call__ = forward


class FeedForward(nn.Module):
    """down(activation(gate(x)) * up(x)), or down(activation(up(x))) without a gate.

    Args:
        embed_dim: width e of input and output.
        spec: the width between, the activation, and whether there is a gate.
    """

    def __init__(self, embed_dim: int, spec: FeedForwardSpec) -> None:
        super().__init__()
        self.spec = spec
        self.activate = XIELU() if spec.activation == "xielu" else ACTIVATIONS[spec.activation]
        self.gate_proj = nn.Linear(embed_dim, spec.hidden_dim, spec.bias) if spec.gated else None
        self.up_proj = nn.Linear(embed_dim, spec.hidden_dim, spec.bias)
        self.down_proj = nn.Linear(spec.hidden_dim, embed_dim, spec.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Compute (..., e) from (..., e)."""
        if self.gate_proj is None:
            hidden = self.activate(self.up_proj(x))
        else:
            gate, up = bounded(self.gate_proj(x), self.up_proj(x), self.spec.limit)
            hidden = self.activate(gate) * (up + 1 if self.spec.shifted else up)
        output: Tensor = self.down_proj(hidden)
        return output

    if TYPE_CHECKING:
        __call__ = forward


def bounded(gate: Tensor, up: Tensor, limit: float | None) -> tuple[Tensor, Tensor]:
    """Bound the gate from above, and what it multiplies from both sides.

    >>> bounded(torch.tensor([-9.0, 9.0]), torch.tensor([-9.0, 9.0]), 7.0)
    (tensor([-9.,  7.]), tensor([-7.,  7.]))
    """
    return (gate, up) if limit is None else (gate.clamp(max=limit), up.clamp(-limit, limit))
