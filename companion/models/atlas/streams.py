"""Several residual streams instead of one: each part reads a blend, and adds to all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from companion.contracts import contract


@contract(count=">= 1", magnitude="> 0", gate_eps=">= 0", norm_eps="> 0")
@dataclass(frozen=True)
class StreamsSpec:
    """Hyper-connections (Zhu et al., 2025) that leave the streams themselves unmixed (Hunyuan 4).

    Attributes:
        count: number N of streams, which begin as copies of the embedding.
        magnitude: largest gate on what a part adds to a stream.
        gate_eps: number that is added to every gate.
        norm_eps: number that is added to the mean square of all streams of a token.

    >>> StreamsSpec(count=4).magnitude
    2.0
    """

    count: int
    magnitude: float = 2.0
    gate_eps: float = 1e-6
    norm_eps: float = 1e-6


class Streams(nn.Module):
    """Gates of the streams, from all streams of a token together.

        read = sum_i (sigmoid(a_i) + eps) stream_i
        stream_i' = stream_i + (magnitude * sigmoid(b_i) + eps) part(read)

    Args:
        embed_dim: width e of a stream.
        spec: how many streams, and how large their gates are.
        reads_only: there are no gates b, since nothing is added: the end of a model.

    >>> streams = Streams(3, StreamsSpec(count=2))
    >>> read, gates = streams(torch.ones(1, 5, 2, 3))
    >>> read.shape, gates.shape
    (torch.Size([1, 5, 3]), torch.Size([1, 5, 2]))
    """

    def __init__(self, embed_dim: int, spec: StreamsSpec, *, reads_only: bool = False) -> None:
        super().__init__()
        self.spec, kinds = spec, 1 if reads_only else 2
        self.proj = nn.Linear(spec.count * embed_dim, kinds * spec.count, bias=False)
        self.base = nn.Parameter(torch.zeros(kinds * spec.count))
        self.scale = nn.Parameter(torch.ones(kinds))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return what a part reads of streams (b, n, N, e), and the gates of what it gives."""
        flat = x.flatten(-2)
        inverse = torch.rsqrt(flat.square().mean(-1, keepdim=True) + self.spec.norm_eps)
        logits = torch.unflatten(self.proj(flat) * inverse, -1, (-1, self.spec.count))
        base = torch.unflatten(self.base, 0, (-1, self.spec.count))
        gates = torch.sigmoid(logits * self.scale[:, None] + base)
        before = gates[..., 0, :] + self.spec.gate_eps
        after = self.spec.magnitude * gates[..., -1, :] + self.spec.gate_eps
        return (before[..., None] * x).sum(-2), after

    if TYPE_CHECKING:
        __call__ = forward
