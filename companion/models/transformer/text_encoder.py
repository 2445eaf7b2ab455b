"""Models that read in both directions: an encoder of text, and one that fills in masked words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor, nn

from companion.contracts import contract
from companion.layers.feed_forward import activation_of
from companion.masks import padding_mask
from companion.models.losses import mean_cross_entropy
from companion.models.transformer.blocks import make_norm
from companion.models.transformer.config import TransformerConfig
from companion.models.transformer.embedding import Embedding, Output
from companion.models.transformer.encoder import Encoder, EncoderOutput


@contract()
class TextEncoder(nn.Module):
    """Turn every token into a vector that depends on the whole text (Devlin et al., 2019).

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

    @contract(
        matching="embedding.words.weight", tokens="ids: b n", n="> 0", lengths="lengths: b",
        types="ids: b n",
    )  # fmt: skip
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
            tokens: ids, padded at the end.
            lengths: number of tokens; None means n.
            types: segments; None means that all tokens are of segment 0.
            need_weights: also return the weights of every block.

        Raises:
            ValueError: segments where the model has none, or more tokens than learned positions.
        """
        mask = None
        if lengths is not None:
            mask = padding_mask(lengths.to(tokens.device), tokens.shape[1])[
                :, None
            ]
        x = self.embedding(tokens, types=types)
        return self.encoder(x, mask=mask, need_weights=need_weights)

    if TYPE_CHECKING:
        __call__ = forward


@contract()
class MaskedLanguageModel(nn.Module):
    """Score the word at every position from the words on both sides (Devlin et al., 2019).

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
        self.activate = activation_of(config.activation)
        self.norm = make_norm(config)
        self.output = Output(config, bias=True)

    @contract(
        matching="text.embedding.words.weight", tokens="ids: b n", n="> 0", lengths="lengths: b",
        types="ids: b n",
    )  # fmt: skip
    def forward(
        self,
        tokens: Tensor,
        lengths: Tensor | None = None,
        *,
        types: Tensor | None = None,
    ) -> Tensor:
        """Compute (b, n, vocab_size) logits from (b, n) ids.

        Args:
            tokens: ids, padded at the end.
            lengths: number of tokens; None means n.
            types: segments; None means that all tokens are of segment 0.
        """
        hidden = self.text(tokens, lengths, types=types).hidden
        activated = self.activate(self.transform(hidden))
        return self.output(self.norm(activated), self.text.embedding.words)

    if TYPE_CHECKING:
        __call__ = forward

    @contract(
        matching="text.embedding.words.weight", tokens="ids: b n", targets="ids: b n",
        chosen="booleans: b n", lengths="lengths: b",
    )  # fmt: skip
    def loss(
        self,
        tokens: Tensor,
        targets: Tensor,
        chosen: Tensor,
        lengths: Tensor | None = None,
    ) -> Tensor:
        """Average the cross-entropy over the chosen positions, in nats a token.

        Args:
            tokens: ids, some of them masked.
            targets: ids before they were masked.
            chosen: True where the model is to predict.
            lengths: number of tokens; None means n.

        Raises:
            ValueError: no position is chosen.
        """
        expected = targets[chosen]
        if not len(expected):
            raise ValueError(
                "chosen: got no position, wanted at least one to average over"
            )
        return mean_cross_entropy(self(tokens, lengths)[chosen], expected)
