"""A Vision Transformer: patches of a picture are its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from companion.contracts import contract
from companion.models.losses import mean_cross_entropy
from companion.models.transformer import TransformerConfig
from companion.models.transformer.encoder import Encoder

if TYPE_CHECKING:
    from companion.data.images import LabelledImages


@contract(
    image_size=">= 1", patch_size=">= 1", channels=">= 1", num_classes=">= 1"
)
@dataclass(frozen=True)
class VisionConfig:
    """Shape of a Vision Transformer.

    Attributes:
        image_size: height and width of a picture.
        patch_size: height and width of a patch, a divisor of image_size.
        channels: of a pixel.
        num_classes: what a picture may be of.
        embed_dim: width `e` of a patch's embedding.
        num_heads: heads of every block.
        num_layers: blocks.
        hidden_dim: width inside the feed-forward layers; None means 4 e.
        dropout_p: dropout on every sub-layer's output.
        positions: "learned" adds a vector for its position to every patch; with "none" a picture
            is a bag of patches.
    """

    image_size: int = 8
    patch_size: int = 2
    channels: int = 1
    num_classes: int = 10
    embed_dim: int = 48
    num_heads: int = 4
    num_layers: int = 2
    hidden_dim: int | None = None
    dropout_p: float = 0.0
    positions: Literal["learned", "none"] = "learned"

    @property
    def num_patches(self) -> int:
        """Patches of a picture."""
        return (self.image_size // self.patch_size) ** 2

    @property
    def transformer(self) -> TransformerConfig:
        """The shape of the encoder."""
        return TransformerConfig(
            self.num_classes, embed_dim=self.embed_dim, num_heads=self.num_heads,
            num_layers=self.num_layers, hidden_dim=self.hidden_dim, positions="none",
            activation="gelu", attention_bias=True, dropout_p=self.dropout_p,
        )  # fmt: skip

    def __post_init__(self) -> None:
        if self.image_size % self.patch_size:
            raise ValueError(
                f"patch_size: got {self.patch_size}, wanted a divisor of image_size, "
                f"{self.image_size}"
            )
        _ = self.transformer  # checks the rest


@contract(images="any: b channels height width", size=">= 1")
def to_patches(images: Tensor, size: int) -> Tensor:
    """Cut pictures into patches, row by row, and lay each out flat.

    Args:
        size: height and width of a patch, a divisor of those of the pictures.

    Returns:
        (b, patches, channels * size * size); within a patch channel by channel, row by row.

    >>> to_patches(torch.arange(16.0).reshape(1, 1, 4, 4), 2)[0, 1].tolist()
    [2.0, 3.0, 6.0, 7.0]
    """
    b, channels, height, width = images.shape
    if height % size or width % size:
        wanted = f"(b, channels, m * {size}, n * {size})"
        raise ValueError(
            f"images: got shape {tuple(images.shape)}, wanted {wanted}"
        )
    rows, columns = height // size, width // size
    cut = images.reshape(b, channels, rows, size, columns, size)
    return cut.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


class Classified(NamedTuple):
    """What a Vision Transformer gives.

    Attributes:
        logits: (b, num_classes).
        weights: (b, h, 1 + patches, 1 + patches) of every block, the class token first; empty if
            not asked for.
    """

    logits: Tensor
    weights: tuple[Tensor, ...]


class VisionTransformer(nn.Module):
    """Say what a picture is of, from its patches (Dosovitskiy et al., 2021).

    Every patch is multiplied by one matrix, a learned class token is put before all, and a learned
    vector for its position is added to each. An encoder of pre-norm blocks follows; the class is
    scored from what it makes of the class token.

    Args:
        config: the model's shape.

    >>> model = VisionTransformer(VisionConfig(embed_dim=12, num_heads=3))
    >>> model(torch.zeros(2, 1, 8, 8)).logits.shape
    torch.Size([2, 10])
    """

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.config = config
        self.channels, self.image_size = config.channels, config.image_size
        self.num_patches = config.num_patches
        e = config.embed_dim
        self.embed = nn.Linear(config.channels * config.patch_size**2, e)
        self.class_token = nn.Parameter(torch.zeros(e))
        places = nn.Parameter(0.02 * torch.randn(1 + config.num_patches, e))
        self.places = places if config.positions == "learned" else None
        self.encoder = Encoder(config.transformer)
        self.output = nn.Linear(e, config.num_classes)

    @contract(
        matching="class_token", images="b channels image_size image_size",
        kept="mask: b num_patches",
    )  # fmt: skip
    def forward(
        self,
        images: Tensor,
        *,
        kept: Tensor | None = None,
        need_weights: bool = False,
    ) -> Classified:
        """Score the classes.

        Args:
            kept: boolean; a patch that is False is left out: nothing attends to it.
            need_weights: also return the attention weights.
        """
        patches = self.embed(to_patches(images, self.config.patch_size))
        first = self.class_token.expand(len(patches), 1, -1)
        x = torch.cat((first, patches), 1)
        if self.places is not None:
            x = x + self.places
        mask = None
        if kept is not None:  # the class token stays
            mask = pad(kept, (1, 0), value=True)[:, None, None]
        hidden, weights = self.encoder(x, mask=mask, need_weights=need_weights)
        return Classified(self.output(hidden[:, 0]), weights)

    if TYPE_CHECKING:
        __call__ = forward

    def loss(self, batch: LabelledImages) -> Tensor:
        """Average the cross-entropy over pictures, in nats.

        Args:
            batch: pictures and labels.
        """
        return mean_cross_entropy(self(batch.images).logits, batch.labels)
