"""What a layer reads of each token besides the residual stream: a vector for this layer alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from companion.contracts import contract
from companion.layers.feed_forward import ACTIVATIONS, Activation
from companion.models.atlas.norms import Norm, NormSpec


@contract(dim=">= 1")
@dataclass(frozen=True)
class TokenInputSpec:
    """A vector of each token for one layer (Gemma 3n and 4 call it a per-layer embedding).

    Attributes:
        dim: width p of the vector.
        activation: of the gate that multiplies it.
        norm: of the projected embedding, and of what is added to the residual stream.

    >>> TokenInputSpec(dim=8).activation
    'gelu_tanh'
    """

    dim: int
    activation: Activation = "gelu_tanh"
    norm: NormSpec = field(default_factory=NormSpec)


class TokenInputs(nn.Module):
    """(sqrt(p) * table[token] + norm(W embedding / sqrt(e))) / sqrt(2), for every layer.

    Args:
        vocab_size: number of ids.
        embed_dim: width e of the embedding.
        layers: number of layers.
        spec: width p of a vector, and the norm.
    """

    def __init__(
        self,
        vocab_size: int,
        embed_dim: int,
        layers: int,
        spec: TokenInputSpec,
    ) -> None:
        super().__init__()
        self.dim = spec.dim
        self.table = nn.Embedding(vocab_size, layers * spec.dim)
        self.proj = nn.Linear(embed_dim, layers * spec.dim, bias=False)
        self.norm = Norm(spec.dim, spec.norm)

    def forward(self, tokens: Tensor, embedded: Tensor) -> Tensor:
        """Return (layers, b, n, p) for tokens (b, n) that are embedded as (b, n, e)."""
        own = self.table(tokens) * self.dim**0.5
        projected = self.proj(embedded) * embedded.shape[-1] ** -0.5
        shape = (-1, self.dim)
        cut = [torch.unflatten(x, -1, shape) for x in (own, projected)]
        both: Tensor = (cut[0] + self.norm(cut[1])) * 2**-0.5
        return both.movedim(-2, 0)

    if TYPE_CHECKING:
        __call__ = forward


class TokenInput(nn.Module):
    """x + norm(W (activation(V x) * own)), where own is the token's vector for this layer.

    Args:
        embed_dim: width e of the residual stream.
        spec: width of the vector, the activation and the norm.
    """

    def __init__(self, embed_dim: int, spec: TokenInputSpec) -> None:
        super().__init__()
        self.activate = ACTIVATIONS[spec.activation]
        self.gate = nn.Linear(embed_dim, spec.dim, bias=False)
        self.proj = nn.Linear(spec.dim, embed_dim, bias=False)
        self.norm = Norm(embed_dim, spec.norm)

    def forward(self, x: Tensor, own: Tensor) -> Tensor:
        """Add to x (b, n, e) what own (b, n, p) says."""
        return x + self.norm(self.proj(self.activate(self.gate(x)) * own))

    if TYPE_CHECKING:
        __call__ = forward
