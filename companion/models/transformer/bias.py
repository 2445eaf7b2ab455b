"""Distance in the scores: what is added to them in place of encodings of places."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from companion.models.transformer.config import TransformerConfig
from companion.positions import alibi_bias, relative_buckets

if TYPE_CHECKING:
    from companion.cache import KVCache


class ScoreBias(nn.Module):
    """A number for every head, query and key, added to the scores of self-attention.

    A stack computes it once, and all of its blocks share it. It says nothing of causality: compose
    it with `is_causal`.
    """

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Tensor:
        """Return (h, n, k), or (b, h, n, k) after prompts of unequal length.

        Args:
            x: (b, n, e), what queries and the last n keys are made of.
            cache: holds the keys before, and has not been given the new ones.
        """
        raise NotImplementedError

    if TYPE_CHECKING:
        __call__ = forward

    def masked(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Return the bias as a mask that leaves out what another mask does.

        Args:
            x: (b, n, e).
            mask: broadcast to (b, h, n, n): boolean, True = may attend, or floating, added too.
        """
        bias = self(x)
        if mask is None:
            return bias
        return bias.where(mask, -math.inf) if mask.dtype == torch.bool else bias + mask


class AlibiBias(ScoreBias):
    """Distance times a fixed slope a head, taken from the scores (Press et al., 2022).

    The slopes are computed where the scores are: a stored tensor would lose its precision in a
    model that is moved to half precision.

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

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Tensor:
        """Return minus the distance times the slope, in at least float32."""
        length, cached, offset = _extent(x, cache)
        bias: Tensor = alibi_bias(self.num_heads, length, cached + length, offset=offset, like=x)
        return bias


class RelativeBias(ScoreBias):
    """A learned number for every head and bucket of distances, as T5 has (Raffel et al., 2020).

    T5 does not scale its scores by 1 / sqrt(d), and draws the weights of its queries smaller by as
    much instead; here the bias is added to scaled scores.

    Args:
        config: the model's shape.
        bidirectional: tell keys to come from keys before. Causal attention sees none to come, and
            has all buckets for those before.

    >>> config = TransformerConfig(vocab_size=2, num_heads=2, positions="relative")
    >>> RelativeBias(config, bidirectional=False)(torch.ones(1, 3, 64)).shape
    torch.Size([2, 3, 3])
    """

    def __init__(self, config: TransformerConfig, *, bidirectional: bool) -> None:
        super().__init__()
        self.max_distance, self.bidirectional = config.relative_max_distance, bidirectional
        self.table = nn.Embedding(config.relative_buckets, config.num_heads)
        nn.init.normal_(self.table.weight, std=config.embed_dim**-0.5)

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Tensor:
        """Return what the table holds for the bucket of every distance."""
        length, cached, offset = _extent(x, cache)
        keys = torch.arange(cached + length, device=x.device)
        queries = torch.arange(length, device=x.device)
        queries = queries + (offset[:, None] if isinstance(offset, Tensor) else offset)
        buckets = relative_buckets(
            keys - queries[..., None],
            num_buckets=self.table.num_embeddings,
            max_distance=self.max_distance,
            bidirectional=self.bidirectional,
        )
        bias: Tensor = self.table(buckets)
        return bias.movedim(-1, -3)


def make_bias(config: TransformerConfig, *, bidirectional: bool) -> ScoreBias | None:
    """Return the bias of a stack's configuration, None where places are told otherwise.

    Args:
        config: the model's shape.
        bidirectional: whether queries see keys to come.
    """
    if config.positions == "alibi":
        return AlibiBias(config)
    if config.positions == "relative":
        return RelativeBias(config, bidirectional=bidirectional)
    return None


def _extent(x: Tensor, cache: KVCache | None) -> tuple[int, int, int | Tensor]:
    """Return the numbers of new and of cached tokens, and the place of the first new one."""
    if cache is None:
        return x.shape[1], 0, 0
    return x.shape[1], cache.length, cache.offset
