"""Differential attention: what half of the heads find is taken away from what the others find."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from companion.contracts import contract
from companion.differential import (
    differential_attention,
    differential_factor,
    headwise_norm,
)
from companion.models.atlas.kept import Kept
from companion.models.atlas.mixers.softmax import (
    Attention,
    AttentionSpec,
    KeyValues,
)


@contract(first_factor="> 0 and < 1", eps="> 0")
@dataclass(frozen=True)
class DifferentialSpec(AttentionSpec):
    """Attention whose heads are pairs, one subtracted from the other (Ye et al., 2024).

    Both heads of a pair blend the same values, which are twice as wide: those of key head i and of
    key head i + g / 2, joined.

    Attributes:
        first_factor: what the second head is multiplied by where the learned part is 0.
        eps: number that is added to the mean square when the difference is normalised.
    """

    first_factor: float = 0.8
    eps: float = 1e-5

    def __post_init__(self) -> None:
        """Refuse heads that cannot be paired, and scores that no definition has."""
        super().__post_init__()
        if self.num_kv_heads % 2:
            raise ValueError(
                f"num_kv_heads: got {self.num_kv_heads}, wanted an even number"
            )
        if self.sinks or self.softcap is not None:
            raise ValueError(
                "sinks, softcap: got one with differential attention, wanted neither"
            )

    def keeps(self) -> tuple[Kept, ...]:
        """Return the keys and values, which both heads of a pair read."""
        (kept,) = super().keeps()
        entry = self.head_dim + 2 * self.width_of_value
        return (replace(kept, read=2 * self.num_heads * entry),)


class DifferentialAttention(Attention):
    """(softmax(Q1 K1^T) - factor softmax(Q2 K2^T)) V, normalised, for every pair of heads.

    The factor is exp(q1 . k1) - exp(q2 . k2) + first_factor, of four learned vectors.

    Args:
        embed_dim: width e of input and output.
        spec: heads, positions, windows and the rest.
        shares: keys and values come from another layer.
    """

    spec: DifferentialSpec

    def __init__(
        self, embed_dim: int, spec: DifferentialSpec, *, shares: bool = False
    ) -> None:
        super().__init__(embed_dim, spec, shares=shares)
        names, d = ("q1", "k1", "q2", "k2"), spec.head_dim
        vectors = {name: 0.1 * torch.randn(d) for name in names}
        self.factors = nn.ParameterDict(vectors)

    def attend(
        self,
        query: Tensor,
        memory: KeyValues,
        positions: Tensor,
        mask: Tensor | None,
    ) -> Tensor:
        """Gather values (b, h / 2, n, 2 v) for queries (b, h, n, d)."""
        (q1, q2), (k1, k2) = query.chunk(2, 1), memory.key.chunk(2, 1)
        vectors, first = self.factors, self.spec.first_factor
        factor = differential_factor(
            vectors["q1"], vectors["k1"], vectors["q2"], vectors["k2"], first
        )
        value = torch.cat(memory.value.chunk(2, 1), -1)
        found = differential_attention(
            q1, k1, q2, k2, value, factor, mask, is_causal=True,
            offset=int(positions[0]) - memory.start, scale=self.spec.scale, enable_gqa=True,
        )  # fmt: skip
        return headwise_norm(found, first, eps=self.spec.eps)

    if TYPE_CHECKING:
        __call__ = Attention.forward
