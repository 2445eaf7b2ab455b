"""One new token through a block: the values of `Block.forward`, in as few calls as they need.

In a decoding step of a small model the arithmetic takes less time than finding out, layer by
layer, what is to be computed. That is found out once a cache, when its first single token comes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.attention import scaled_dot_product_attention
from companion.layers import FeedForward, MultiHeadAttention
from companion.layers.feed_forward import ACTIVATIONS

if TYPE_CHECKING:
    from companion.cache import KVCache

Norm = Callable[[Tensor], Tensor]


class Step:
    """What a block without gradients makes of one token a sequence.

    The weights are the block's own: what is written into them counts at once. A weight that is
    put in the place of another, or a hook, counts from the next cache on.

    Args:
        attention: a self-attention whose `fused_weight` is there.
        feed_forward: a gated layer whose `fused_weight` is there.
        norms: those before the two.
    """

    def __init__(
        self,
        attention: MultiHeadAttention,
        feed_forward: FeedForward,
        norms: tuple[nn.LayerNorm | nn.RMSNorm, nn.LayerNorm | nn.RMSNorm],
    ) -> None:
        inward, up = attention.fused_weight, feed_forward.fused_weight
        assert inward is not None  # whoever builds a step has looked
        assert up is not None
        self.inward, self.outward = inward, attention.output_proj.weight
        self.up, self.down = up, feed_forward.down_proj.weight
        self.activate = ACTIVATIONS[feed_forward.activation]
        self.norms = _bare(norms[0]), _bare(norms[1])
        self.turn: Callable[[Tensor, int], Tensor] | None = None
        if attention.rotary is not None:
            self.turn = attention.rotary.from_place  # type: ignore[attr-defined]
        self.heads, self.groups = attention.num_heads, attention.num_kv_heads
        self.width = attention.head_dim

    def fits(self, x: Tensor, cache: KVCache) -> bool:
        """Say whether x is one token a sequence, of sequences of one length."""
        weight = self.outward
        return (
            type(x) is Tensor
            and x.ndim == 3
            and x.shape[1] == 1
            and x.shape[2] == len(weight)
            and x.dtype == weight.dtype
            and x.device == weight.device
            and isinstance(cache.offset, int)
        )

    def __call__(self, x: Tensor, cache: KVCache) -> Tensor:
        """Compute (b, 1, e) from (b, 1, e)."""
        before_attention, before_feed_forward = self.norms
        b, h, g, d = len(x), self.heads, self.groups, self.width
        x = x.view(b, -1)
        heads = F.linear(before_attention(x), self.inward).view(b, h + 2 * g, 1, d)
        turning = heads.narrow(1, 0, h + g)
        if self.turn is not None:
            assert isinstance(cache.offset, int)  # it fits
            turning = self.turn(turning, cache.offset)
        keys, values = cache.update(turning.narrow(1, h, g), heads.narrow(1, h + g, g))
        queries = turning.narrow(1, 0, h).view(b, g, h // g, d)  # those of a group in a row
        attended = scaled_dot_product_attention(queries, keys, values)
        x = x + F.linear(attended.reshape(b, h * d), self.outward)
        gate, up = F.linear(before_feed_forward(x), self.up).chunk(2, dim=-1)
        return (x + F.linear(self.activate(gate) * up, self.down)).view(b, 1, -1)


class Plan(NamedTuple):
    """What was found out for a cache: the block that uses it, and its step, if it has one."""

    owner: object
    step: Step | None

    def __deepcopy__(self, memo: dict[int, Any]) -> Plan:
        """Stay the same: a copied cache goes on with the same weights."""
        return self


def _bare(norm: nn.LayerNorm | nn.RMSNorm) -> Norm:
    """Return what a norm computes, without its call."""
    shape, weight, eps = list(norm.normalized_shape), norm.weight, norm.eps
    if isinstance(norm, nn.LayerNorm):
        bias = norm.bias
        return lambda x: F.layer_norm(x, shape, weight, bias, eps or 0.0)
    if weight.dtype not in (torch.float32, torch.float64) or eps is None:
        return lambda x: F.rms_norm(x, shape, weight, eps)
    epsilon = weight.new_full((1, 1), eps)

    def rms(x: Tensor) -> Tensor:  # torch's own is made of twice as many calls
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        mean = torch.addcmul(epsilon, length, length, value=1 / x.shape[-1])
        return (x * mean.rsqrt_()).mul_(weight)

    return rms


def is_alone(module: nn.Module) -> bool:
    """Say whether nobody listens to a module or its parts, and none of them is in training."""
    return not any(
        part.training or part._forward_hooks or part._forward_pre_hooks for part in module.modules()
    )


def may_step() -> bool:
    """Say whether this is a place for steps: no gradients, no tracing, no autocast."""
    return not (
        torch.is_grad_enabled() or torch.compiler.is_compiling() or torch.is_autocast_enabled("cpu")
    )
