"""From ids to vectors, with position and segment added; and from vectors to scores of words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.contracts import contract
from companion.models.transformer.blocks import make_norm
from companion.models.transformer.config import TransformerConfig
from companion.positions import sinusoidal_encoding


@contract(size=">= 1")
class Embedding(nn.Module):
    """Add up what is known about a token alone: the word, its position and its segment.

    Args:
        config: the model's shape.
        words: a word embedding to share; None means one of its own.
        size: number of ids; None means config.vocab_size.

    >>> embedding = Embedding(TransformerConfig(vocab_size=7, embed_dim=6, num_heads=3))
    >>> embedding(torch.tensor([[4, 5, 6]])).shape
    torch.Size([1, 3, 6])
    """

    def __init__(
        self,
        config: TransformerConfig,
        words: nn.Embedding | None = None,
        *,
        size: int | None = None,
    ) -> None:
        super().__init__()
        e = config.embed_dim
        if words is None:
            words = _draw_table(size or config.vocab_size, e)
        self.words = words
        self.scale = math.sqrt(e) if config.embedding_scale else 1.0
        self.sinusoidal = config.positions == "sinusoidal"
        self.places = None
        if config.positions == "learned":
            self.places = _draw_table(config.max_len, e)
        self.types = (
            _draw_table(config.num_types, e) if config.num_types else None
        )
        self.norm = make_norm(config) if config.embedding_norm else None
        self.dropout = nn.Dropout(config.dropout_p)

    @contract(tokens="ids: b n", offset="integers: b", types="ids: b n")
    def forward(
        self,
        tokens: Tensor,
        *,
        offset: int | Tensor = 0,
        types: Tensor | None = None,
    ) -> Tensor:
        """Embed (b, n) ids as (b, n, e).

        Args:
            tokens: ids.
            offset: position of the first token, the same for all sequences or one for each.
            types: segments; None means that all tokens are of segment 0.

        Raises:
            ValueError: positions beyond the learned ones, or segments where the model has none.
        """
        x: Tensor = self.words(tokens)
        if self.scale != 1:
            x = x * self.scale
        if self.sinusoidal:
            x = x + sinusoidal_encoding(
                tokens.shape[1], x.shape[-1], offset=offset, like=x
            )
        if self.places is not None:
            x = x + self.places(self._positions(tokens, offset))
        if self.types is not None:
            first = torch.zeros_like(tokens)
            x = x + self.types(first if types is None else types)
        elif types is not None:
            raise ValueError(
                "types: got some, wanted None: the model has no segments"
            )
        if self.norm is not None:
            x = self.norm(x)
        if self.dropout.training:
            x = self.dropout(x)
        return x

    if TYPE_CHECKING:
        __call__ = forward

    def _positions(self, tokens: Tensor, offset: int | Tensor) -> Tensor:
        """Return the positions of the tokens in the learned table, (n,) or (b, n)."""
        n = tokens.shape[1]
        steps = torch.arange(n, device=tokens.device)
        if isinstance(offset, Tensor):
            return steps + offset[:, None]
        if self.places is not None and offset + n > self.places.num_embeddings:
            raise ValueError(
                f"tokens: got {n} from position {offset} on, wanted at most "
                f"{self.places.num_embeddings} in all, max_len of the learned positions"
            )
        return steps + offset


@contract()
class Output(nn.Module):
    """Score every word by the product of its vector and the output of the last block.

    Args:
        config: the model's shape; unless config.tied is "none" the vectors are the embedding's.
        bias: add a learned number to every word's score.
    """

    def __init__(
        self, config: TransformerConfig, *, bias: bool = False
    ) -> None:
        super().__init__()
        own = config.tied == "none"
        self.embed_dim = config.embed_dim
        self.vectors = (
            _draw_table(config.vocab_size, config.embed_dim) if own else None
        )
        self.bias = (
            nn.Parameter(torch.zeros(config.vocab_size)) if bias else None
        )

    @contract(hidden="... embed_dim")
    def forward(self, hidden: Tensor, words: nn.Embedding) -> Tensor:
        """Compute (..., vocab_size) logits from (..., embed_dim).

        Args:
            hidden: output of the last block.
            words: the embedding of the words that are scored.
        """
        vectors = words if self.vectors is None else self.vectors
        return F.linear(hidden, vectors.weight, self.bias)

    if TYPE_CHECKING:
        __call__ = forward


def _draw_table(rows: int, width: int) -> nn.Embedding:
    """Draw an embedding of variance 1 / e, so that sqrt(e) times it has variance 1."""
    if torch.get_default_device().type == "meta":
        # To draw nothing, torch would import a thousand modules.
        nothing = torch.empty(rows, width)
        return nn.Embedding(rows, width, _weight=nothing)
    table = nn.Embedding(rows, width)
    nn.init.normal_(table.weight, std=width**-0.5)
    return table


def check_length(config: TransformerConfig, length: int) -> None:
    """Refuse to write more tokens than there are learned positions.

    Raises:
        ValueError: a length above config.max_len.
    """
    if config.positions == "learned" and length > config.max_len:
        raise ValueError(
            f"max_len: got {length} tokens in all, "
            f"wanted at most {config.max_len}, the learned positions"
        )
