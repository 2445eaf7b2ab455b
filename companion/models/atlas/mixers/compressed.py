"""Compressed attention: near keys one by one, far ones pooled, a block of tokens into one key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from companion.attention import scaled_dot_product_attention
from companion.contracts import contract
from companion.indexed import indexer_scores, pool_blocks, top_keys
from companion.masks import sliding_window_mask
from companion.models.atlas.kept import INDEXER_KEYS, Kept
from companion.models.atlas.norms import Norm, NormSpec
from companion.models.atlas.rotation import RotarySpec, positions_of

_RMS = NormSpec()


@contract(
    num_heads=">= 1", head_dim=">= 2", query_dim=">= 1", window=">= 1", groups=">= 1",
    group_dim=">= 1", size=">= 1", index_heads=">= 1", index_dim=">= 2", count=">= 1",
)  # fmt: skip
@dataclass(frozen=True)
class CompressedSpec:
    """Attention with a single head of keys that are values, too (DeepSeek-AI, 2026).

    Attributes:
        num_heads: query heads h.
        head_dim: width d of a query, and of a key, which is also the value.
        query_dim: width of the latent from which queries unfold.
        window: number of keys that are seen one by one, a query's own the last.
        rotary: positions, of the last features of a head; what is gathered is rotated back.
        groups: number of groups of heads, each with an output projection of its own.
        group_dim: width of what a group gives to the second output projection.
        size: tokens that are pooled into one key, which is seen once all are past; None means that
            nothing is seen outside the window.
        overlap: a pooled key comes from its own block and the one before.
        count: how many pooled keys a query sees, chosen by an indexer; None means all.
        index_heads: heads of the indexer.
        index_dim: their width.
        norm: of the latent, the keys and the pooled keys.

    >>> spec = CompressedSpec(
    ...     4, 8, 6, window=5, rotary=RotarySpec(4), groups=2, group_dim=3, size=3
    ... )
    >>> [part.bytes(length=11) for part in spec.keeps()]
    [64, 48, 64]
    """

    num_heads: int
    head_dim: int
    query_dim: int
    window: int
    rotary: RotarySpec
    groups: int
    group_dim: int
    size: int | None = None
    overlap: bool = False
    count: int | None = None
    index_heads: int = 1
    index_dim: int = 2
    norm: NormSpec = _RMS

    def keeps(self) -> tuple[Kept, ...]:
        """Return near keys, pooled keys, what is not pooled yet, and the same of the indexer."""
        d, reads = self.head_dim, 4 * self.num_heads * self.head_dim
        limit, count = self.window - 1, self.count
        near = Kept("keys that are values", d, limit=limit, read=reads)
        if self.size is None:
            return (near,)
        far = Kept("pooled keys", d, self.size, read=reads, read_limit=count)
        parts = (near, far, *self._unpooled(d))
        if self.count is None:
            return parts
        reads = 2 * self.index_heads * self.index_dim
        index = Kept(INDEXER_KEYS, self.index_dim, self.size, read=reads)
        return (*parts, index, *self._unpooled(self.index_dim))

    def _unpooled(self, width: int) -> tuple[Kept, ...]:
        """Return what waits for the end of its block, and what the block after it needs."""
        assert self.size is not None
        name, size = "tokens of an unfinished block", self.size
        if not self.overlap:
            return (Kept(name, 2 * width, beyond=size),)
        latest = Kept("latest block", 2 * width * size, size, limit=1)
        return Kept(name, 4 * width, beyond=size), latest


class Pooled(NamedTuple):
    """Pooled keys, and what is left of the tokens behind the last complete block.

    Attributes:
        keys: (b, m, d) pooled keys, rotated.
        rest: (b, r, w) what the tokens of an unfinished block give, before it is pooled.
        gate: (b, r, w) their logits.
        earlier: (b, size, d) what the latest block gives to the next one, if blocks overlap.
        earlier_gate: (b, size, d) their logits.
    """

    keys: Tensor
    rest: Tensor
    gate: Tensor
    earlier: Tensor | None = None
    earlier_gate: Tensor | None = None


class CompressedState(NamedTuple):
    """What a layer keeps of the tokens so far.

    Attributes:
        near: (b, k, d) the latest keys, rotated.
        length: number of tokens so far.
        far: pooled keys.
        indexed: pooled keys of the indexer.
    """

    near: Tensor
    length: int
    far: Pooled | None = None
    indexed: Pooled | None = None


class Pool(nn.Module):
    """Pool tokens, block by block, as `companion.indexed.pool_blocks` does.

    Args:
        embed_dim: width e of a token.
        width: width d of a pooled key.
        spec: size of a block, overlap, positions and norm.
    """

    def __init__(
        self, embed_dim: int, width: int, spec: CompressedSpec, size: int
    ) -> None:
        super().__init__()
        self.spec, self.size, self.width = spec, size, width
        given = 2 * width if spec.overlap else width
        self.proj = nn.Linear(embed_dim, given, bias=False)
        self.gate_proj = nn.Linear(embed_dim, given, bias=False)
        # A vector: no matrix product.
        self.bias = nn.Parameter(torch.zeros(size * given))
        self.norm = Norm(width, spec.norm)

    def forward(self, x: Tensor, state: Pooled | None) -> Pooled:
        """Pool the blocks that tokens (b, n, e) complete, and keep the rest."""
        rest, gate = self.proj(x), self.gate_proj(x)
        if state is not None:
            rest = torch.cat((state.rest, rest), 1)
            gate = torch.cat((state.gate, gate), 1)
        whole = rest.shape[1] // self.size * self.size
        first = 0 if state is None else state.keys.shape[1]
        if whole == 0 and state is not None:
            return state._replace(rest=rest, gate=gate)
        if whole == 0:
            return Pooled(rest[:, :0, : self.width], rest, gate)
        keys = self._pooled(rest[:, :whole], gate[:, :whole], state, first)
        if state is not None:
            keys = torch.cat((state.keys, keys), 1)
        made = Pooled(keys, rest[:, whole:], gate[:, whole:])
        if not self.spec.overlap:
            return made
        latest = slice(whole - self.size, whole)
        earlier, earlier_gate = (
            part[:, latest, : self.width] for part in (rest, gate)
        )
        return made._replace(earlier=earlier, earlier_gate=earlier_gate)

    def _pooled(
        self, given: Tensor, gate: Tensor, state: Pooled | None, first: int
    ) -> Tensor:
        """Pool whole blocks, the first of which has the number `first`."""
        bias = torch.unflatten(self.bias, 0, (self.size, -1))
        earlier, earlier_gate = state[3:] if state else (None, None)
        if earlier is not None and earlier_gate is not None:
            given = torch.cat((_widened(earlier), given), 1)
            gate = torch.cat((_widened(earlier_gate), gate), 1)
        gate = gate + bias.repeat(gate.shape[1] // self.size, 1)
        overlap, rotary = self.spec.overlap, self.spec.rotary
        keys = pool_blocks(given, gate, size=self.size, overlap=overlap)
        keys = self.norm(keys if earlier is None else keys[:, 1:])[:, None]
        last = first + keys.shape[2]
        numbers = torch.arange(first, last, device=keys.device)
        return turned_last(keys, self.size * numbers, rotary)[:, 0]

    if TYPE_CHECKING:
        __call__ = forward


class Compressed(nn.Module):
    """Attend to near keys and pooled ones in one softmax, with sinks.

    Args:
        embed_dim: width e of input and output.
        spec: heads, window, blocks and the rest.
    """

    def __init__(self, embed_dim: int, spec: CompressedSpec) -> None:
        super().__init__()
        self.spec = spec
        h, d, size = spec.num_heads, spec.head_dim, spec.size
        read, groups, given = spec.query_dim, spec.groups, spec.group_dim
        self.query_down = nn.Linear(embed_dim, read, bias=False)
        self.query_norm = Norm(read, spec.norm)
        self.query_proj = nn.Linear(read, h * d, bias=False)
        self.head_norm = Norm(d, replace(spec.norm, gain="none"))
        self.key_proj = nn.Linear(embed_dim, d, bias=False)
        self.key_norm = Norm(d, spec.norm)
        self.sinks = nn.Parameter(torch.zeros(h))
        width = h * d // groups
        weight = torch.randn(groups, width, given) / width**0.5
        self.group_weight = nn.Parameter(weight)
        self.output_proj = nn.Linear(groups * given, embed_dim, bias=False)
        self.far = None if size is None else Pool(embed_dim, d, spec, size)
        self.index = self.index_query_proj = self.index_weight_proj = None
        if size is not None and spec.count is not None:
            self.index = Pool(embed_dim, spec.index_dim, spec, size)
            heads = spec.index_heads
            queries = heads * spec.index_dim
            self.index_query_proj = nn.Linear(read, queries, bias=False)
            self.index_weight_proj = nn.Linear(embed_dim, heads, bias=False)

    def forward(
        self, x: Tensor, state: CompressedState | None = None
    ) -> tuple[Tensor, CompressedState]:
        """Let every token gather from those before it.

        Args:
            x: (b, n, e) tokens.
            state: what was kept of the tokens before; None means that the text begins here.

        Returns:
            (b, n, e), and what was attended to.
        """
        spec, memory = self.spec, self.remember(x, state)
        positions = positions_of(x, memory.length - x.shape[-2])
        read = self.query_norm(self.query_down(x))
        shape = (spec.num_heads, -1)
        heads = torch.unflatten(self.query_proj(read), -1, shape)
        heads = self.head_norm(heads).transpose(1, 2)
        query = turned_last(heads, positions, spec.rotary)
        keys, mask = self._seen(x, read, memory, positions)
        keys = keys[:, None]
        gathered = scaled_dot_product_attention(
            query, keys, keys, mask, sinks=self.sinks, enable_gqa=True
        )
        gathered = turned_last(gathered, -positions, spec.rotary)
        joined = gathered.transpose(1, 2).flatten(-2)
        grouped = torch.unflatten(joined, -1, (spec.groups, 1, -1))
        output = self.output_proj((grouped @ self.group_weight).flatten(-3))
        return output, memory

    def remember(
        self, x: Tensor, state: CompressedState | None
    ) -> CompressedState:
        """Make keys of tokens (b, n, e), and pool those that complete a block."""
        start = 0 if state is None else state.length
        positions = positions_of(x, start)
        near = self.key_norm(self.key_proj(x))[:, None]
        near = turned_last(near, positions, self.spec.rotary)[:, 0]
        if state is not None:
            near = torch.cat((state.near, near), 1)
        before = (state.far, state.indexed) if state else (None, None)
        far = None if self.far is None else self.far(x, before[0])
        index = None if self.index is None else self.index(x, before[1])
        return CompressedState(near, start + x.shape[-2], far, index)

    def trim(self, state: CompressedState) -> CompressedState:
        """Forget the near keys that no later query sees."""
        first = max(0, state.near.shape[1] - self.spec.window + 1)
        return state._replace(near=state.near[:, first:])

    def _seen(
        self,
        x: Tensor,
        read: Tensor,
        memory: CompressedState,
        positions: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Return near and pooled keys together, and which of them every query sees."""
        q, k, left = x.shape[-2], memory.near.shape[1], self.spec.window - 1
        near: Tensor = sliding_window_mask(
            q, k, left=left, right=0, offset=k - q, like=positions
        )
        near = near.expand(len(x), 1, -1, -1)
        if memory.far is None or self.spec.size is None:
            return memory.near, near
        pooled = memory.far.keys
        numbers = torch.arange(pooled.shape[1], device=x.device)
        past = numbers < ((positions + 1) // self.spec.size)[:, None]
        choice = self._choice(x, read, memory, positions, past)[:, None]
        if q == 1:
            pooled = torch.unflatten(pooled[choice[:, 0, 0]], 0, (len(x), -1))
            choice = choice.new_ones(len(x), 1, 1, pooled.shape[1])
        keys = torch.cat((memory.near, pooled), 1)
        return keys, torch.cat((near, choice), -1)

    def _choice(
        self,
        x: Tensor,
        read: Tensor,
        memory: CompressedState,
        positions: Tensor,
        past: Tensor,
    ) -> Tensor:
        """Return which pooled keys every query sees, (b, q, m)."""
        project, weigh = self.index_query_proj, self.index_weight_proj
        if project is None or weigh is None or not memory.indexed:
            return past.expand(len(x), -1, -1)
        shape = (self.spec.index_heads, -1)
        heads = torch.unflatten(project(read), -1, shape).transpose(1, 2)
        query = turned_last(heads, positions, self.spec.rotary)
        scores = indexer_scores(query, memory.indexed.keys, weigh(x).mT)
        chosen: Tensor = top_keys(scores, self.spec.count or 1, past)
        return chosen

    if TYPE_CHECKING:
        __call__ = forward


def turned_last(
    heads: Tensor, positions: Tensor, rotary: RotarySpec
) -> Tensor:
    """Rotate the last features of heads (b, h, n, d) by positions (n,)."""
    still = heads.shape[-1] - rotary.width
    turned = rotary.turn(heads[..., still:], positions)
    return torch.cat((heads[..., :still], turned), -1)


def _widened(earlier: Tensor) -> Tensor:
    """Put zeros where the other half of the channels was, which its own block has used."""
    return torch.cat((earlier, torch.zeros_like(earlier)), -1)
