"""Attention with a softmax, in all the variants that today's models have of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.attention import scaled_dot_product_attention
from companion.contracts import contract
from companion.masks import document_mask, sliding_window_mask
from companion.models.atlas.kept import Kept
from companion.models.atlas.norms import (
    Norm,
    NormSpec,
    optional_linear,
    optional_norm,
    optional_zeros,
)
from companion.models.atlas.rotation import RotarySpec, positions_of


@contract(
    num_heads=">= 1", num_kv_heads=">= 1", head_dim=">= 1", value_dim=">= 1", window=">= 1",
    chunk=">= 1", softcap="> 0",
)  # fmt: skip
@dataclass(frozen=True)
class AttentionSpec:
    """Grouped-query attention, and what models of today have added to it.

    Attributes:
        num_heads: query heads h.
        num_kv_heads: key and value heads g, a divisor of h.
        head_dim: width d of a query and a key.
        value_dim: width v of a value; None means d.
        window: number of keys that a query may attend to, its own the last; None means all.
        chunk: a query may attend to the keys of its own stretch of so many tokens (Llama 4).
        rotary: positions; None means that the causal mask alone tells tokens apart (NoPE).
        qk_norm: norm of queries and keys; None means none.
        qk_norm_over: one "head" at a time, or "all" heads of a token as one vector (OLMo 2).
        qk_norm_after_rotary: rotate first (Llama 4), not last.
        value_norm: norm of values, a head at a time.
        key_is_value: values are the keys before their norm and rotation (Gemma 4).
        scale: factor on the scores; None means 1 / sqrt(d).
        value_scale: factor on the values.
        length_scale: (size, step): queries at position i are multiplied by
            1 + size * log(1 + floor((i + 1) / step)) (Llama 4), or floor(i / step) where
            `length_scale_from_zero`.
        length_scale_from_zero: count the first position as 0 there.
        length_power: (power, step): queries at position i are multiplied by
            (1 + (i + 1) / step) ^ power (Beam).
        softcap: bound on the scores.
        sinks: a learned logit a head that joins the denominator of the softmax.
        output_norm: norm of what a head gathers.
        gate: multiply what is gathered by the sigmoid of a projection of the input, one number for
            each feature ("feature") or each head ("head").
        gate_bias: add a learned number a head to the gate before that (Beam).
        gate_activation: what the projection passes through, "sigmoid" or "softplus" (Laguna).
        bias: whether the projections to queries, keys and values have biases.
        output_bias: whether the output projection has one.

    >>> (kept,) = AttentionSpec(num_heads=8, num_kv_heads=2, head_dim=16, window=5).keeps()
    >>> kept.what, kept.numbers, kept.limit
    ('keys and values', 64, 4)
    """

    num_heads: int
    num_kv_heads: int
    head_dim: int
    value_dim: int | None = None
    window: int | None = None
    chunk: int | None = None
    rotary: RotarySpec | None = None
    qk_norm: NormSpec | None = None
    qk_norm_over: Literal["head", "all"] = "head"
    qk_norm_after_rotary: bool = False
    value_norm: NormSpec | None = None
    key_is_value: bool = False
    scale: float | None = None
    value_scale: float = 1.0
    length_scale: tuple[float, int] | None = None
    length_scale_from_zero: bool = False
    length_power: tuple[float, int] | None = None
    softcap: float | None = None
    sinks: bool = False
    output_norm: NormSpec | None = None
    gate: Literal["feature", "head"] | None = None
    gate_bias: bool = False
    gate_activation: Literal["sigmoid", "softplus"] = "sigmoid"
    bias: bool = False
    output_bias: bool = False

    def __post_init__(self) -> None:
        """Refuse heads that cannot be shared out, and norms that nothing computes."""
        if self.qk_norm_after_rotary and self.qk_norm_over == "all":
            raise ValueError(
                "qk_norm_after_rotary: got True with qk_norm_over='all', wanted False"
            )
        if self.num_heads % self.num_kv_heads:
            raise ValueError(
                f"num_kv_heads: got {self.num_kv_heads}, wanted a divisor of num_heads, "
                f"{self.num_heads}"
            )

    @property
    def width_of_value(self) -> int:
        """Width v of a value."""
        return self.head_dim if self.value_dim is None else self.value_dim

    @property
    def kept(self) -> int | None:
        """Most tokens that the next query can need besides its own; None means all."""
        limits = [limit for limit in (self.window, self.chunk) if limit]
        return min(limits) - 1 if limits else None

    def keeps(self) -> tuple[Kept, ...]:
        """Return the keys and values: a window of w keeps those of w - 1 tokens."""
        entry = self.head_dim + self.width_of_value
        keys = self.num_kv_heads * entry
        read = 2 * self.num_heads * entry
        return (Kept("keys and values", keys, limit=self.kept, read=read),)


class KeyValues(NamedTuple):
    """What a layer keeps of the tokens so far.

    Attributes:
        key: (b, g, k, d) keys of the latest tokens, rotated.
        value: (b, g, k, v) values.
        length: number of tokens so far, those that a window has left behind included.
        indexed: (b, k, d) keys by which blocks are chosen, where they are.
    """

    key: Tensor
    value: Tensor
    length: int
    indexed: Tensor | None = None

    @property
    def start(self) -> int:
        """Position of the first key."""
        return self.length - self.key.shape[-2]


class Attention(nn.Module):
    """Attend as a specification says.

    Args:
        embed_dim: width e of input and output.
        spec: heads, positions, norms, window and the rest.
        shares: keys and values come from another layer, and this one has no weights for them.
    """

    def __init__(
        self, embed_dim: int, spec: AttentionSpec, *, shares: bool = False
    ) -> None:
        super().__init__()
        self.spec = spec
        h, g, d = spec.num_heads, spec.num_kv_heads, spec.head_dim
        v = spec.width_of_value
        self.query_proj = nn.Linear(embed_dim, h * d, spec.bias)
        self.query_norm = self._norm(spec.qk_norm, h)
        self.key_proj = self.key_norm = None
        self.value_proj = self.value_norm = None
        if not shares:
            self.key_proj = nn.Linear(embed_dim, g * d, spec.bias)
            self.key_norm = self._norm(spec.qk_norm, g)
            if not spec.key_is_value:
                self.value_proj = nn.Linear(embed_dim, g * v, spec.bias)
            self.value_norm = optional_norm(v, spec.value_norm)
        self.output_proj = nn.Linear(h * v, embed_dim, spec.output_bias)
        self.output_norm = optional_norm(v, spec.output_norm)
        self.sinks = optional_zeros(spec.sinks, h)
        self.gate_bias = optional_zeros(spec.gate_bias, h)
        gates = {"feature": h * v, "head": h, None: None}
        self.gate_proj = optional_linear(embed_dim, gates[spec.gate])

    def forward(
        self, x: Tensor, state: KeyValues | None = None, memory: KeyValues | None = None,
        choice: Tensor | None = None,
    ) -> tuple[Tensor, KeyValues]:  # fmt: skip
        """Let every token gather from those before it.

        Args:
            x: (b, n, e) tokens.
            state: what was kept of the tokens before; None means that the text begins here.
            memory: keys and values that another layer has made of the same tokens and those
                before; None means that this layer makes its own.
            choice: (b, g, q, k) which keys the queries of every key head may attend to; None means
                those that the window allows.

        Returns:
            (b, n, e), and the keys and values that were attended to.
        """
        memory = self.remember(x, state) if memory is None else memory
        positions = positions_of(x, memory.length - x.shape[-2])
        heads, projected = self.spec.num_heads, self.query_proj(x)
        query = self._placed(projected, heads, self.query_norm, positions)
        query = query * self._length_scale(positions)
        mask = self._near(positions, memory)
        if choice is not None:
            mask = choice.repeat_interleave(heads // choice.shape[-3], -3)
        gathered = self.attend(query, memory, positions, mask)
        if self.output_norm is not None:
            gathered = self.output_norm(gathered)
        output = self.output_proj(self._gated(gathered.transpose(-2, -3), x))
        return output, memory

    def attend(
        self,
        query: Tensor,
        memory: KeyValues,
        positions: Tensor,
        mask: Tensor | None,
    ) -> Tensor:
        """Gather values (b, h, n, v) for queries (b, h, n, d) at positions (n,)."""
        gathered: Tensor = scaled_dot_product_attention(
            query, memory.key, memory.value, mask, is_causal=True,
            offset=int(positions[0]) - memory.start, scale=self.spec.scale,
            softcap=self.spec.softcap, sinks=self.sinks, enable_gqa=True,
        )  # fmt: skip
        return gathered

    def remember(self, x: Tensor, state: KeyValues | None = None) -> KeyValues:
        """Make keys and values of tokens (b, n, e), and put them behind those that were kept."""
        start = 0 if state is None else state.length
        positions = positions_of(x, start)
        if self.key_proj is None:
            raise ValueError(
                "memory: got None, wanted the keys and values that the layer shares"
            )
        heads, projected = self.spec.num_kv_heads, self.key_proj(x)
        key = self._placed(projected, heads, self.key_norm, positions)
        if self.value_proj is not None:
            projected = self.value_proj(x)
        value = _heads(projected, heads)
        value = value if self.value_norm is None else self.value_norm(value)
        value = value * self.spec.value_scale
        if state is not None:
            key = torch.cat((state.key, key), -2)
            value = torch.cat((state.value, value), -2)
        return KeyValues(key, value, start + x.shape[-2])

    def trim(self, state: KeyValues) -> KeyValues:
        """Forget the tokens that no later query can reach."""
        kept = self.spec.kept
        if kept is None or state.key.shape[-2] <= kept:
            return state
        first = state.key.shape[-2] - kept
        key, value = (part[..., first:, :] for part in state[:2])
        return state._replace(key=key, value=value)

    def _norm(self, spec: NormSpec | None, heads: int) -> Norm | None:
        """Make a norm of queries or keys."""
        count = heads if self.spec.qk_norm_over == "all" else 1
        return optional_norm(count * self.spec.head_dim, spec)

    def _placed(
        self,
        projected: Tensor,
        heads: int,
        norm: Norm | None,
        positions: Tensor,
    ) -> Tensor:
        """Cut queries or keys into heads (b, h, n, d), normalised and rotated."""
        after = self.spec.qk_norm_after_rotary
        over_all = self.spec.qk_norm_over == "all"
        if norm is not None and over_all:
            projected = norm(projected)
        placed = _heads(projected, heads)
        if norm is not None and not over_all and not after:
            placed = norm(placed)
        if self.spec.rotary is not None:
            placed = self.spec.rotary.turn(placed, positions)
        return norm(placed) if norm is not None and after else placed

    def _near(self, positions: Tensor, memory: KeyValues) -> Tensor | None:
        """Say which keys the window or the chunk allows, (q, k); None means all of them."""
        spec, (q, k) = self.spec, (len(positions), memory.key.shape[-2])
        offset = int(positions[0]) - memory.start
        if spec.window is not None:
            near: Tensor = sliding_window_mask(
                q, k, left=spec.window - 1, offset=offset, like=positions
            )
            return near
        if spec.chunk is not None:
            device = positions.device
            keys = torch.arange(memory.start, memory.length, device=device)
            near = document_mask(positions // spec.chunk, keys // spec.chunk)
            return near
        return None

    def _length_scale(self, positions: Tensor) -> Tensor | float:
        """Return what queries are multiplied by because of how much they have to read."""
        if self.spec.length_power is not None:
            power, step = self.spec.length_power
            return ((1 + (positions + 1) / step) ** power)[:, None]
        if self.spec.length_scale is None:
            return 1.0
        size, step = self.spec.length_scale
        first = 0 if self.spec.length_scale_from_zero else 1
        return (1 + size * torch.log1p((positions + first) // step))[:, None]

    def _gated(self, gathered: Tensor, x: Tensor) -> Tensor:
        """Join the heads of (b, n, h, v), multiplied by their gates."""
        if self.gate_proj is None:
            return gathered.flatten(-2)
        softplus = self.spec.gate_activation == "softplus"
        activate = F.softplus if softplus else torch.sigmoid
        gate = self.gate_proj(x).unflatten(-1, (self.spec.num_heads, -1))
        if self.gate_bias is not None:
            gate = gate + self.gate_bias[:, None]
        return (gathered * activate(gate)).flatten(-2)

    if TYPE_CHECKING:
        __call__ = forward


def _heads(projected: Tensor, heads: int) -> Tensor:
    """Cut (b, n, h * d) into heads, (b, h, n, d)."""
    return torch.unflatten(projected, -1, (heads, -1)).transpose(-2, -3)
