"""Differential attention: what half of the heads find is taken away from what the others find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from companion.contracts import contract
from companion.models.atlas.mixers.softmax import Attention, AttentionSpec, KeyValues
from companion.models.atlas.norms import Norm, NormSpec


@contract(first_factor="> 0 and < 1")
@dataclass(frozen=True)
class DifferentialSpec(AttentionSpec):
    """Attention whose heads are pairs, one subtracted from the other (Ye et al., 2024).

    Both heads of a pair blend the same values, which are twice as wide: those of key head i and of
    key head i + g / 2, joined.

    Attributes:
        first_factor: what the second head is multiplied by where the learned part is 0.
        norm: of the difference, before it is multiplied by 1 - first_factor.
    """

    first_factor: float = 0.8
    norm: NormSpec = NormSpec(gain="none")  # noqa: RUF009 -- it is frozen

    def __post_init__(self) -> None:
        """Refuse heads that cannot be paired."""
        super().__post_init__()
        if self.num_kv_heads % 2:
            raise ValueError(f"num_kv_heads: got {self.num_kv_heads}, wanted an even number")


class DifferentialAttention(Attention):
    """(softmax(Q1 K1^T) - factor softmax(Q2 K2^T)) V, normalised, for every pair of heads.

    The factor is exp(q1 . k1) - exp(q2 . k2) + first_factor, of four learned vectors.

    Args:
        embed_dim: width e of input and output.
        spec: heads, positions, windows and the rest.
        shares: keys and values come from another layer.
    """

    spec: DifferentialSpec

    def __init__(self, embed_dim: int, spec: DifferentialSpec, *, shares: bool = False) -> None:
        super().__init__(embed_dim, spec, shares=shares)
        vectors = {name: 0.1 * torch.randn(spec.head_dim) for name in ("q1", "k1", "q2", "k2")}
        self.factors = nn.ParameterDict(vectors)
        self.norm = Norm(2 * spec.width_of_value, spec.norm)

    def attend(self, query: Tensor, memory: KeyValues, positions: Tensor) -> Tensor:
        """Gather values (b, h / 2, n, 2 v) for queries (b, h, n, d)."""
        wide = torch.cat([half.repeat(1, 2, 1, 1) for half in memory.value.chunk(2, 1)], -1)
        found = super().attend(query, memory._replace(value=wide), positions)
        kept, removed = found.chunk(2, 1)
        return self.norm(kept - self._factor() * removed) * (1 - self.spec.first_factor)

    def _factor(self) -> Tensor:
        """Return what the second head of a pair is multiplied by."""
        q1, k1, q2, k2 = (self.factors[name] for name in ("q1", "k1", "q2", "k2"))
        factor: Tensor = (q1 @ k1).exp() - (q2 @ k2).exp() + self.spec.first_factor
        return factor

    if TYPE_CHECKING:
        __call__ = Attention.forward
