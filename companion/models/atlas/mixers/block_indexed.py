"""Attention to blocks of keys: a small scorer chooses them, for each key head by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from companion.contracts import contract
from companion.indexed import block_maxima, keys_of_blocks, top_keys
from companion.models.atlas.kept import INDEXER_KEYS, Kept
from companion.models.atlas.mixers.softmax import (
    Attention,
    AttentionSpec,
    KeyValues,
)
from companion.models.atlas.norms import Norm, NormSpec
from companion.models.atlas.rotation import positions_of

_RMS = NormSpec()


@contract(head_dim=">= 1", size=">= 1", count=">= 1", local=">= 0")
@dataclass(frozen=True)
class BlockIndexedSpec:
    """Softmax attention of which every key head reads the best blocks of its keys (MiniMax M3).

    Attributes:
        attention: the attention itself, without a window.
        head_dim: width of the scorer's heads, one for each key head; they share one key a token.
        size: keys a block.
        count: how many blocks a query may attend to at most.
        local: how many of these are its own block and those before it.
        norm: norm of the scorer's queries and keys.

    >>> spec = BlockIndexedSpec(AttentionSpec(4, 2, 8), head_dim=3, size=4, count=2)
    >>> [(part.what, part.numbers, part.read_limit) for part in spec.keeps()]
    [('keys and values', 32, 8), ('indexer keys', 3, None)]
    """

    attention: AttentionSpec
    head_dim: int
    size: int
    count: int
    local: int = 1
    norm: NormSpec = _RMS

    def keeps(self) -> tuple[Kept, ...]:
        """Return keys and values, of which the next token reads some blocks, and scorer's keys."""
        limit = self.size * self.count
        reads = 2 * self.attention.num_kv_heads * self.head_dim
        (kept,) = self.attention.keeps()
        parts = (replace(kept, read_limit=limit),)
        return (*parts, Kept(INDEXER_KEYS, self.head_dim, read=reads))


class BlockIndexed(nn.Module):
    """Score keys by dot products, and attend to the blocks of the best of them.

    Args:
        embed_dim: width e of input and output.
        spec: the attention, and how blocks are chosen.
    """

    def __init__(self, embed_dim: int, spec: BlockIndexedSpec) -> None:
        super().__init__()
        self.spec = spec
        self.attention = Attention(embed_dim, spec.attention)
        queries = spec.attention.num_kv_heads * spec.head_dim
        self.index_query_proj = nn.Linear(embed_dim, queries, bias=False)
        self.index_key_proj = nn.Linear(embed_dim, spec.head_dim, bias=False)
        self.index_query_norm = Norm(spec.head_dim, spec.norm)
        self.index_key_norm = Norm(spec.head_dim, spec.norm)

    def forward(
        self, x: Tensor, state: KeyValues | None = None
    ) -> tuple[Tensor, KeyValues]:
        """Let every token gather from those before it.

        Args:
            x: (b, n, e) tokens.
            state: what was kept of the tokens before; None means that the text begins here.

        Returns:
            (b, n, e), and what is kept of all tokens.
        """
        memory = self.attention.remember(x, state)
        start = memory.length - x.shape[-2]
        key = self.index_key_norm(self.index_key_proj(x))
        indexed = self._placed(key[:, None], start)[:, 0]
        if state is not None and state.indexed is not None:
            indexed = torch.cat((state.indexed, indexed), -2)
        memory = memory._replace(indexed=indexed)
        choice = self._choice(x, indexed)
        if x.shape[-2] > 1:
            return self.attention(x, memory=memory, choice=choice)[0], memory
        chosen = _chosen(memory, choice[..., 0, :])
        return self.attention(x, memory=chosen)[0], memory

    def _choice(self, x: Tensor, indexed: Tensor) -> Tensor:
        """Return which keys the last tokens may attend to, (b, g, q, k)."""
        (q, k), size = (x.shape[-2], indexed.shape[-2]), self.spec.size
        shape = (-1, self.spec.head_dim)
        heads = torch.unflatten(self.index_query_proj(x), -1, shape)
        heads = self.index_query_norm(heads).transpose(1, 2)
        query = self._placed(heads, k - q)
        past = torch.ones(q, k, dtype=torch.bool, device=x.device).tril(k - q)
        scores = query @ indexed[:, None].mT
        best = block_maxima(scores.masked_fill(~past, -math.inf), size)
        own = torch.arange(k - q, k, device=x.device)[:, None] // size
        behind = own - torch.arange(best.shape[-1], device=x.device)
        local = (behind >= 0) & (behind < self.spec.local)
        blocks = top_keys(best.masked_fill(local, math.inf), self.spec.count)
        return past & keys_of_blocks(blocks, k, size)

    def _placed(self, heads: Tensor, start: int) -> Tensor:
        """Rotate heads (b, h, n, d) as those of the attention are."""
        rotary = self.spec.attention.rotary
        if rotary is None:
            return heads
        return rotary.turn(heads, positions_of(heads, start))

    if TYPE_CHECKING:
        __call__ = forward


def _chosen(memory: KeyValues, chosen: Tensor) -> KeyValues:
    """Return the keys and values (b, g, k, ...) that one token has chosen, (b, g, k)."""
    key, value = (
        torch.unflatten(part[chosen], 0, (*chosen.shape[:2], -1))
        for part in (memory.key, memory.value)
    )
    return memory._replace(key=key, value=value)
