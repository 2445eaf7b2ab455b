"""One block of a Transformer, and the two places in which its norms may stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from torch import Tensor, nn

from companion.contracts import contract
from companion.layers import (
    Attended,
    FeedForward,
    MultiHeadAttention,
    ProjectedMemory,
)
from companion.layers._masks import check_covers
from companion.models.transformer.config import TransformerConfig
from companion.positions import RotaryScaling, rotary_frequencies, rotate

if TYPE_CHECKING:
    from companion.cache import KVCache


class Residual(nn.Module):
    """What surrounds a sub-layer f: x goes around it, and a norm stands before or after.

    A block computes residual.after(x, f(residual.before(x))).

    Args:
        config: the model's shape.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.norm = make_norm(config)
        self.dropout = nn.Dropout(config.dropout_p)

    def before(self, x: Tensor) -> Tensor:
        """Return what the sub-layer reads."""
        raise NotImplementedError

    def after(self, x: Tensor, output: Tensor) -> Tensor:
        """Join what went around the sub-layer and its output."""
        raise NotImplementedError


class PostNorm(Residual):
    """norm(x + dropout(f(x))): the order that the paper draws (Vaswani et al., 2017)."""

    def before(self, x: Tensor) -> Tensor:
        """Return x as it is."""
        return x

    def after(self, x: Tensor, output: Tensor) -> Tensor:
        """Normalise the sum: no path from input to output is free of norms."""
        normed: Tensor = self.norm(x + self.dropout(output))
        return normed


class PreNorm(Residual):
    """x + dropout(f(norm(x))): the order that most models are trained in (Xiong et al., 2020)."""

    def before(self, x: Tensor) -> Tensor:
        """Normalise what the sub-layer reads."""
        normed: Tensor = self.norm(x)
        return normed

    def after(self, x: Tensor, output: Tensor) -> Tensor:
        """Add: the input reaches the output through sums alone."""
        added: Tensor = x + self.dropout(output)
        return added


class BlockOutput(NamedTuple):
    """What a block gives.

    Attributes:
        x: (b, n, e).
        self_weights: (b, h, n, k) of self-attention, None if not asked for.
        cross_weights: (b, h, n, k) of cross-attention, None if not asked for or not there.
    """

    x: Tensor
    self_weights: Tensor | None
    cross_weights: Tensor | None


