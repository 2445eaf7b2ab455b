"""Models that read in both directions: an encoder of text, and one that fills in masked words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.layers.feed_forward import ACTIVATIONS
from companion.masks import padding_mask
from companion.models._checks import check_ids, checked_lengths
from companion.models.transformer.blocks import make_norm
from companion.models.transformer.config import TransformerConfig
from companion.models.transformer.embedding import Embedding, Output
from companion.models.transformer.encoder import Encoder, EncoderOutput


class TextEncoder(nn.Module):
    """Turn every token into a vector that knows the whole text (Devlin et al., 2019).

    Args:
        config: the model's shape. BERT is positions="learned", norm_order="post",
            embedding_norm=True, num_types=2, activation="gelu", with biases and
            embedding_scale=False.

    >>> import torch
    >>> encoder = TextEncoder(TransformerConfig(vocab_size=11, embed_dim=12, num_heads=3))
    >>> encoder(torch.tensor([[4, 5, 6]])).hidden.shape
    torch.Size([1, 3, 12])
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config)
        self.encoder = Encoder(config)

    def forward(
        self,
        tokens: Tensor,
        lengths: Tensor | None = None,
        *,
        types: Tensor | None = None,
        need_weights: bool = False,
    ) -> EncoderOutput:
        """Compute (b, n, e) from (b, n) ids.

        Args:
            tokens: (b, n) ids, padded at the end.
            lengths: (b,) number of tokens; None means n.
            types: (b, n) segments; None means all are of segment 0.
            need_weights: also return the weights of every block.

        Raises:
            TypeError: ids or lengths that are no integers.
            ValueError: not one length a sequence, or other shapes.
        """
        check_ids(tokens=tokens)
        mask = None
        if lengths is not None:
            real = checked_lengths(lengths, len(tokens), tokens.device)
            mask = padding_mask(real, tokens.shape[1])[:, None]
        x = self.embedding(tokens, types=types)
        return self.encoder(x, mask=mask, need_weights=need_weights)

    if TYPE_CHECKING:
        __call__ = forward


class MaskedLanguageModel(nn.Module):
    """Score the word at every place from the words on both sides (Devlin et al., 2019).

    Args:
        config: the model's shape.

    >>> import torch
    >>> model = MaskedLanguageModel(TransformerConfig(vocab_size=11, embed_dim=12, num_heads=3))
    >>> model(torch.tensor([[4, 5, 6]])).shape
    torch.Size([1, 3, 11])
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.text = TextEncoder(config)
        self.transform = nn.Linear(config.embed_dim, config.embed_dim)
        self.norm = make_norm(config)
        self.output = Output(config, bias=True)

    def forward(
        self, tokens: Tensor, lengths: Tensor | None = None, *, types: Tensor | None = None
    ) -> Tensor:
        """Compute (b, n, vocab_size) logits from (b, n) ids.

        Args:
            tokens: (b, n) ids, padded at the end.
            lengths: (b,) number of tokens; None means n.
            types: (b, n) segments; None means all are of segment 0.
        """
        hidden = self.text(tokens, lengths, types=types).hidden
        activated = ACTIVATIONS[self.config.activation](self.transform(hidden))
        return self.output(self.norm(activated), self.text.embedding.words)

    if TYPE_CHECKING:
        __call__ = forward

    def loss(
        self, tokens: Tensor, targets: Tensor, chosen: Tensor, lengths: Tensor | None = None
    ) -> Tensor:
        """Average the cross-entropy over the chosen places, in nats a token.

        Args:
            tokens: (b, n) ids, some of them masked.
            targets: (b, n) ids that stood there.
            chosen: (b, n) boolean, True where the model is asked.
            lengths: (b,) number of tokens; None means n.

        Raises:
            TypeError: ids or lengths that are no integers, or places that are not boolean.
            ValueError: other shapes than (b, n), not one length a sequence, or no place chosen.
        """
        check_ids(tokens=tokens, targets=targets)
        if chosen.dtype != torch.bool:
            raise TypeError(f"chosen: got dtype {chosen.dtype}, wanted bool, True where asked")
        for name, tensor in (("targets", targets), ("chosen", chosen)):
            if tensor.shape != tokens.shape:
                came, wanted = tuple(tensor.shape), tuple(tokens.shape)
                raise ValueError(f"{name}: got shape {came}, wanted {wanted}, that of tokens")
        asked = targets[chosen]
        if not len(asked):
            raise ValueError("chosen: got no place, wanted at least one to average over")
        return F.cross_entropy(self(tokens, lengths)[chosen], asked.long())
