"""The decoder: every place looks at those before it, and at a memory if there is one."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from companion.cache import KVCache
from companion.contracts import contract
from companion.layers import ProjectedMemory
from companion.models.transformer.bias import make_bias
from companion.models.transformer.blocks import Block, make_norm
from companion.models.transformer.config import TransformerConfig
from companion.models.transformer.one_token import one_token


class DecoderOutput(NamedTuple):
    """What a decoder gives.

    Attributes:
        hidden: (b, n, e).
        self_weights: (b, h, n, k) of every block; None where not asked for.
        cross_weights: (b, h, n, k) of every block; None where not asked for or not there.
    """

    hidden: Tensor
    self_weights: tuple[Tensor | None, ...]
    cross_weights: tuple[Tensor | None, ...]


# fmt: off
def through_blocks(
    x: Tensor, blocks: nn.ModuleList,
    memories: Sequence[ProjectedMemory] | None = None, *,
    bias: Tensor | None = None, memory_mask: Tensor | None = None,
    caches: Sequence[KVCache] | None = None, lengths: Tensor | None = None,
    weights_of: Container[int] = (),
) -> DecoderOutput:
    """Pass x, (b, n, e), through causal blocks, one after the other; see `Decoder.forward`.

    Args:
        x: (b, n, e).
        blocks: the blocks.
        memories: a projected memory a block.
        bias: added to the scores of every self-attention, (h, n, k) or (b, h, n, k).
        memory_mask: who may attend to the memory.
        caches: a cache a block.
        lengths: how many of the n tokens are real, (b,).
        weights_of: numbers of the blocks whose weights are returned.
    """
    self_weights, cross_weights = [], []
    for number, block in enumerate(blocks):
        x, own, cross = block(
            x,
            None if memories is None else memories[number],
            attn_mask=bias,
            is_causal=True,
            memory_mask=memory_mask,
            cache=None if caches is None else caches[number],
            lengths=lengths,
            need_weights=number in weights_of,
        )
        self_weights.append(own)
        cross_weights.append(cross)
    return DecoderOutput(x, tuple(self_weights), tuple(cross_weights))
# fmt: on


class Decoder(nn.Module):
    """A stack of causal blocks over embedded tokens (Vaswani et al., 2017).

    Args:
        config: the model's shape.
        cross: let every block attend to a memory.

    >>> decoder = Decoder(TransformerConfig(vocab_size=2, embed_dim=6, num_heads=3), cross=True)
    >>> memories = decoder.project_memory(torch.ones(1, 7, 6))
    >>> decoder(torch.ones(1, 5, 6), memories).hidden.shape
    torch.Size([1, 5, 6])
    """

    def __init__(
        self, config: TransformerConfig, *, cross: bool = False
    ) -> None:
        super().__init__()
        self.config = config
        self.embed_dim, self.num_heads = config.embed_dim, config.num_heads
        self.blocks = nn.ModuleList(
            Block(config, cross=cross) for _ in range(config.num_layers)
        )
        self.score_bias = make_bias(config, bidirectional=False)
        self.norm = make_norm(config) if config.ends_with_norm else None

    def project_memory(self, memory: Tensor) -> tuple[ProjectedMemory, ...]:
        """Project a memory (b, k, e) for every block, once for all the steps that will read it."""
        return tuple(block.project_memory(memory) for block in self._blocks())

    def make_caches(
        self, batch_size: int, max_len: int
    ) -> tuple[KVCache, ...]:
        """Return an empty cache for every block.

        Args:
            batch_size: number of sequences.
            max_len: most tokens in a sequence.
        """
        attention = self._blocks()[0].self_attention
        weight = attention.key_proj.weight
        device = weight.device.type
        autocast = device != "meta" and torch.is_autocast_enabled(device)
        dtype = torch.get_autocast_dtype(device) if autocast else weight.dtype
        # A device may have some of the heads alone.
        groups, width = attention.num_kv_heads, attention.head_dim
        shape = batch_size, groups, max_len, width
        return tuple(
            KVCache(*shape, device=weight.device, dtype=dtype)
            for _ in self.blocks
        )

    @contract(
        matching="blocks.0.self_attention.query_proj.weight",
        x="b n embed_dim", memory_mask="mask: ~b ~num_heads ~n _", lengths="integers: b",
    )  # fmt: skip
    def forward(
        self,
        x: Tensor,
        memories: Sequence[ProjectedMemory] | None = None,
        *,
        memory_mask: Tensor | None = None,
        caches: Sequence[KVCache] | None = None,
        lengths: Tensor | None = None,
        weights_of: Container[int] = (),
    ) -> DecoderOutput:
        """Compute (b, n, e) from (b, n, e).

        Args:
            memories: from `project_memory`, for a decoder with cross-attention.
            memory_mask: broadcast to (b, h, n, k), True = may attend.
            caches: from `make_caches`: x then goes on from the tokens before.
            lengths: how many of the n tokens are real, (b,); with caches.
            weights_of: numbers of the blocks whose weights are returned.

        Raises:
            TypeError: memories that `project_memory` did not give.
            ValueError: not one memory or cache a block.
        """
        self._check_memories(memories)
        self._check_caches(x, caches)
        bias = None
        if self.score_bias is not None:
            bias = self.score_bias(x, None if caches is None else caches[0])
        told = memories is not None or bias is not None or lengths is not None
        rows = None
        if caches and not weights_of and not told:
            rows = one_token(x, self.blocks, caches)
        if rows is None:
            rows, self_weights, cross_weights = through_blocks(
                x, self.blocks, memories, bias=bias, memory_mask=memory_mask, caches=caches,
                lengths=lengths, weights_of=weights_of,
            )  # fmt: skip
        else:
            self_weights = cross_weights = (None,) * len(self.blocks)
        hidden = rows if self.norm is None else self.norm(rows)
        return DecoderOutput(hidden, self_weights, cross_weights)

    if TYPE_CHECKING:
        __call__ = forward

    def _check_memories(
        self, memories: Sequence[ProjectedMemory] | None
    ) -> None:
        """Refuse memories that are not one a block, or that no block reads."""
        given = () if memories is None else memories
        if isinstance(given, Tensor) or not all(
            isinstance(m, ProjectedMemory) for m in given
        ):
            came = type(memories).__name__
            raise TypeError(
                f"memories: got {came}, wanted what `project_memory` gave"
            )
        if memories is not None and len(memories) != len(self.blocks):
            raise ValueError(
                f"memories: got {len(memories)}, wanted {len(self.blocks)}, one a block"
            )
        crosses = self._blocks()[0].cross_attention is not None
        if crosses != (memories is not None):
            came, asked = "some", "None"
            if crosses:
                came, asked = "None", "what `project_memory` gave"
            raise ValueError(
                f"memories: got {came}, wanted {asked}: cross-attention reads them"
            )

    def _check_caches(
        self, x: Tensor, caches: Sequence[KVCache] | None
    ) -> None:
        """Refuse caches that are not one a block, or of another shape or dtype."""
        if caches is None:
            return
        if len(caches) != len(self.blocks):
            raise ValueError(
                f"caches: got {len(caches)}, wanted {len(self.blocks)}, one a block"
            )
        attention, cache = self._blocks()[0].self_attention, caches[0]
        shape = cache.batch_size, cache.num_kv_heads, cache.head_dim
        wanted = x.shape[0], attention.num_kv_heads, attention.head_dim
        if shape != wanted:
            raise ValueError(
                f"caches: got {shape} for (b, g, d), wanted {wanted}"
            )
        differs = cache.dtype != x.dtype
        if differs and not torch.is_autocast_enabled(x.device.type):
            raise TypeError(
                f"caches: got dtype {cache.dtype}, wanted {x.dtype}, that of x"
            )

    def _blocks(self) -> list[Block]:
        return [block for block in self.blocks if isinstance(block, Block)]
