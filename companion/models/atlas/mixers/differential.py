"""Differential attention as a layer: two softmaxes, the second taken away from the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from companion.contracts import contract
from companion.differential import differential_attention, differential_factor, headwise_norm
from companion.models.atlas.kept import Kept
from companion.models.atlas.rotation import RotarySpec


@contract(
    num_heads=">= 2 and even", num_kv_heads=">= 2 and even", head_dim=">= 1",
    initial=">= 0 and <= 1", norm_eps="> 0",
)  # fmt: skip
@dataclass(frozen=True)
class DifferentialSpec:
    """Differential attention with grouped queries (Ye et al., 2024).

    Attributes:
        num_heads: query heads h; the first half belongs to the first softmax.
        num_kv_heads: key heads g, halved likewise; half as many value heads are twice as wide.
        head_dim: width d of a query and a key.
        initial: what the factor of the second softmax begins with, `initial_factor`.
        rotary: positions; None means none.
        norm_eps: what the norm of a head adds to its mean square.
        bias: whether the projections have biases.

    >>> [part.numbers for part in DifferentialSpec(4, 2, 8, initial=0.2).keeps()]
    [32]
    """

    num_heads: int
    num_kv_heads: int
    head_dim: int
    initial: float
    rotary: RotarySpec | None = None
    norm_eps: float = 1e-5
    bias: bool = False

    def keeps(self) -> tuple[Kept, ...]:
        """Return keys and values; the next token blends the values, twice as wide, twice."""
        numbers = 2 * self.num_kv_heads * self.head_dim
        return (Kept("keys and values", numbers, read=6 * self.num_heads * self.head_dim),)


class HalvedKeys(NamedTuple):
    """What a layer keeps of the tokens so far.

    Attributes:
        key: (b, g, k, d) keys, rotated.
        value: (b, g / 2, k, 2 d) values.
    """

    key: Tensor
    value: Tensor


class Differential(nn.Module):
    """Attend twice, and blend values by the difference.

    Args:
        embed_dim: width e of input and output.
        spec: heads, positions and the rest.

    >>> layer = Differential(7, DifferentialSpec(4, 2, 3, initial=0.2))
    >>> output, state = layer(torch.ones(1, 11, 7))
    >>> output.shape, state.value.shape
    (torch.Size([1, 11, 7]), torch.Size([1, 1, 11, 6]))
    """

    def __init__(self, embed_dim: int, spec: DifferentialSpec) -> None:
        super().__init__()
        self.spec = spec
        queries, keys = spec.num_heads * spec.head_dim, spec.num_kv_heads * spec.head_dim
        self.query_proj = nn.Linear(embed_dim, queries, spec.bias)
        self.key_proj = nn.Linear(embed_dim, keys, spec.bias)
        self.value_proj = nn.Linear(embed_dim, keys, spec.bias)
        self.output_proj = nn.Linear(queries, embed_dim, spec.bias)
        self.factor_query, self.factor_key, self.other_query, self.other_key = (
            nn.Parameter(0.1 * torch.randn(spec.head_dim)) for _ in range(4)
        )

    def forward(self, x: Tensor, state: HalvedKeys | None = None) -> tuple[Tensor, HalvedKeys]:
        """Let every token gather from those before it.

        Args:
            x: (b, n, e) tokens.
            state: what was kept of the tokens before; None means that the text begins here.

        Returns:
            (b, n, e), and the keys and values that were attended to.
        """
        start = 0 if state is None else state.key.shape[-2]
        query, key = self._heads(self.query_proj(x), start), self._heads(self.key_proj(x), start)
        value = torch.cat(self._cut(self.value_proj(x)).chunk(2, 1), -1)
        if state is not None:
            key, value = torch.cat((state.key, key), -2), torch.cat((state.value, value), -2)
        factor = differential_factor(
            self.factor_query, self.factor_key, self.other_query, self.other_key, self.spec.initial
        )
        (first, other), (key_first, key_other) = query.chunk(2, 1), key.chunk(2, 1)
        gathered = differential_attention(
            first, key_first, other, key_other, value, factor, is_causal=True, enable_gqa=True,
            offset=start,
        )  # fmt: skip
        gathered = headwise_norm(gathered, self.spec.initial, eps=self.spec.norm_eps)
        return self.output_proj(gathered.transpose(1, 2).flatten(-2)), HalvedKeys(key, value)

    def _heads(self, projected: Tensor, start: int) -> Tensor:
        """Cut queries or keys into heads (b, h, n, d), and rotate them."""
        heads = self._cut(projected)
        if self.spec.rotary is None:
            return heads
        positions = torch.arange(start, start + heads.shape[-2], device=heads.device)
        return self.spec.rotary.turn(heads, positions)

    def _cut(self, projected: Tensor) -> Tensor:
        """Cut (b, n, h * d) into heads, (b, h, n, d)."""
        return torch.unflatten(projected, -1, (-1, self.spec.head_dim)).transpose(1, 2)

    if TYPE_CHECKING:
        __call__ = forward
