"""What a Transformer computes at every position by itself, between its attentions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal, Self

import torch.nn.functional as F
from torch import Tensor, nn

from companion.contracts import contract
from companion.layers._joined import Joined

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
        self._joined = Joined()
        self.lay_out()
        self.register_load_state_dict_post_hook(_lay_out_loaded)  # type: ignore[no-untyped-call]

    @contract(matching="up_proj.weight", x="... embed_dim")
    def forward(self, x: Tensor) -> Tensor:
        """Compute (..., e) from (..., e), in the dtype of x."""
        activate = ACTIVATIONS[self.activation]
        if self.gate_proj is None:
            hidden = activate(self.up_proj(x))
        else:
            both = self._joined(x, self.gate_proj, self.up_proj)
            if both is None:
                gate, up = self.gate_proj(x), self.up_proj(x)
            else:
                gate, up = both.chunk(2, dim=-1)
            hidden = activate(gate) * up
        if self.dropout.training:
            hidden = self.dropout(hidden)
        output: Tensor = self.down_proj(hidden)
        return output

    if TYPE_CHECKING:
        __call__ = forward

    @property
    def fused_weight(self) -> Tensor | None:
        """Weights of gate and what it gates, (2 hidden_dim, e); None where they lie apart."""
        if self.gate_proj is None:
            return None
        return self._joined.weight_of(self.gate_proj, self.up_proj)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move the weights, as any module does, and lay them side by side where they now are."""
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.lay_out()
        return self

    def lay_out(self) -> None:
        """Lay the weights that read one input side by side, if they are not: one matmul then does.

        It happens by itself but where parameters were put in the place of others one by one.
        """
        if self.gate_proj is not None:
            self._joined.lay_out(self.gate_proj, self.up_proj)


def _lay_out_loaded(module: nn.Module, incompatible: object) -> None:
    """Join weights that were put in the place of others."""
    assert isinstance(module, FeedForward)
    module.lay_out()
