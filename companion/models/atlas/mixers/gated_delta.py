"""Gated DeltaNet: a state of fixed size that forgets, and overwrites what its keys have held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.contracts import contract
from companion.gates import l2_normalize, softplus_decay
from companion.heads import repeat_kv
from companion.models.atlas.kept import Kept
from companion.models.atlas.mixers.recurrent import (
    RecurrentMixer,
    attend,
    gated,
    in_heads,
    initial_bias,
    initial_rate,
    join_heads,
    kept_of_state,
)
from companion.models.atlas.norms import Norm, NormSpec

GATES: dict[str, Callable[[Tensor], Tensor]] = {
    "silu": F.silu,
    "sigmoid": torch.sigmoid,
}
"""What makes an output gate of its projection, by name."""


@contract(
    num_key_heads=">= 1", num_value_heads=">= 1", key_dim=">= 1", value_dim=">= 1",
    conv_width=">= 1", max_beta="> 0 and <= 2", norm_eps="> 0",
)  # fmt: skip
@dataclass(frozen=True)
class GatedDeltaSpec:
    """Shape of a layer of Gated DeltaNet (Yang et al., 2025).

    Attributes:
        num_key_heads: heads of queries and of keys, a divisor of num_value_heads.
        num_value_heads: heads `h` of values, each with a state of its own; h / num_key_heads
            consecutive ones share queries and keys.
        key_dim: width `d` of a query and of a key head.
        value_dim: width `v` of a value head.
        conv_width: tokens `w` that the short convolution blends.
        max_beta: the largest share that a step writes; 2 lets the state turn values around
            (Grazzi et al., 2025), as OLMo Hybrid does.
        gate: "silu" or "sigmoid", what makes the output gate of its projection.
        norm_eps: what the norm of a head adds to its mean square.

    >>> GatedDeltaSpec(num_key_heads=2, num_value_heads=4, key_dim=3, value_dim=5).channels
    32
    """

    num_key_heads: int
    num_value_heads: int
    key_dim: int
    value_dim: int
    conv_width: int = 4
    max_beta: float = 1.0
    gate: Literal["silu", "sigmoid"] = "silu"
    norm_eps: float = 1e-6

    def __post_init__(self) -> None:
        """Refuse heads that cannot be shared evenly."""
        if self.num_value_heads % self.num_key_heads:
            raise ValueError(
                f"num_key_heads: got {self.num_key_heads}, wanted a divisor of "
                f"num_value_heads, {self.num_value_heads}"
            )

    @property
    def channels(self) -> int:
        """Channels of the convolution: all queries, keys and values."""
        keys = self.num_key_heads * self.key_dim
        return 2 * keys + self.num_value_heads * self.value_dim

    def keeps(self) -> tuple[Kept, ...]:
        """Return the state (h, d, v), in float32, and the latest inputs of the convolution."""
        state = self.num_value_heads * self.key_dim * self.value_dim
        return kept_of_state(state, self.channels, self.conv_width, reads=6)


@contract(embed_dim=">= 1")
class GatedDelta(RecurrentMixer):
    """Forget a part of the state, correct what it holds under the key, read (Yang et al., 2025).

        S_t = alpha_t S_(t-1) + beta_t key_t^T (value_t - key_t alpha_t S_(t-1))
        output_t = query_t S_t

    Queries, keys and values pass through a short convolution and a SiLU, queries and keys then get
    length 1. The decay alpha and the share beta come from the token itself, and so does the gate of
    the output, which follows a norm of every head.

    Args:
        embed_dim: width e of a token.
        spec: heads, widths and the rest.

    >>> spec = GatedDeltaSpec(num_key_heads=2, num_value_heads=4, key_dim=3, value_dim=5)
    >>> layer = GatedDelta(7, spec)
    >>> output, state = layer(torch.ones(1, 11, 7))
    >>> output.shape, state.memory.shape
    (torch.Size([1, 11, 7]), torch.Size([1, 4, 3, 5]))
    """

    def __init__(self, embed_dim: int, spec: GatedDeltaSpec) -> None:
        heads = spec.num_value_heads
        values = spec.num_value_heads * spec.value_dim
        super().__init__(embed_dim, spec.channels, spec.conv_width, values)
        self.spec = spec
        self.decay_proj = nn.Linear(embed_dim, heads, bias=False)
        self.decay_rate = initial_rate(heads)
        self.decay_bias = initial_bias(heads)
        self.beta_proj = nn.Linear(embed_dim, heads, bias=False)
        self.gate_proj = nn.Linear(embed_dim, values, bias=False)
        self.norm = Norm(spec.value_dim, NormSpec(spec.norm_eps))

    def mix(
        self, x: Tensor, blended: Tensor, memory: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Forget, correct, read, and multiply by the gate."""
        query, key, value = self._heads(blended)
        query = l2_normalize(query) * self.spec.key_dim**-0.5
        key, step = l2_normalize(key), self.decay_proj(x)
        decay = softplus_decay(step, self.decay_rate, self.decay_bias)
        beta = self.spec.max_beta * torch.sigmoid(self.beta_proj(x))

        output, memory = attend(
            query, key, value, decay=decay.mT, beta=beta.mT, state=memory
        )

        gate = in_heads(self.gate_proj(x), self.spec.value_dim)
        gate = GATES[self.spec.gate](gate)
        return join_heads(gated(output, self.norm, gate)), memory

    def _heads(self, qkv: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Cut channels into the heads of queries, keys and values, all of them (b, h, n, ...)."""
        spec = self.spec
        keys = spec.num_key_heads * spec.key_dim
        values = spec.num_value_heads * spec.value_dim
        query, key, value = torch.split(qkv, [keys, keys, values], dim=-1)
        value = in_heads(value, spec.value_dim)
        query, key = (in_heads(part, spec.key_dim) for part in (query, key))
        return repeat_kv(query, value), repeat_kv(key, value), value
