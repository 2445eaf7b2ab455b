"""The indexer of sparse attention: a small scorer that chooses the keys a query may attend to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from companion.contracts import contract
from companion.indexed import indexer_scores, top_keys
from companion.models.atlas.kept import INDEXER_KEYS, Kept
from companion.models.atlas.norms import Norm, NormSpec
from companion.models.atlas.rotation import RotarySpec, positions_of

_LAYER_NORM = NormSpec(centred=True, bias=True)


@contract(num_heads=">= 1", head_dim=">= 1", count=">= 1")
@dataclass(frozen=True)
class IndexerSpec:
    """A lightning indexer (DeepSeek-AI, 2025).

    Attributes:
        num_heads: its heads of queries, which share one key a token.
        head_dim: their width.
        count: how many keys a query may attend to.
        rotary: positions, of the first features of a head; None means none.
        rotary_last: rotate the last features instead (Hunyuan 4).
        key_norm: norm of the keys.

    >>> IndexerSpec(num_heads=2, head_dim=4, count=3).keeps()[0].read
    16
    """

    num_heads: int
    head_dim: int
    count: int
    rotary: RotarySpec | None = None
    rotary_last: bool = False
    key_norm: NormSpec = _LAYER_NORM

    def keeps(self) -> tuple[Kept, ...]:
        """Return the keys: of all tokens, since any of them may be chosen later."""
        read = 2 * self.num_heads * self.head_dim
        return (Kept(INDEXER_KEYS, self.head_dim, read=read),)


class Indexer(nn.Module):
    """Choose the best keys of every query: sum_h weight_h ReLU(query_h . key) scores them.

    Args:
        embed_dim: width e of the tokens that keys and weights come from.
        query_dim: width of what queries come from.
        spec: heads, width, and how many keys are chosen.

    >>> indexer = Indexer(5, 3, IndexerSpec(num_heads=2, head_dim=4, count=3))
    >>> x = torch.ones(1, 7, 5)
    >>> indexer(x, torch.ones(1, 7, 3), indexer.remember(x, start=0))[0].sum(-1)
    tensor([1, 2, 3, 3, 3, 3, 3])
    """

    def __init__(
        self, embed_dim: int, query_dim: int, spec: IndexerSpec
    ) -> None:
        super().__init__()
        self.spec = spec
        queries = spec.num_heads * spec.head_dim
        self.query_proj = nn.Linear(query_dim, queries, bias=False)
        self.key_proj = nn.Linear(embed_dim, spec.head_dim, bias=False)
        self.key_norm = Norm(spec.head_dim, spec.key_norm)
        self.weight_proj = nn.Linear(embed_dim, spec.num_heads, bias=False)

    def forward(self, x: Tensor, read: Tensor, keys: Tensor) -> Tensor:
        """Return which keys each of the last tokens may attend to, booleans (b, q, k).

        Args:
            x: (b, q, e) the last tokens.
            read: (b, q, query_dim) what their queries come from.
            keys: (b, k, d) of all tokens, from `remember`.
        """
        q, k = x.shape[-2], keys.shape[-2]
        shape = (self.spec.num_heads, -1)
        heads = torch.unflatten(self.query_proj(read), -1, shape)
        query = self._turned(heads.transpose(1, 2), k - q)
        scores = indexer_scores(query, keys, self.weight_proj(x).mT)
        past = torch.ones(q, k, dtype=torch.bool, device=x.device).tril(k - q)
        chosen: Tensor = top_keys(scores, self.spec.count, past)
        return chosen

    def remember(self, x: Tensor, start: int) -> Tensor:
        """Make keys (b, n, d) of tokens (b, n, e), the first of which has the position `start`."""
        key = self.key_norm(self.key_proj(x))
        return self._turned(key[:, None], start)[:, 0]

    def _turned(self, heads: Tensor, start: int) -> Tensor:
        """Rotate a part of heads (b, h, n, d)."""
        rotary = self.spec.rotary
        if rotary is None:
            return heads
        positions = positions_of(heads, start)
        if not self.spec.rotary_last:
            return rotary.turn(heads, positions)
        still = heads.shape[-1] - rotary.width
        turned = rotary.turn(heads[..., still:], positions)
        return torch.cat((heads[..., :still], turned), -1)

    if TYPE_CHECKING:
        __call__ = forward
