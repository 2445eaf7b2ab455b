"""The encoder: every token attends to every other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from torch import Tensor, nn

from companion.contracts import contract
from companion.models.transformer.bias import make_bias
from companion.models.transformer.blocks import Block, make_norm
from companion.models.transformer.config import TransformerConfig


class EncoderOutput(NamedTuple):
    """Output of an encoder.

    Attributes:
        hidden: (b, n, e).
        weights: (b, h, n, n) of every block; empty if not asked for.
    """

    hidden: Tensor
    weights: tuple[Tensor, ...]


@contract(num_layers=">= 1")
class Encoder(nn.Module):
    """A stack of blocks over embedded tokens (Vaswani et al., 2017).

    Args:
        config: the model's shape.
        num_layers: number of blocks; None means config.num_layers.

    >>> import torch
    >>> encoder = Encoder(TransformerConfig(vocab_size=2, embed_dim=6, num_heads=3))
    >>> encoder(torch.ones(1, 5, 6)).hidden.shape
    torch.Size([1, 5, 6])
    """

    def __init__(
        self, config: TransformerConfig, num_layers: int | None = None
    ) -> None:
        super().__init__()
        self.embed_dim, self.num_heads = config.embed_dim, config.num_heads
        count = config.num_layers if num_layers is None else num_layers
        self.blocks = nn.ModuleList(Block(config) for _ in range(count))
        self.score_bias = make_bias(config, bidirectional=True)
        self.norm = make_norm(config) if config.ends_with_norm else None

    @contract(
        matching="blocks.0.self_attention.output_proj.weight",
        x="b n embed_dim", mask="mask: ~b ~num_heads ~n ~n",
    )  # fmt: skip
    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> EncoderOutput:
        """Compute (b, n, e) from (b, n, e).

        Args:
            x: embedded tokens.
            mask: boolean, True = may attend, or added to the scores; it leaves padding out.
            need_weights: also return the weights.
        """
        if self.score_bias is not None:
            mask = self.score_bias.masked(x, mask)
        weights = []
        for block in self.blocks:
            x, own, _ = block(x, attn_mask=mask, need_weights=need_weights)
            if own is not None:
                weights.append(own)
        return EncoderOutput(
            x if self.norm is None else self.norm(x), tuple(weights)
        )

    if TYPE_CHECKING:
        __call__ = forward