class Block(nn.Module):
    """Self-attention, cross-attention if it has a memory, and feed-forward, each in a residual.

    Without cross-attention it is the block of an encoder; called with `is_causal` it is the one
    of a language model.

    Args:
        config: the model's shape.
        cross: attend to a memory between the two.

    >>> import torch
    >>> block = Block(TransformerConfig(vocab_size=2, embed_dim=6, num_heads=3))
    >>> block(torch.ones(1, 5, 6)).x.shape
    torch.Size([1, 5, 6])
    """

    def __init__(
        self, config: TransformerConfig, *, cross: bool = False
    ) -> None:
        super().__init__()
        self.embed_dim, self.num_heads = config.embed_dim, config.num_heads
        residual = PreNorm if config.norm_order == "pre" else PostNorm
        self.self_attention = _attention(config, _rotary(config))
        self.self_residual = residual(config)
        self.cross_attention = _attention(config, None) if cross else None
        self.cross_residual = residual(config) if cross else None
        self.feed_forward = FeedForward(
            config.embed_dim,
            config.hidden_width,
            activation=config.activation,
            gated=config.gated,
            bias=config.feed_forward_bias,
            dropout_p=config.feed_forward_dropout_p,
        )
        self.feed_forward_residual = residual(config)
        self.apply(_draw)

    def project_memory(self, memory: Tensor) -> ProjectedMemory:
        """Project what cross-attention will look at, once for all steps.

        Args:
            memory: (b, k, e).

        Raises:
            ValueError: the block has no cross-attention.
        """
        if self.cross_attention is None:
            raise ValueError(
                "memory: got one, but the block has no cross-attention"
            )
        return self.cross_attention.project_memory(memory)

    # fmt: off
    @contract(
        matching="self_attention.query_proj.weight", x="b n embed_dim",
        attn_mask="mask: ~b ~num_heads ~n _",
        memory_mask="mask: ~b ~num_heads ~n _", lengths="integers: b",
    )
    def forward(
        self, x: Tensor, memory: ProjectedMemory | None = None, *,
        attn_mask: Tensor | None = None, is_causal: bool = False,
        memory_mask: Tensor | None = None, cache: KVCache | None = None,
        lengths: Tensor | None = None, need_weights: bool = False,
    ) -> BlockOutput:
        """Compute (b, n, e) from (b, n, e).

        Args:
            memory: from `project_memory`, for a block with cross-attention.
            attn_mask: mask of self-attention, as for `MultiHeadAttention`.
            is_causal: let no position look at a later one.
            memory_mask: mask of cross-attention, broadcast to (b, h, n, k).
            cache: keys and values of the tokens before.
            lengths: how many of the n tokens are real, (b,); with a cache.
            need_weights: also return the weights.

        Raises:
            ValueError: a memory where none is wanted, or the reverse.
        """
        self._check_memory(memory, memory_mask)
        attended = self.self_attention(
            self.self_residual.before(x), attn_mask=attn_mask,
            is_causal=is_causal, cache=cache, lengths=lengths,
            need_weights=need_weights,
        )
        output, self_weights = _apart(attended)
        x = self.self_residual.after(x, output)

        cross_weights = None
        if self.cross_attention is not None and self.cross_residual is not None:
            attended = self.cross_attention(
                self.cross_residual.before(x), memory,
                attn_mask=memory_mask, need_weights=need_weights,
            )
            output, cross_weights = _apart(attended)
            x = self.cross_residual.after(x, output)

        output = self.feed_forward(self.feed_forward_residual.before(x))
        x = self.feed_forward_residual.after(x, output)
        return BlockOutput(x, self_weights, cross_weights)
    # fmt: on

    if TYPE_CHECKING:
        __call__ = forward

    def _check_memory(
        self, memory: ProjectedMemory | None, memory_mask: Tensor | None
    ) -> None:
        """Refuse what would quietly become self-attention, or be left unread."""
        if memory is None and self.cross_attention is not None:
            raise ValueError(
                "memory: got None, wanted what `project_memory` gave"
            )
        if memory is not None and self.cross_attention is None:
            raise ValueError(
                "memory: got one, wanted None: the block has no cross-attention"
            )
        if memory is not None:
            check_covers("memory_mask", memory_mask, memory.key.shape[-2])


def _apart(attended: Tensor | Attended) -> tuple[Tensor, Tensor | None]:
    """Return an output and its weights, None where they were not asked for."""
    return attended if isinstance(attended, Attended) else (attended, None)


@dataclass(frozen=True)
class Rotary:
    """Turn heads by their positions with the frequencies of a configuration.

    The frequencies are computed where the heads are: a stored tensor would lose its precision in
    a model that is moved to half precision.

    Attributes:
        base: ratio of the frequencies.
        scaling: their rescaling, None for none.
    """

    base: float
    scaling: RotaryScaling | None

    def __call__(self, x: Tensor, positions: Tensor) -> Tensor:
        """Return x, (b, h, n, d), turned by positions, (n,) or (b, n)."""
        frequencies = rotary_frequencies(
            x.shape[-1], base=self.base, scaling=self.scaling, like=positions
        )
        rotated = rotate(x, positions, frequencies=frequencies)
        return rotated if self.factor == 1 else rotated * self.factor

    @property
    def factor(self) -> float:
        """What rotated heads are multiplied by."""
        return 1.0 if self.scaling is None else self.scaling.attention_factor


def make_norm(config: TransformerConfig) -> nn.LayerNorm | nn.RMSNorm:
    """Return a norm of the configuration's kind."""
    if config.norm == "rms":
        return nn.RMSNorm(config.embed_dim, eps=config.norm_eps)
    return nn.LayerNorm(config.embed_dim, eps=config.norm_eps)


def _draw(module: nn.Module) -> None:
    """Draw a projection as Glorot and Bengio (2010) do, so that it keeps variances; no bias."""
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


def _rotary(config: TransformerConfig) -> Rotary | None:
    if config.positions != "rotary":
        return None
    return Rotary(config.rotary_base, config.rotary_scaling)


def _attention(
    config: TransformerConfig, rotary: Rotary | None
) -> MultiHeadAttention:
    return MultiHeadAttention(
        config.embed_dim,
        config.num_heads,
        num_kv_heads=config.num_kv_heads,
        head_dim=config.head_dim,
        bias=config.attention_bias,
        dropout_p=config.attention_dropout_p,
        rotary=rotary,
    )
