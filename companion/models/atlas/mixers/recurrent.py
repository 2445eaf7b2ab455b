"""What recurrent layers share: their way from token to token, and weights that forget slowly."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.contracts import contract
from companion.convolution import short_convolution
from companion.linear import (
    chunked_linear_attention,
    recurrent_linear_attention,
)
from companion.models.atlas.kept import Kept
from companion.models.atlas.norms import Norm, optional_zeros

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


def kept_of_state(
    state: int, channels: int, conv_width: int, *, reads: int
) -> tuple[Kept, ...]:
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


def attend(
    query: Tensor, key: Tensor, value: Tensor, **options: Any
) -> tuple[Tensor, Tensor]:
    """Attend without a softmax: one token as a step, more of them in chunks."""
    if query.shape[-2] == 1:
        return recurrent_linear_attention(query, key, value, **options)
    return chunked_linear_attention(query, key, value, **options)


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
    low, high = math.log(SLOWEST), math.log(FASTEST)
    step = torch.empty(shape).uniform_(low, high).exp()
    return nn.Parameter(step + torch.log(-torch.expm1(-step)))


def gated(output: Tensor, norm: Norm, gate: Tensor) -> Tensor:
    """Norm the last axis and multiply it by its gate, in at least float32."""
    wide = torch.promote_types(output.dtype, torch.float32)
    return (norm(output.to(wide)) * gate.to(wide)).to(output.dtype)


def check_same_batch(x: Tensor, state: tuple[Tensor, ...] | None) -> None:
    """Refuse the state of another batch."""
    if state is not None and len(state[0]) != len(x):
        raise ValueError(
            f"state: got one of b = {len(state[0])}, wanted {len(x)} as in x"
        )


class RecurrentMixer(nn.Module):
    """A layer that blends the last few tokens, and then goes from token to token with a memory.

    What is blended passes through a SiLU. `mix` says what the layer does with it.

    Args:
        embed_dim: width e of a token.
        channels: that the convolution blends.
        conv_width: tokens `w` that it blends.
        width: of what `mix` gives for every token.
        bias: give both projections biases.
        conv_bias: give the convolution a bias.
    """

    def __init__(
        self, embed_dim: int, channels: int, conv_width: int, width: int, *, bias: bool = False,
        conv_bias: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.embed_dim = embed_dim
        self.input_proj = nn.Linear(embed_dim, channels, bias)
        self.conv_weight = initial_conv(channels, conv_width)
        self.conv_bias = optional_zeros(conv_bias, channels)
        self.output_proj = nn.Linear(width, embed_dim, bias)

    @contract(matching="input_proj.weight", x="b n embed_dim")
    def forward(
        self, x: Tensor, state: RecurrentState | None = None
    ) -> tuple[Tensor, RecurrentState]:
        """Mix every token with those before it.

        Args:
            state: what earlier tokens left; None means that the text begins here.

        Returns:
            (b, n, e), and the state after the last token.
        """
        check_same_batch(x, state)
        inputs, memory = state or (None, None)
        weight, bias = self.conv_weight, self.conv_bias
        blended, inputs = short_convolution(
            self.input_proj(x), weight, bias=bias, state=inputs
        )
        output, memory = self.mix(x, F.silu(blended), memory)
        return self.output_proj(output), RecurrentState(inputs, memory)

    def mix(
        self, x: Tensor, blended: Tensor, memory: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Return what the last projection reads, (b, n, width), and the memory after that.

        Args:
            x: (b, n, e) tokens, of which gates and decays are made.
            blended: (b, n, c) channels, of which queries, keys and values are made.
            memory: (b, h, d, v) of the tokens before.
        """
        raise NotImplementedError

    if TYPE_CHECKING:
        __call__ = forward
