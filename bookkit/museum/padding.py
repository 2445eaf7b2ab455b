"""Padding that is read, looked at, and scored."""

import torch
from torch import Tensor, nn

from bookkit.museum.exhibit import (
    Exhibit,
    Variant,
    seeded,
    two_inputs,
    two_texts,
)
from companion.attention import scaled_dot_product_attention
from companion.conformance import check_padding
from companion.layers.reading import read_both_ways
from companion.masks import padding_mask
from companion.models.transformer import LanguageModel, TransformerConfig

X, OTHER = two_inputs()
LENGTHS = torch.tensor([6, 3])


def _reader(x: Tensor) -> nn.GRU:
    layer: nn.GRU = seeded(
        lambda: nn.GRU(x.shape[-1], 5, batch_first=True, bidirectional=True)
    )
    return layer


def state_after_padding(x: Tensor, lengths: Tensor) -> Tensor:
    """Take the last states of a recurrent encoder that reads to the end of the batch."""
    _, last = _reader(x)(x)
    return torch.cat((last[0], last[1]), -1)


def state_after_words(x: Tensor, lengths: Tensor) -> Tensor:
    """Take the last states of one that reads to the end of each sentence."""
    _, (last,) = read_both_ways(_reader(x), x, lengths)
    return torch.cat((last[0], last[1]), -1)


def looks_at_padding(x: Tensor, lengths: Tensor) -> Tensor:
    """Attend to all positions of the batch."""
    return nn.functional.scaled_dot_product_attention(x, x, x)


def looks_at_words(x: Tensor, lengths: Tensor) -> Tensor:
    """Attend to the positions of the sentence."""
    return scaled_dot_product_attention(
        x, x, x, padding_mask(lengths, x.shape[1])
    )


def _scorer() -> LanguageModel:
    config = TransformerConfig(
        vocab_size=11, embed_dim=8, num_heads=2, num_layers=1
    )
    model: LanguageModel = seeded(lambda: LanguageModel(config))
    return model


def loss_of_every_place(ids: Tensor, lengths: Tensor) -> Tensor:
    """Average the loss of a sentence over all positions of the batch."""
    model = _scorer()
    return torch.stack([model.loss(row[None]) for row in ids])


def loss_of_words(ids: Tensor, lengths: Tensor) -> Tensor:
    """Average the loss of a sentence over its words."""
    model, rows = _scorer(), zip(ids, lengths, strict=True)
    return torch.stack(
        [model.loss(row[None], length[None]) for row, length in rows]
    )


def check_loss(loss: Variant) -> None:
    """Check one loss a sentence, (b,)."""
    ids, other = two_texts(n=6)
    check_padding(loss, ids, LENGTHS, other, per_place=False)


PADDING = (
    Exhibit(
        "read", "The encoder's last state is that after the padding", broken=state_after_padding,
        sound=state_after_words,
        check=lambda encode: check_padding(encode, X, LENGTHS, OTHER, per_place=False),
        hint="what stands in the padding",
        threads=("pytorch/tutorials #3643 #593", "bentrevett/pytorch-seq2seq #90"),
    ),
    Exhibit(
        "looked at", "Attention spends weight on padding", broken=looks_at_padding,
        sound=looks_at_words, check=lambda attend: check_padding(attend, X, LENGTHS, OTHER),
        hint="what stands in the padding",
        threads=("MaximumEntropy/Seq2Seq-PyTorch #6",),
    ),
    Exhibit(
        "scored", "The loss counts padding as words", broken=loss_of_every_place,
        sound=loss_of_words, check=check_loss, hint="what stands in the padding",
        threads=("pytorch/tutorials #3643", "tensorflow/tensorflow #512"),
    ),
)  # fmt: skip
