"""One new token through a stack of blocks: the values of the long way, in few calls.

In a decoding step of a small model the arithmetic takes less time than finding out, layer by
layer, what is to be computed. That is found out once a text, when its first single token comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.layers import FeedForward, MultiHeadAttention
from companion.layers.feed_forward import ACTIVATIONS
from companion.models.transformer.blocks import LONGEST_TABLE, Block, PreNorm, Rotary, turned

if TYPE_CHECKING:
    from companion.cache import KVCache

Norm = Callable[[Tensor], Tensor]
Turns = tuple[Tensor, Tensor]

_KNOWN = {Block, MultiHeadAttention, FeedForward, PreNorm, nn.RMSNorm, nn.LayerNorm}
_KNOWN |= {nn.Linear, nn.Dropout}


class Plan(NamedTuple):
    """How the tokens of a text go through a stack of blocks, found out when its first one came.

    Attributes:
        owner: who made it.
        way: None if they must go the long way.
    """

    owner: object
    way: ShortWay | None

    def __deepcopy__(self, memo: dict[int, Any]) -> Plan:
        """Stay the same: a copied cache goes on with the same weights."""
        return self


class ShortWay:
    """What blocks without gradients make of one token a sequence.

    The weights are the blocks' own: what is written into them counts at once. A weight that is
    put in the place of another, or a hook, counts from the next caches on.

    Args:
        blocks: of one shape, each as `goes_through` wants it.
        norm: what follows the last of them.
    """

    def __init__(self, blocks: Sequence[Block], norm: nn.LayerNorm | nn.RMSNorm | None) -> None:
        self.steps = [_Step(block) for block in blocks]
        self.norm: Norm = torch.clone if norm is None else _bare(norm)
        attention = blocks[0].self_attention
        self.rotary: Any = attention.rotary
        self.groups, self.width = attention.num_kv_heads, attention.head_dim
        self.weight = attention.output_proj.weight

    @staticmethod
    def goes_through(blocks: Sequence[nn.Module]) -> bool:
        """Say whether blocks do what their classes say, no more, and as a Llama's do.

        That is: a norm before each part, gates, no biases, no window, rotary or no positions.
        """
        return (
            bool(blocks) and all(map(_is_plain, blocks)) and len(set(map(_shape_of, blocks))) == 1
        )

    def fits(self, x: Tensor, caches: Sequence[KVCache]) -> bool:
        """Say whether x is one token for each sequence of the caches, all of one length."""
        weight, place = self.weight, caches[0].length
        form = len(x), self.groups, self.width, self.width, weight.dtype, weight.device
        return (
            type(x) is Tensor
            and x.ndim == 3
            and x.shape[1:] == (1, len(weight))
            and x.dtype == weight.dtype
            and x.device == weight.device
            and place < LONGEST_TABLE
            and all(c.is_plain and c.length == place and c.form == form for c in caches)
        )

    def __call__(self, x: Tensor, caches: Sequence[KVCache]) -> Tensor:
        """Compute (b, 1, e) from (b, 1, e)."""
        place, rows, turns = caches[0].length, x.squeeze(1), None
        if self.rotary is not None:
            turns = self.rotary.turns(place, place + 1, self.width, x)
        with torch.inference_mode():
            for step, cache in zip(self.steps, caches, strict=True):
                rows = step(rows, cache, turns)
        return self.norm(rows).unsqueeze(1)  # an ordinary tensor: it was made outside of that mode


class _Step:
    """What one block makes of rows (b, e)."""

    def __init__(self, block: Block) -> None:
        attention, feed_forward = block.self_attention, block.feed_forward
        inward, up = attention.fused_weight, feed_forward.fused_weight
        assert inward is not None  # whoever builds a step has looked
        assert up is not None
        self.inward, self.outward = inward.mT, attention.output_proj.weight.mT
        self.up, self.down = up.mT, feed_forward.down_proj.weight.mT
        self.hidden = self.down.shape[0]
        self.activate = ACTIVATIONS[feed_forward.activation]
        self.before_attention = _bare(block.self_residual.norm)
        self.before_feed_forward = _bare(block.feed_forward_residual.norm)
        self.heads, self.groups = attention.num_heads, attention.num_kv_heads
        self.width = attention.head_dim

    def __call__(self, x: Tensor, cache: KVCache, turns: Turns | None) -> Tensor:
        b, h, g, d = len(x), self.heads, self.groups, self.width
        heads = torch.mm(self.before_attention(x), self.inward).view(b, h + 2 * g, 1, d)
        turning = heads.narrow(1, 0, h + g)
        if turns is not None:
            turning = turned(turning, *turns)
        keys, values = cache.append(turning.narrow(1, h, g), heads.narrow(1, h + g, g))
        queries = turning.narrow(1, 0, h).view(b, g, h // g, d)  # those of a group in a row
        attended = F.scaled_dot_product_attention(queries, keys, values)
        x = torch.addmm(x, attended.reshape(b, h * d), self.outward)
        wide, n = torch.mm(self.before_feed_forward(x), self.up), self.hidden
        gated = self.activate(wide.narrow(1, 0, n)).mul_(wide.narrow(1, n, n))
        return torch.addmm(x, gated, self.down)


def _is_plain(block: nn.Module) -> bool:
    """Say whether a block is one that `_Step` computes."""
    if not (type(block) is Block and is_alone(block)):
        return False
    attention, feed_forward = block.self_attention, block.feed_forward
    return (
        all(type(part) in _KNOWN for part in block.modules())
        and block.cross_attention is None
        and attention.is_plain
        and isinstance(attention.rotary, Rotary | None)
        and attention.fused_weight is not None
        and feed_forward.fused_weight is not None
        and feed_forward.down_proj.bias is None
    )


def _shape_of(block: nn.Module) -> tuple[Any, ...]:
    """Return what the blocks of a way have in common."""
    assert isinstance(block, Block)
    attention, weight = block.self_attention, block.self_attention.output_proj.weight
    heads = attention.num_kv_heads, attention.head_dim
    return attention.rotary, heads, weight.shape, weight.dtype, weight.device


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
