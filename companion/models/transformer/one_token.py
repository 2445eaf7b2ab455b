"""One new token through a stack of blocks: the values of the blocks themselves, in few calls.

In a decoding step of a small model the arithmetic takes less time than finding out, layer by
layer, what is to be computed. That is found out once a text, when its first single token comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.attention import scaled_dot_product_attention
from companion.cache import KVCache
from companion.dispatch import only_definitions
from companion.layers import FeedForward, MultiHeadAttention
from companion.layers.feed_forward import ACTIVATIONS
from companion.models.transformer.blocks import Block, PreNorm, Rotary
from companion.positions import rotary_frequencies

Norm = Callable[[Tensor], Tensor]
Angles = tuple[Tensor, Tensor]

LONGEST_TABLE = 8192  # positions whose angles are kept
_KNOWN = {Block, MultiHeadAttention, FeedForward, PreNorm}
_KNOWN |= {nn.RMSNorm, nn.LayerNorm, nn.Linear, nn.Dropout}


def one_token(
    x: Tensor, blocks: nn.ModuleList, caches: Sequence[KVCache]
) -> Tensor | None:
    """Pass one token of each sequence, (b, 1, e), through the blocks of a decoder without a memory.

    The weights are the blocks' own: what is written into them counts at once. A weight that is
    put in the place of another, or a hook, counts from the next caches on.

    Returns:
        (b, 1, e), or None where the blocks themselves must be called: caches with windows, more
        than one token, gradients, or blocks that are not a Llama's.

    >>> one_token(torch.ones(1, 2, 3), nn.ModuleList(), []) is None
    True
    """
    if not caches or x.shape[1] != 1 or _is_traced():
        return None
    stack = _stack_of(blocks, caches[0])
    if stack is None or not stack.takes(x, caches):
        return None
    return stack(x, caches)


def _is_traced() -> bool:
    """Say whether somebody wants definitions or gradients, traces, or chooses dtypes."""
    return (
        only_definitions()
        or torch.is_grad_enabled()
        or torch.compiler.is_compiling()
        or torch.is_autocast_enabled("cpu")
    )


_stacks: WeakKeyDictionary[KVCache, tuple[nn.ModuleList, _Stack | None]] = (
    WeakKeyDictionary()
)


def _stack_of(blocks: nn.ModuleList, cache: KVCache) -> _Stack | None:
    """Return what was found out about the blocks when the first token of a text came."""
    if cache not in _stacks:
        known = all(map(_is_known, blocks))
        known = known and len(set(map(_shape_of, blocks))) == 1
        _stacks[cache] = blocks, _Stack(blocks) if known else None
    owner, stack = _stacks[cache]
    return stack if owner is blocks else None


class _Stack:
    """Blocks of one shape, each as `_is_known` wants it."""

    def __init__(self, blocks: nn.ModuleList) -> None:
        self.steps = [_Step(one) for one in blocks if isinstance(one, Block)]
        attention = self.steps[0].attention
        assert isinstance(attention.rotary, Rotary | None)  # so it is known
        self.rotary = attention.rotary
        self.width = attention.head_dim
        self.weight = attention.output_proj.weight

    def takes(self, x: Tensor, caches: Sequence[KVCache]) -> bool:
        """Say whether all caches are of one length, and hold the dtype of x and of the weights."""
        first = caches[0]
        return (
            type(x) is Tensor
            and x.dtype == self.weight.dtype == first.dtype
            and x.device == self.weight.device
            and first.length < LONGEST_TABLE
            and all(c.length == first.length for c in caches)
            and all(isinstance(c.offset, int) for c in caches)
            and all(c.window is None for c in caches)
        )

    def __call__(self, x: Tensor, caches: Sequence[KVCache]) -> Tensor:
        """Compute (b, 1, e) from (b, 1, e)."""
        rows, angles = x.squeeze(1), None
        if self.rotary is not None:
            angles = _angles(self.rotary, caches[0].length, self.width, x)
        for step, cache in zip(self.steps, caches, strict=True):
            rows = step(rows, cache, angles)
        return rows.unsqueeze(1)


class _Step:
    """What one block makes of rows (b, e)."""

    def __init__(self, block: Block) -> None:
        self.attention = attention = block.self_attention
        feed_forward = block.feed_forward
        # Whoever builds a step has looked.
        assert feed_forward.gate_proj is not None
        self.query = attention.query_proj.weight
        self.key = attention.key_proj.weight
        self.value = attention.value_proj.weight
        self.output = attention.output_proj.weight
        self.gate = feed_forward.gate_proj.weight
        self.up = feed_forward.up_proj.weight
        self.down = feed_forward.down_proj.weight
        self.activate = ACTIVATIONS[feed_forward.activation]
        self.before_attention = _bare(block.self_residual.norm)
        self.before_feed_forward = _bare(block.feed_forward_residual.norm)
        self.heads, self.groups = attention.num_heads, attention.num_kv_heads
        self.width = attention.head_dim

    def __call__(
        self, x: Tensor, cache: KVCache, angles: Angles | None
    ) -> Tensor:
        b, h, g, d = len(x), self.heads, self.groups, self.width
        normed = self.before_attention(x)
        query, key = F.linear(normed, self.query), F.linear(normed, self.key)
        heads = torch.cat((query, key), -1).view(b, h + g, 1, d)
        if angles is not None:
            heads = _rotated(heads, *angles)
        values = F.linear(normed, self.value).view(b, g, 1, d)
        keys, values = cache.update(heads.narrow(1, h, g), values)
        # Those of a group in a row.
        queries = heads.narrow(1, 0, h).view(b, g, h // g, d)
        attended = F.scaled_dot_product_attention(queries, keys, values)
        x = torch.addmm(x, attended.reshape(b, h * d), self.output.mT)
        normed = self.before_feed_forward(x)
        gated = self.activate(F.linear(normed, self.gate))
        gated = gated.mul_(F.linear(normed, self.up))
        return torch.addmm(x, gated, self.down.mT)


def _is_known(block: nn.Module) -> bool:
    """Say whether a block does what its class says, no more, and as a Llama's does.

    That is: a norm before each part, gates, no biases, no window, rotary or no positions, nobody
    who listens to it or to its parts, and none of them in training.
    """
    if type(block) is not Block or block.cross_attention is not None:
        return False
    attention, feed_forward = block.self_attention, block.feed_forward
    asked = (
        attention.window, attention.softcap, attention.sinks, attention.query_norm,
        attention.output_proj.bias, attention.query_proj.bias, feed_forward.down_proj.bias,
    )  # fmt: skip
    return (
        all(option is None for option in asked)
        and feed_forward.gate_proj is not None
        and isinstance(attention.rotary, Rotary | None)
        and attention.attention_fn is scaled_dot_product_attention
        and all(_is_plain(part) for part in block.modules())
    )


def _is_plain(part: nn.Module) -> bool:
    weight = getattr(part, "weight", None)
    listened_to = part._forward_hooks or part._forward_pre_hooks
    ordinary = weight is None or type(weight) is nn.Parameter
    known = type(part) in _KNOWN and ordinary
    return known and not (part.training or listened_to)


def _shape_of(block: nn.Module) -> tuple[Any, ...]:
    """Return what the blocks of a stack have in common."""
    assert isinstance(block, Block)
    attention = block.self_attention
    weight = block.self_attention.output_proj.weight
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


def _rotated(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn heads (b, h, 1, d) by the angles of their position."""
    wide = x if x.dtype == cosine.dtype else x.to(cosine.dtype)
    exchanged = wide.roll(x.shape[-1] // 2, -1)
    result = torch.addcmul(wide * cosine, exchanged, sine)
    return result if wide is x else result.to(x.dtype)


def _angles(rotary: Rotary, position: int, width: int, like: Tensor) -> Angles:
    """Return cosines and sines of a position, (1, d) each, in at least float32."""
    rows = max(64, 1 << position.bit_length())
    dtype = torch.promote_types(like.dtype, torch.float32)
    cosine, sine = _table(rotary, width, rows, like.device, dtype)
    return cosine.narrow(0, position, 1), sine.narrow(0, position, 1)


@lru_cache(maxsize=8)
@torch.inference_mode(False)
@torch.no_grad()
def _table(
    rotary: Rotary, width: int, rows: int, device: torch.device, dtype: torch.dtype
) -> Angles:  # fmt: skip
    """Return what `_angles` cuts from, (rows, width): they are the same for all layers."""
    like = torch.empty(0, device=device)
    frequencies = rotary_frequencies(
        width, base=rotary.base, scaling=rotary.scaling, like=like
    )
    angle = torch.arange(rows, device=device)[:, None] * frequencies
    cosine, sine = rotary.factor * angle.cos(), rotary.factor * angle.sin()
    both = torch.cat((cosine, cosine), -1), torch.cat((-sine, sine), -1)
    return both[0].to(dtype), both[1].to(dtype)
