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
    """Hyper-connections (Zhu et al., 2025).

    Attributes:
        count: number N of streams, which begin as copies of the embedding.
        magnitude: largest gate on what a part adds to a stream.
        gate_eps: number that is added to the gates of what is read.
        gate_eps_on_given: add it to the gates of what a part adds, too (Hunyuan 4).
        mixing: steps by which Sinkhorn's iteration brings the matrix that mixes the streams near
            sums of 1 in rows and columns (DeepSeek-V4); 0 leaves the streams as they are.
        norm_eps: number that is added to the mean square of all streams of a token.

    >>> StreamsSpec(count=4).magnitude
    2.0
    """

    count: int
    magnitude: float = 2.0
    gate_eps: float = 1e-6
    gate_eps_on_given: bool = False
    mixing: int = 0
    norm_eps: float = 1e-6


class Streams(nn.Module):
    """Gates of the streams, from all streams of a token together.

        read = sum_i (sigmoid(a_i) + eps) stream_i
        stream_i' = sum_j mix_ji stream_j + magnitude * sigmoid(b_i) part(read)

    The mixing matrix is the identity, or a softmax that Sinkhorn's iteration has balanced.

    Args:
        embed_dim: width e of a stream.
        spec: how many streams, and how large their gates are.
        reads_only: there are no gates b, since nothing is added: the end of a model.

    >>> streams = Streams(3, StreamsSpec(count=2))
    >>> read, gates, _ = streams(torch.ones(1, 5, 2, 3))
    >>> read.shape, gates.shape
    (torch.Size([1, 5, 3]), torch.Size([1, 5, 2]))
    """

    def __init__(
        self, embed_dim: int, spec: StreamsSpec, *, reads_only: bool = False
    ) -> None:
        super().__init__()
        self.spec, n = spec, spec.count
        widths = [n, n, n * n] if spec.mixing else [n, n]
        self.widths = [n] if reads_only else widths
        self.proj = nn.Linear(n * embed_dim, sum(self.widths), bias=False)
        self.base = nn.Parameter(torch.zeros(sum(self.widths)))
        self.scale = nn.Parameter(torch.ones(len(self.widths)))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return what a part reads of streams (b, n, N, e), gates of what it gives, what stays."""
        flat, eps = x.flatten(-2), self.spec.gate_eps
        square = flat.square().mean(-1, keepdim=True)
        inverse = torch.rsqrt(square + self.spec.norm_eps)
        parts = zip(
            torch.split(self.proj(flat) * inverse, self.widths, -1), self.scale,
            torch.split(self.base, self.widths), strict=True,
        )  # fmt: skip
        logits = [part * scale + base for part, scale, base in parts]
        before = torch.sigmoid(logits[0]) + eps
        given = logits[min(1, len(logits) - 1)]
        after = self.spec.magnitude * torch.sigmoid(given)
        after = after + eps if self.spec.gate_eps_on_given else after
        stays = x if len(logits) < 3 else self._mixed(x, logits[2])
        return (before[..., None] * x).sum(-2), after, stays

    def _mixed(self, x: Tensor, logits: Tensor) -> Tensor:
        """Mix streams by a matrix whose rows and columns sum to 1, nearly."""
        eps, count = self.spec.gate_eps, self.spec.count
        mix = torch.unflatten(logits, -1, (count, count)).softmax(-1) + eps
        mix = mix / (mix.sum(-2, keepdim=True) + eps)
        for _ in range(self.spec.mixing - 1):
            mix = mix / (mix.sum(-1, keepdim=True) + eps)
            mix = mix / (mix.sum(-2, keepdim=True) + eps)
        return (mix[..., None] * x[..., :, None, :]).sum(-3)

    if TYPE_CHECKING:
        __call__ = forward
