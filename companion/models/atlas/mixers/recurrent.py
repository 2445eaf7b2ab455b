"""What recurrent layers share: their state, and weights that forget slowly when learning begins."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from companion.linear import chunked_linear_attention, recurrent_linear_attention
from companion.models.atlas.kept import Kept
from companion.models.atlas.norms import Norm

SLOWEST, FASTEST = 1e-3, 0.1
"""Steps by which heads forget before they learn, as Mamba has them (Gu and Dao, 2023)."""


class RecurrentState(NamedTuple):
    """What a layer with a short convolution and a memory keeps of the text so far.

    Attributes:
        inputs: the last w - 1 inputs of the convolution, (b, w - 1, c).
        memory: what maps keys to values, (b, h, d, v), in at least float32.
    """

    inputs: Tensor
    memory: Tensor


def kept_of_state(state: int, channels: int, conv_width: int, *, reads: int) -> tuple[Kept, ...]:
    """Return what such a layer keeps: its state, in float32, and the latest inputs.

    Of the inputs transformers keeps w, one more than the next token needs.

    Args:
        state: numbers of the memory, h * d * v.
        channels: that the convolution blends.
        conv_width: tokens `w` that it blends.
        reads: operations of the next token for every number of the state, as `Kept.read` counts.
    """
    return (
        Kept("state", state, tokens=None, itemsize=4, read=reads * state),
        Kept("inputs of the convolution", channels * conv_width, tokens=None),
    )


def attend(query: Tensor, key: Tensor, value: Tensor, **options: Any) -> tuple[Tensor, Tensor]:
    """Attend without a softmax: one token as a step, more of them in chunks."""
    form = recurrent_linear_attention if query.shape[-2] == 1 else chunked_linear_attention
    return form(query, key, value, **options)


def in_heads(x: Tensor, head_dim: int) -> Tensor:
    """Cut (b, n, h d) into heads, (b, h, n, d)."""
    return torch.unflatten(x, -1, (-1, head_dim)).transpose(1, 2)


def join_heads(heads: Tensor) -> Tensor:
    """Join heads (b, h, n, v) to (b, n, h v)."""
    return heads.transpose(1, 2).flatten(-2)


def initial_conv(channels: int, width: int) -> nn.Parameter:
    """Return the weights of a convolution, (c, w), drawn as torch draws those of its own."""
    bound = 1 / math.sqrt(width)
    return nn.Parameter(torch.empty(channels, width).uniform_(-bound, bound))


def initial_rate(num_heads: int) -> nn.Parameter:
    """Return the logarithms of rates between 1 and 16, (h,)."""
    return nn.Parameter(torch.empty(num_heads).uniform_(1, 16).log())


def initial_bias(*shape: int) -> nn.Parameter:
    """Return biases whose softplus is a step between the slowest and the fastest."""
    step = torch.empty(shape).uniform_(math.log(SLOWEST), math.log(FASTEST)).exp()
    return nn.Parameter(step + torch.log(-torch.expm1(-step)))


def gated(output: Tensor, norm: Norm, gate: Tensor) -> Tensor:
    """Norm the last axis and multiply it by its gate, in at least float32."""
    wide = torch.promote_types(output.dtype, torch.float32)
    return (norm(output.to(wide)) * gate.to(wide)).to(output.dtype)


def check_same_batch(x: Tensor, state: tuple[Any, ...] | None) -> None:
    """Refuse the state of another batch."""
    if state is not None and len(state[0]) != len(x):
        raise ValueError(f"state: got one of b = {len(state[0])}, wanted {len(x)} as in x")
