"""What a Transformer computes at every position by itself, between its attentions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal

import torch.nn.functional as F
from torch import Tensor, nn

from companion.contracts import contract

Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "silu": F.silu,
}
"""What an activation of each name computes."""


@contract(embed_dim=">= 1", hidden_dim=">= 1", dropout_p=">= 0 and < 1")
class FeedForward(nn.Module):
    """Two projections with an activation between them, at every position (Vaswani et al., 2017).

    Without a gate, down(activation(up(x))). With one, down(activation(gate(x)) * up(x)): "silu"
    makes it SwiGLU, "gelu" GEGLU, "relu" ReGLU (Shazeer, 2020). A gated layer has three matrices
    where the other has two; two thirds of its hidden_dim make them equally large.

    Args:
        embed_dim: width e of input and output.
        hidden_dim: width between the projections.
        activation: "relu", "gelu", "gelu_tanh" (the approximation in GPT-2) or "silu".
        gated: multiply by a second projection.
        bias: give the projections biases.
        dropout_p: dropout before the last projection.

    >>> import torch
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
        self.activation = activation
        self.gate_proj = nn.Linear(embed_dim, hidden_dim, bias) if gated else None
        self.up_proj = nn.Linear(embed_dim, hidden_dim, bias)
        self.down_proj = nn.Linear(hidden_dim, embed_dim, bias)
        self.dropout = nn.Dropout(dropout_p)

    @contract(matching="up_proj.weight", x="... embed_dim")
    def forward(self, x: Tensor) -> Tensor:
        """Compute (..., e) from (..., e), in the dtype of x."""
        activate = ACTIVATIONS[self.activation]
        if self.gate_proj is None:
            hidden = activate(self.up_proj(x))
        else:
            hidden = activate(self.gate_proj(x)) * self.up_proj(x)
        output: Tensor = self.down_proj(self.dropout(hidden))
        return output

    if TYPE_CHECKING:
        __call__ = forward
