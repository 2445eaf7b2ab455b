"""What a layer computes at every position by itself: as most models have it, or bounded."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from companion.contracts import contract
from companion.layers import FeedForward
from companion.layers.feed_forward import Activation


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


class BoundedFeedForward(FeedForward):
    """down(activation(gate(x)) * (up(x) + 1)), both projections bounded, as gpt-oss has it.

    Args:
        embed_dim: width e of input and output.
        spec: the rest; it has a gate.
    """

    def __init__(self, embed_dim: int, spec: FeedForwardSpec) -> None:
        super().__init__(
            embed_dim,
            spec.hidden_dim,
            activation=spec.activation,
            gated=True,
            bias=spec.bias,
        )
        self.spec = spec

    def multiplied(self, gate: Tensor, up: Tensor) -> Tensor:
        """Multiply what two projections give, the first of them activated."""
        gate, up = bounded(gate, up, self.spec.limit)
        return super().multiplied(gate, up + 1 if self.spec.shifted else up)


def feed_forward(embed_dim: int, spec: FeedForwardSpec) -> FeedForward:
    """Build the layer that a specification describes.

    >>> feed_forward(4, FeedForwardSpec(hidden_dim=8)).activation
    'silu'
    """
    if spec.gated and (spec.limit is not None or spec.shifted):
        return BoundedFeedForward(embed_dim, spec)
    return FeedForward(
        embed_dim,
        spec.hidden_dim,
        activation=spec.activation,
        gated=spec.gated,
        bias=spec.bias,
    )


def bounded(
    gate: Tensor, up: Tensor, limit: float | None
) -> tuple[Tensor, Tensor]:
    """Bound the gate from above, and what it multiplies from both sides.

    >>> import torch
    >>> bounded(torch.tensor([-9.0, 9.0]), torch.tensor([-9.0, 9.0]), 7.0)
    (tensor([-9.,  7.]), tensor([-7.,  7.]))
    """
    if limit is None:
        return (gate, up)
    return (gate.clamp(max=limit), up.clamp(-limit, limit))
