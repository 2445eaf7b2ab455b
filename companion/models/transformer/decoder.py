"""The decoder: every place looks at those before it, and at a memory if there is one."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from companion.cache import KVCache
from companion.layers import ProjectedMemory
from companion.models.transformer.bias import make_bias
from companion.models.transformer.blocks import Block, check_entrance, make_norm
from companion.models.transformer.config import TransformerConfig
from companion.models.transformer.step import Plan, ShortWay, is_alone, may_step


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

    def __init__(self, config: TransformerConfig, *, cross: bool = False) -> None:
        super().__init__()
        self.config = config
        self.blocks = nn.ModuleList(Block(config, cross=cross) for _ in range(config.num_layers))
        self.score_bias = make_bias(config, bidirectional=False)
        self.norm = make_norm(config) if config.ends_with_norm else None

    def project_memory(self, memory: Tensor) -> tuple[ProjectedMemory, ...]:
        """Project a memory (b, k, e) for every block, once for all the steps that will read it."""
        return tuple(block.project_memory(memory) for block in self._blocks())

    def make_caches(self, batch_size: int, max_len: int) -> tuple[KVCache, ...]:
        """Return an empty cache for every block.

        Args:
            batch_size: number of sequences.
            max_len: most tokens in a sequence.
        """
        weight = self._blocks()[0].self_attention.key_proj.weight
        device = weight.device.type
        autocast = device != "meta" and torch.is_autocast_enabled(device)
        dtype = torch.get_autocast_dtype(device) if autocast else weight.dtype
        shape = batch_size, self.config.groups, max_len, self.config.width_of_head
        return tuple(
            KVCache(*shape, device=weight.device, dtype=dtype) for _ in range(len(self.blocks))
        )

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
            x: (b, n, e).
            memories: from `project_memory`, for a decoder with cross-attention.
            memory_mask: broadcast to (b, h, n, k), True = may attend.
            caches: from `make_caches`: x then goes on from the tokens before.
            lengths: (b,) how many of the n tokens are real; with caches.
            weights_of: numbers of the blocks whose weights are returned.

        Raises:
            TypeError: x that is no tensor or of another dtype than the decoder's, or memories that
                `project_memory` did not give.
            ValueError: not one memory or cache a block, or shapes that do not fit.
        """
        self._check_counts(memories=memories, caches=caches)
        plain = memories is None and lengths is None and not weights_of
        if (
            caches
            and plain
            and isinstance(x, Tensor)
            and x.ndim == 3
            and x.shape[1] == 1
            and may_step()
        ):
            way = self._short_way(caches[0])
            if way is not None and way.fits(x, caches):
                nothing = (None,) * len(caches)
                return DecoderOutput(way(x, caches), nothing, nothing)
        check_entrance(self.blocks, x)
        bias = None
        if self.score_bias is not None:
            bias = self.score_bias(x, None if caches is None else caches[0])
        self_weights, cross_weights = [], []
        for number, block in enumerate(self.blocks):
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
        hidden = x if self.norm is None else self.norm(x)
        return DecoderOutput(hidden, tuple(self_weights), tuple(cross_weights))

    if TYPE_CHECKING:
        __call__ = forward

    def _short_way(self, cache: KVCache) -> ShortWay | None:
        """Return the short way of single tokens, None where there is none."""
        if cache.plan is None:
            cache.plan = Plan(self, self._make_short_way())
        plan = cache.plan
        return plan.way if isinstance(plan, Plan) and plan.owner is self else None

    def _make_short_way(self) -> ShortWay | None:
        blocks, norm = self._blocks(), self.norm
        ends_plainly = norm is None or (type(norm) in (nn.RMSNorm, nn.LayerNorm) and is_alone(norm))
        if self.score_bias is None and ends_plainly and ShortWay.goes_through(blocks):
            return ShortWay(blocks, norm)
        return None

    def _blocks(self) -> list[Block]:
        return [block for block in self.blocks if isinstance(block, Block)]

    def _check_counts(
        self,
        memories: Sequence[ProjectedMemory] | None,
        caches: Sequence[KVCache] | None,
    ) -> None:
        unprojected = isinstance(memories, Tensor) or not all(
            isinstance(memory, ProjectedMemory) for memory in memories or ()
        )
        if unprojected:
            came = type(memories).__name__
            raise TypeError(f"memories: got {came}, wanted what `project_memory` gave")
        for name, given in (("memories", memories), ("caches", caches)):
            if given is not None and len(given) != len(self.blocks):
                raise ValueError(
                    f"{name}: got {len(given)}, wanted {len(self.blocks)}, one a block"
                )
