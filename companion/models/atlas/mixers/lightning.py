"""Lightning attention: a state of fixed size that every head forgets at a rate of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.contracts import contract
from companion.gates import fixed_decay
from companion.models.atlas.kept import Kept
from companion.models.atlas.mixers.recurrent import (
    attend,
    check_same_batch,
    gated,
    in_heads,
    join_heads,
)
from companion.models.atlas.norms import Norm, NormSpec


class LightningState(NamedTuple):
    """What lightning attention keeps of the text so far.

    Attributes:
        memory: what maps keys to values, (b, h, d, d), in at least float32.
    """

    memory: Tensor


@contract(
    num_heads=">= 1", head_dim=">= 1", slope_scale=">= 0", norm_eps="> 0"
)
@dataclass(frozen=True)
class LightningSpec:
    """Shape of a layer of lightning attention (Qin et al., 2024; MiniMax, 2025).

    Attributes:
        num_heads: heads `h` of queries, keys and values.
        head_dim: width `d` of each of them.
        slope_scale: factor on the slopes of forgetting, `companion.gates.fixed_decay`.
        norm_eps: what the norm adds to the mean square.

    >>> [part.numbers for part in LightningSpec(num_heads=2, head_dim=3).keeps()]
    [18]
    """

    num_heads: int
    head_dim: int
    slope_scale: float = 1.0
    norm_eps: float = 1e-6

    def keeps(self) -> tuple[Kept, ...]:
        """Return the state (h, d, d), which transformers keeps in the model's dtype."""
        state = self.num_heads * self.head_dim**2
        return (Kept("state", state, tokens=None, read=4 * state),)


@contract(embed_dim=">= 1")
class Lightning(nn.Module):
    """Forget at a fixed rate, add, read (Qin et al., 2024), as MiniMax (2025) does.

        S_t = alpha S_(t-1) + key_t^T value_t
        output_t = query_t S_t

    Queries, keys and values pass through a SiLU and are scaled by nothing. One norm over all heads
    together and a sigmoid gate follow.

    Args:
        embed_dim: width e of a token.
        spec: heads, widths and the rest.

    >>> layer = Lightning(7, LightningSpec(num_heads=2, head_dim=3))
    >>> output, state = layer(torch.ones(1, 11, 7))
    >>> output.shape, state.memory.shape
    (torch.Size([1, 11, 7]), torch.Size([1, 2, 3, 3]))
    """

    def __init__(self, embed_dim: int, spec: LightningSpec) -> None:
        super().__init__()
        self.embed_dim, self.spec = embed_dim, spec
        width = spec.num_heads * spec.head_dim
        self.qkv_proj = nn.Linear(embed_dim, 3 * width, bias=False)
        self.gate_proj = nn.Linear(embed_dim, width, bias=False)
        self.norm = Norm(width, NormSpec(spec.norm_eps))
        self.output_proj = nn.Linear(width, embed_dim, bias=False)

    @contract(matching="qkv_proj.weight", x="b n embed_dim")
    def forward(
        self, x: Tensor, state: LightningState | None = None
    ) -> tuple[Tensor, LightningState]:
        """Mix every token with those before it.

        Args:
            state: what earlier tokens left; None means that the text begins here.

        Returns:
            (b, n, e), and the state after the last token.
        """
        check_same_batch(x, state)
        memory = None if state is None else state.memory
        spec, qkv = self.spec, F.silu(self.qkv_proj(x)).chunk(3, -1)
        query, key, value = (in_heads(part, spec.head_dim) for part in qkv)
        decay = fixed_decay(spec.num_heads, scale=spec.slope_scale, like=x)
        decay = decay[:, None].expand(-1, x.shape[1])

        output, memory = attend(query, key, value, decay=decay, state=memory)

        gate = torch.sigmoid(self.gate_proj(x))
        output = self.output_proj(gated(join_heads(output), self.norm, gate))
        return output, LightningState(memory)

    if TYPE_CHECKING:
        __call__ = forward
