"""Mamba-2: a state of fixed size that forgets as the token says, and adds what it brings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.contracts import contract
from companion.heads import repeat_kv
from companion.models.atlas.kept import Kept
from companion.models.atlas.mixers.recurrent import (
    RecurrentMixer,
    attend,
    in_heads,
    initial_bias,
    initial_rate,
    join_heads,
    kept_of_state,
)
from companion.models.atlas.norms import Norm, NormSpec


@contract(
    num_heads=">= 1", head_dim=">= 1", num_groups=">= 1", state_dim=">= 1", conv_width=">= 1",
    least_step=">= 0", norm_eps="> 0",
)  # fmt: skip
@dataclass(frozen=True)
class Mamba2Spec:
    """Shape of a layer of Mamba-2 (Dao and Gu, 2024).

    In the words of attention, its B is the key, its C the query and its x the value.

    Attributes:
        num_heads: heads `h` of values, each with a state of its own.
        head_dim: width `v` of a value.
        num_groups: heads of queries and of keys, a divisor of h; h / num_groups consecutive heads
            share them.
        state_dim: width `d` of a query and a key.
        conv_width: tokens `w` that the short convolution blends.
        conv_bias: give the convolution a bias.
        bias: give both projections biases.
        least_step: no step is shorter; Nemotron-H and Zamba 2 have such a bound.
        norm: "after_gate", "before_gate" or "none". A norm takes each group's heads together.
        norm_eps: what the norm adds to the mean square.

    >>> Mamba2Spec(num_heads=4, head_dim=5, num_groups=2, state_dim=3).channels
    32
    """

    num_heads: int
    head_dim: int
    num_groups: int
    state_dim: int
    conv_width: int = 4
    conv_bias: bool = True
    bias: bool = False
    least_step: float = 0.0
    norm: Literal["after_gate", "before_gate", "none"] = "after_gate"
    norm_eps: float = 1e-6

    def __post_init__(self) -> None:
        """Refuse groups that cannot be shared out evenly."""
        if self.num_heads % self.num_groups:
            raise ValueError(
                f"num_groups: got {self.num_groups}, wanted a divisor of num_heads, "
                f"{self.num_heads}"
            )

    @property
    def inner_dim(self) -> int:
        """Width of all values together."""
        return self.num_heads * self.head_dim

    @property
    def channels(self) -> int:
        """Channels of the convolution: all values, keys and queries."""
        return self.inner_dim + 2 * self.num_groups * self.state_dim

    def keeps(self) -> tuple[Kept, ...]:
        """Return the state (h, d, v), in float32, and the latest inputs of the convolution."""
        state = self.inner_dim * self.state_dim
        return kept_of_state(state, self.channels, self.conv_width, reads=4)


@contract(embed_dim=">= 1")
class Mamba2(RecurrentMixer):
    """Forget as far as the step says, add by the same step, read (Dao and Gu, 2024).

        S_t = exp(-rate step_t) S_(t-1) + (step_t key_t)^T value_t
        output_t = query_t S_t + skip * value_t

    Values, keys and queries pass through a short convolution and a SiLU; nothing is scaled. A long
    step means a new beginning, a short one leaves the token out.

    Args:
        embed_dim: width e of a token.
        spec: heads, widths and the rest.

    >>> layer = Mamba2(7, Mamba2Spec(num_heads=4, head_dim=5, num_groups=2, state_dim=3))
    >>> output, state = layer(torch.ones(1, 11, 7))
    >>> output.shape, state.memory.shape
    (torch.Size([1, 11, 7]), torch.Size([1, 4, 3, 5]))
    """

    def __init__(self, embed_dim: int, spec: Mamba2Spec) -> None:
        super().__init__(
            embed_dim, spec.channels, spec.conv_width, spec.inner_dim, bias=spec.bias,
            conv_bias=spec.conv_bias,
        )  # fmt: skip
        self.spec = spec
        self.gate_proj = nn.Linear(embed_dim, spec.inner_dim, spec.bias)
        self.step_proj = nn.Linear(embed_dim, spec.num_heads, spec.bias)
        self.step_bias = initial_bias(spec.num_heads)
        self.decay_rate = initial_rate(spec.num_heads)
        self.skip = nn.Parameter(torch.ones(spec.num_heads))
        self.norm = None if spec.norm == "none" else _GroupNorm(spec)

    def mix(
        self, x: Tensor, blended: Tensor, memory: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Forget, add, read, add what the token says itself, and multiply by the gate."""
        value, key, query = self._heads(blended)
        step = self._steps(x)
        decay = torch.exp(-torch.exp(self.decay_rate.to(step))[:, None] * step)

        key = step[..., None] * key
        output, memory = attend(query, key, value, decay=decay, state=memory)

        output = join_heads(output + self.skip[:, None, None] * value)
        output = self._gated(output, F.silu(self.gate_proj(x)))
        return output.to(x.dtype), memory

    def _heads(self, mixed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Cut channels into the heads of values, keys and queries, all of them (b, h, n, ...)."""
        spec = self.spec
        shared = spec.num_groups * spec.state_dim
        widths = [spec.inner_dim, shared, shared]
        value, key, query = torch.split(mixed, widths, dim=-1)
        value = in_heads(value, spec.head_dim)
        key, query = (in_heads(part, spec.state_dim) for part in (key, query))
        return value, repeat_kv(key, value), repeat_kv(query, value)

    def _steps(self, x: Tensor) -> Tensor:
        """Return how long the step of every head is, (b, h, n), in at least float32."""
        raw = self.step_proj(x)
        wide = torch.promote_types(raw.dtype, torch.float32)
        raw = raw.to(wide) + self.step_bias
        return F.softplus(raw).clamp(min=self.spec.least_step).mT

    def _gated(self, output: Tensor, gate: Tensor) -> Tensor:
        """Multiply by the gate, before or after the norm if there is one."""
        if self.norm is None:
            return output * gate
        if self.spec.norm == "after_gate":
            return self.norm(output * gate)
        return self.norm(output) * gate


class _GroupNorm(nn.Module):
    """A norm of each group's heads together, with a gain for every feature."""

    def __init__(self, spec: Mamba2Spec) -> None:
        super().__init__()
        self.groups = spec.num_groups
        self.weight = nn.Parameter(torch.ones(spec.inner_dim))
        width = spec.inner_dim // spec.num_groups
        self.norm = Norm(width, NormSpec(spec.norm_eps, gain="none"))

    def forward(self, x: Tensor) -> Tensor:
        groups = torch.unflatten(x, -1, (self.groups, -1))
        return self.norm(groups).flatten(-2) * self.weight

    if TYPE_CHECKING:
        __call__ = forward
