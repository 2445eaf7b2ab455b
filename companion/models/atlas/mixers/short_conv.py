"""A gated short convolution: a layer that looks at the last few tokens alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from companion.contracts import contract
from companion.convolution import short_convolution
from companion.models.atlas.kept import Kept
from companion.models.atlas.mixers.recurrent import (
    check_same_batch,
    initial_conv,
)


class ConvState(NamedTuple):
    """What a convolution keeps of the text so far.

    Attributes:
        inputs: its last w - 1 inputs, (b, w - 1, c).
    """

    inputs: Tensor


@contract(channels=">= 1", conv_width=">= 1")
@dataclass(frozen=True)
class ShortConvSpec:
    """Shape of a gated short convolution (Liquid AI, 2025).

    Attributes:
        channels: width `c` of what is convolved.
        conv_width: tokens `w` that the convolution blends.
        bias: give the convolution and both projections biases.

    >>> [part.numbers for part in ShortConvSpec(channels=5).keeps()]
    [15]
    """

    channels: int
    conv_width: int = 3
    bias: bool = False

    def keeps(self) -> tuple[Kept, ...]:
        """Return the latest inputs of the convolution.

        Of these transformers keeps w, one more than the next token needs.
        """
        numbers = self.channels * self.conv_width
        return (Kept("inputs of the convolution", numbers, tokens=None),)


@contract(embed_dim=">= 1")
class ShortConv(nn.Module):
    """Gate, blend the last w tokens of every channel, gate again, as LFM2 does (Liquid AI, 2025).

        output_t = C_t * (sum over i < w of weight_i * (B * x)_(t - w + 1 + i))

    The gates B and C and the values x are linear in the token.

    Args:
        embed_dim: width e of a token.
        spec: width and the rest.

    >>> layer = ShortConv(7, ShortConvSpec(channels=5))
    >>> output, state = layer(torch.ones(1, 11, 7))
    >>> output.shape, state.inputs.shape
    (torch.Size([1, 11, 7]), torch.Size([1, 2, 5]))
    """

    def __init__(self, embed_dim: int, spec: ShortConvSpec) -> None:
        super().__init__()
        self.embed_dim, self.spec = embed_dim, spec
        c = spec.channels
        self.input_proj = nn.Linear(embed_dim, 3 * c, bias=spec.bias)
        self.conv_weight = initial_conv(c, spec.conv_width)
        self.conv_bias = nn.Parameter(torch.zeros(c)) if spec.bias else None
        self.output_proj = nn.Linear(c, embed_dim, bias=spec.bias)

    @contract(matching="input_proj.weight", x="b n embed_dim")
    def forward(
        self, x: Tensor, state: ConvState | None = None
    ) -> tuple[Tensor, ConvState]:
        """Mix every token with the w - 1 before it.

        Args:
            state: what earlier tokens left; None means that the text begins here.

        Returns:
            (b, n, e), and the state after the last token.
        """
        check_same_batch(x, state)
        inputs = None if state is None else state.inputs
        before, after, values = self.input_proj(x).chunk(3, dim=-1)
        weight, bias = self.conv_weight, self.conv_bias
        blended, inputs = short_convolution(
            before * values, weight, bias=bias, state=inputs
        )
        return self.output_proj(after * blended), ConvState(inputs)

    if TYPE_CHECKING:
        __call__ = forward
