"""What a Transformer computes at every position by itself, between its attentions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.contracts import contract

Activation = Literal[
    "relu", "relu_squared", "gelu", "gelu_tanh", "gelu_quick", "silu", "sigmoid", "xielu"
]  # fmt: skip


def _relu_squared(x: Tensor) -> Tensor:
    return F.relu(x).square()


def _gelu_quick(x: Tensor) -> Tensor:
    return x * torch.sigmoid(1.702 * x)


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "relu_squared": _relu_squared,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "gelu_quick": _gelu_quick,
    "silu": F.silu,
    "sigmoid": F.sigmoid,
}
"""What an activation of each name computes, for those that do not learn."""


class XIELU(nn.Module):
    """p x^2 + b x above 0, and n (e^x - 1 - x) + b x below, p and n learned (Huang, 2024).

    >>> XIELU()(torch.tensor([0.0, 1.0])).detach()
    tensor([0.0000, 1.3000])
    """

    slope: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.positive = nn.Parameter(torch.tensor([0.8]).expm1().log())
        self.negative = nn.Parameter(torch.tensor([0.3]).expm1().log())
        self.register_buffer("slope", torch.tensor(0.5))

    def forward(self, x: Tensor) -> Tensor:
        """Compute every feature by itself."""
        p = F.softplus(self.positive)
        n = self.slope + F.softplus(self.negative)
        below = n * (x.clamp(max=0).expm1() - x)
        return torch.where(x > 0, p * x.square(), below) + self.slope * x

    if TYPE_CHECKING:
        __call__ = forward


def activation_of(name: Activation) -> Callable[[Tensor], Tensor]:
    """Return an activation by its name; one that learns is a module of its own.

    >>> activation_of("relu_squared")(torch.tensor([-1.0, 3.0]))
    tensor([0., 9.])
    """
    return XIELU() if name == "xielu" else ACTIVATIONS[name]


@contract(embed_dim=">= 1", hidden_dim=">= 1", dropout_p=">= 0 and < 1")
class FeedForward(nn.Module):
    """Two projections with an activation between them, at every position (Vaswani et al., 2017).

    Without a gate, down(activation(up(x))). With one, down(activation(gate(x)) * up(x)): "silu"
    makes it SwiGLU, "gelu" GEGLU, "relu" ReGLU (Shazeer, 2020). A gated layer has three matrices
    where the other has two; two thirds of its hidden_dim make them equally large.

    Args:
        embed_dim: width e of input and output.
        hidden_dim: width between the projections.
        activation: "relu", "relu_squared", "gelu", "gelu_tanh" (the approximation in GPT-2),
            "gelu_quick", "silu", "sigmoid", or "xielu", which learns.
        gated: multiply by a second projection.
        bias: give the projections biases.
        dropout_p: dropout before the last projection.

    >>> feed_forward = FeedForward(embed_dim=3, hidden_dim=8, activation="silu", gated=True)
    >>> feed_forward(torch.ones(1, 2, 3)).shape
    torch.Size([1, 2, 3])
    """

    def __init__(
        self,
        embed_dim: int,
        hidden_dim: int,
        *,
        activation: Activation = "gelu",
        gated: bool = False,
        bias: bool = True,
        dropout_p: float = 0.0,
    ) -> None:
        super().__init__()
        self.embed_dim = embed_dim
        self.activation, self.activate = activation, activation_of(activation)
        self.gate_proj = (
            nn.Linear(embed_dim, hidden_dim, bias) if gated else None
        )
        self.up_proj = nn.Linear(embed_dim, hidden_dim, bias)
        self.down_proj = nn.Linear(hidden_dim, embed_dim, bias)
        self.dropout = nn.Dropout(dropout_p)

    @contract(matching="up_proj.weight", x="... embed_dim")
    def forward(self, x: Tensor) -> Tensor:
        """Compute (..., e) from (..., e), in the dtype of x."""
        if self.gate_proj is None:
            hidden = self.activate(self.up_proj(x))
        else:
            hidden = self.multiplied(self.gate_proj(x), self.up_proj(x))
        output: Tensor = self.down_proj(self.dropout(hidden))
        return output

    def multiplied(self, gate: Tensor, up: Tensor) -> Tensor:
        """Multiply what two projections give, the first of them activated.

        Without gradients the product is written over its first factor: for a long prompt, fetching
        memory for one array more takes time.
        """
        gate = self.activate(gate)
        return gate * up if torch.is_grad_enabled() else gate.mul_(up)

    if TYPE_CHECKING:
        __call__ = forward
