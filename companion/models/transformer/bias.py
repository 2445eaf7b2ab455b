"""Positions as a bias: numbers that are added to the scores and depend on the distance alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from companion.contracts import contract
from companion.models.transformer.config import TransformerConfig
from companion.positions import alibi_bias, relative_buckets

if TYPE_CHECKING:
    from companion.cache import KVCache


class ScoreBias(nn.Module):
    """A number for every head, query and key, added to the scores of self-attention.

    It is computed once for a whole stack, and all blocks add the same one. It does not keep queries
    from later keys: `is_causal` does.
    """

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Tensor:
        """Return (h, n, k), or (b, h, n, k) after prompts of unequal length.

        Args:
            x: (b, n, e), from which the queries and the last n keys are computed.
            cache: holds the keys before them; it does not hold the new ones yet.
        """
        raise NotImplementedError

    if TYPE_CHECKING:
        __call__ = forward

    @contract(x="b n e", mask="mask: ~b ~h ~n ~n")
    def masked(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Return the bias together with another mask, as one floating mask.

        Args:
            x: embedded tokens.
            mask: boolean, True = may attend; or floating, which is added to the bias.
        """
        bias = self(x)
        if mask is None:
            return bias
        if mask.dtype == torch.bool:
            return bias.where(mask, -math.inf)
        return bias + mask


@contract()
class AlibiBias(ScoreBias):
    """Minus the distance times a fixed slope for each head (Press et al., 2022).

    The slopes are computed at every call: a stored tensor would lose precision when the model is
    converted to half precision.

    Args:
        config: the model's shape.

    >>> config = TransformerConfig(vocab_size=2, num_heads=2, positions="alibi")
    >>> AlibiBias(config)(torch.ones(1, 3, 64))[0] * 16
    tensor([[ 0., -1., -2.],
            [-1.,  0., -1.],
            [-2., -1.,  0.]])
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.num_heads = config.num_heads

    @contract(x="b n e")
    def forward(self, x: Tensor, cache: KVCache | None = None) -> Tensor:
        """Return minus the distance times the slope, in at least float32."""
        length, cached, offset = _sizes(x, cache)
        bias: Tensor = alibi_bias(
            self.num_heads, length, cached + length, offset=offset, like=x
        )
        return bias


@contract()
class RelativeBias(ScoreBias):
    """A learned number for every head and bucket of distances, as in T5 (Raffel et al., 2020).

    T5 does not scale its scores by 1 / sqrt(d), and draws smaller weights for its queries instead.
    Here the bias is added to scaled scores.

    Args:
        config: the model's shape.
        bidirectional: give later keys buckets of their own. Causal attention sees no later keys,
            so that earlier ones can have all buckets.

    >>> config = TransformerConfig(vocab_size=2, num_heads=2, positions="relative")
    >>> RelativeBias(config, bidirectional=False)(torch.ones(1, 3, 64)).shape
    torch.Size([2, 3, 3])
    """

    def __init__(
        self, config: TransformerConfig, *, bidirectional: bool
    ) -> None:
        super().__init__()
        self.max_distance = config.relative_max_distance
        self.bidirectional = bidirectional
        self.table = nn.Embedding(config.relative_buckets, config.num_heads)
        nn.init.normal_(self.table.weight, std=config.embed_dim**-0.5)

    @contract(x="b n e")
    def forward(self, x: Tensor, cache: KVCache | None = None) -> Tensor:
        """Return the table's entry for the bucket of every distance."""
        length, cached, offset = _sizes(x, cache)
        keys = torch.arange(cached + length, device=x.device)
        queries = torch.arange(length, device=x.device)
        queries = queries + (
            offset[:, None] if isinstance(offset, Tensor) else offset
        )
        buckets = relative_buckets(
            keys - queries[..., None],
            num_buckets=self.table.num_embeddings,
            max_distance=self.max_distance,
            bidirectional=self.bidirectional,
        )
        bias: Tensor = self.table(buckets)
        return bias.movedim(-1, -3)


def make_bias(
    config: TransformerConfig, *, bidirectional: bool
) -> ScoreBias | None:
    """Return the bias that a stack's configuration asks for, None for other kinds of positions.

    Args:
        config: the model's shape.
        bidirectional: whether queries see later keys.
    """
    if config.positions == "alibi":
        return AlibiBias(config)
    if config.positions == "relative":
        return RelativeBias(config, bidirectional=bidirectional)
    return None


def _sizes(x: Tensor, cache: KVCache | None) -> tuple[int, int, int | Tensor]:
    """Return the numbers of new and of cached tokens, and the position of the first new one."""
    if cache is None:
        return x.shape[1], 0, 0
    return x.shape[1], cache.length, cache.offset
