"""Kimi Delta Attention: the gated delta rule with a decay of its own for every channel of a key."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from companion.contracts import contract
from companion.gates import l2_normalize, sigmoid_decay, softplus_decay
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


@contract(
    num_heads=">= 1", head_dim=">= 1", conv_width=">= 1", decay_rank=">= 1", gate_rank=">= 1",
    decay_floor="< 0", norm_eps="> 0",
)  # fmt: skip
@dataclass(frozen=True)
class KimiDeltaSpec:
    """Shape of a layer of Kimi Delta Attention (Kimi Team, 2025).

    Attributes:
        num_heads: heads `h` of queries, keys and values.
        head_dim: width `d` of each of them.
        conv_width: tokens `w` that the short convolution blends.
        decay_rank: width between the two matrices that give the decay; None means one matrix.
        gate_rank: width between the two matrices that give the output gate; None means one.
        decay_floor: logarithm of the smallest decay (`companion.gates.sigmoid_decay`); None means
            a decay without a floor (`companion.gates.softplus_decay`).
        norm_eps: what the norm of a head adds to its mean square.

    >>> KimiDeltaSpec(num_heads=2, head_dim=3).channels
    18
    """

    num_heads: int
    head_dim: int
    conv_width: int = 4
    decay_rank: int | None = None
    gate_rank: int | None = None
    decay_floor: float | None = None
    norm_eps: float = 1e-6

    @property
    def channels(self) -> int:
        """Channels of the convolution: all queries, keys and values."""
        return 3 * self.num_heads * self.head_dim

    def keeps(self) -> tuple[Kept, ...]:
        """Return the state (h, d, d), in float32, and the latest inputs of the convolution."""
        state = self.num_heads * self.head_dim**2
        return kept_of_state(state, self.channels, self.conv_width, reads=6)


@contract(embed_dim=">= 1")
class KimiDelta(RecurrentMixer):
    """Forget by channels, correct what the state holds under the key, read (Kimi Team, 2025).

        S_t = diag(alpha_t) S_(t-1) + beta_t key_t^T (value_t - key_t diag(alpha_t) S_(t-1))
        output_t = query_t S_t

    It is Gated DeltaNet with a vector alpha in place of a number, and a sigmoid in place of the
    SiLU of the output gate.

    Args:
        embed_dim: width e of a token.
        spec: heads, widths and the rest.

    >>> layer = KimiDelta(7, KimiDeltaSpec(num_heads=2, head_dim=3, decay_rank=3))
    >>> output, state = layer(torch.ones(1, 11, 7))
    >>> output.shape, state.memory.shape
    (torch.Size([1, 11, 7]), torch.Size([1, 2, 3, 3]))
    """

    def __init__(self, embed_dim: int, spec: KimiDeltaSpec) -> None:
        width = spec.num_heads * spec.head_dim
        super().__init__(embed_dim, spec.channels, spec.conv_width, width)
        self.spec = spec
        self.decay_proj = _projection(embed_dim, width, spec.decay_rank)
        self.decay_rate = initial_rate(spec.num_heads)
        self.decay_bias = initial_bias(spec.num_heads, spec.head_dim)
        self.beta_proj = nn.Linear(embed_dim, spec.num_heads, bias=False)
        self.gate_proj = _projection(embed_dim, width, spec.gate_rank)
        self.norm = Norm(spec.head_dim, NormSpec(spec.norm_eps))

    def mix(
        self, x: Tensor, blended: Tensor, memory: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Forget by channels, correct, read, and multiply by the gate."""
        parts, d = blended.chunk(3, -1), self.spec.head_dim
        query, key, value = (in_heads(part, d) for part in parts)
        query = l2_normalize(query) * d**-0.5
        key = l2_normalize(key)
        beta = torch.sigmoid(self.beta_proj(x))

        output, memory = attend(
            query, key, value, decay=self._decay(x), beta=beta.mT, state=memory
        )  # fmt: skip

        gate = torch.sigmoid(in_heads(self.gate_proj(x), d))
        return join_heads(gated(output, self.norm, gate)), memory

    def _decay(self, x: Tensor) -> Tensor:
        """Return what is left of every channel of the state, (b, h, n, d)."""
        shape = (-1, self.spec.head_dim)
        step = torch.unflatten(self.decay_proj(x), -1, shape)
        rate, bias = self.decay_rate[:, None], self.decay_bias
        floor = self.spec.decay_floor
        if floor is None:
            return softplus_decay(step, rate, bias).transpose(1, 2)
        return sigmoid_decay(step, rate, bias, floor=floor).transpose(1, 2)


def _projection(embed_dim: int, width: int, rank: int | None) -> nn.Module:
    """Return one matrix, or two with a narrow waist between them."""
    if rank is None:
        return nn.Linear(embed_dim, width, bias=False)
    narrow = nn.Linear(embed_dim, rank, bias=False)
    return nn.Sequential(narrow, nn.Linear(rank, width, bias=False))
