"""Ids to vectors, the word, its place and its segment added; and vectors to scores of words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.models.transformer.blocks import make_norm
from companion.models.transformer.config import TransformerConfig
from companion.positions import sinusoidal_encoding


class Embedding(nn.Module):
    """Add up what is known of a token before any other token is looked at.

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
        self.words = _table(size or config.vocab_size, e) if words is None else words
        self.scale = math.sqrt(e) if config.embedding_scale else 1.0
        self.sinusoidal = config.positions == "sinusoidal"
        self.places = _table(config.max_len, e) if config.positions == "learned" else None
        self.types = _table(config.num_types, e) if config.num_types else None
        self.norm = make_norm(config) if config.embedding_norm else None
        self.dropout = nn.Dropout(config.dropout_p)

    def forward(
        self, tokens: Tensor, *, offset: int | Tensor = 0, types: Tensor | None = None
    ) -> Tensor:
        """Embed (b, n) ids as (b, n, e).

        Args:
            tokens: (b, n) ids.
            offset: place of the first token, a number or integers (b,), one a sequence.
            types: (b, n) segments; None means all are of segment 0.

        Raises:
            TypeError: tokens or segments that are no integers.
            ValueError: a sequence longer than the learned table, segments without embeddings, or
                of another shape than the tokens.
        """
        if tokens.dtype not in (torch.int64, torch.int32):
            raise TypeError(f"tokens: got dtype {tokens.dtype}, wanted integers, the ids of tokens")
        if tokens.ndim != 2:
            raise ValueError(f"tokens: got shape {tuple(tokens.shape)}, wanted (b, n)")
        if types is not None:
            self._check_types(types, tokens)
        x: Tensor = self.words(tokens)
        if self.scale != 1:
            x = x * self.scale
        if self.sinusoidal:
            x = x + sinusoidal_encoding(tokens.shape[1], x.shape[-1], offset=offset, like=x)
        if self.places is not None:
            x = x + self.places(self._places(tokens, offset, len(self.places.weight)))
        if self.types is not None:
            x = x + self.types(torch.zeros_like(tokens) if types is None else types)
        if self.norm is not None:
            x = self.norm(x)
        dropped: Tensor = self.dropout(x) if self.dropout.training else x
        return dropped

    if TYPE_CHECKING:
        __call__ = forward

    def _check_types(self, types: Tensor, tokens: Tensor) -> None:
        if self.types is None:
            raise ValueError("types: got some, wanted None: the model has no segments")
        if not isinstance(types, Tensor) or types.dtype not in (torch.int64, torch.int32):
            came = types.dtype if isinstance(types, Tensor) else type(types).__name__
            raise TypeError(f"types: got {came}, wanted a tensor of integers, the segments")
        if types.shape != tokens.shape:
            raise ValueError(
                f"types: got shape {tuple(types.shape)}, wanted {tuple(tokens.shape)}, "
                f"that of tokens"
            )

    def _places(self, tokens: Tensor, offset: int | Tensor, table: int) -> Tensor:
        length = tokens.shape[1]
        steps = torch.arange(length, device=tokens.device)
        if isinstance(offset, Tensor):
            return steps + offset[:, None]
        if offset + length > table:
            raise ValueError(
                f"tokens: got {length} from place {offset} on, wanted at most {table} in all, "
                f"max_len of the learned positions"
            )
        return steps + offset


class Output(nn.Module):
    """Score every word by the product of its vector and what the model computed.

    Args:
        config: the model's shape; unless config.tied is "none" the vectors are the embedding's.
        bias: add a learned number to every word's score.
    """

    def __init__(self, config: TransformerConfig, *, bias: bool = False) -> None:
        super().__init__()
        own = config.tied == "none"
        self.vectors = _table(config.vocab_size, config.embed_dim) if own else None
        self.bias = nn.Parameter(torch.zeros(config.vocab_size)) if bias else None

    def forward(self, hidden: Tensor, words: nn.Embedding) -> Tensor:
        """Compute (..., vocab_size) logits from (..., e).

        Args:
            hidden: (..., e).
            words: the embedding of the words that are scored.
        """
        vectors = words if self.vectors is None else self.vectors
        return F.linear(hidden, vectors.weight, self.bias)

    if TYPE_CHECKING:
        __call__ = forward


def _table(rows: int, width: int) -> nn.Embedding:
    """Draw an embedding of variance 1 / e, so that sqrt(e) times it has variance 1."""
    table = nn.Embedding(rows, width)
    nn.init.normal_(table.weight, std=width**-0.5)
    return table


def check_reach(config: TransformerConfig, length: int) -> None:
    """Refuse to write farther than learned positions reach.

    Raises:
        ValueError: a length above config.max_len.
    """
    if config.positions == "learned" and length > config.max_len:
        raise ValueError(
            f"max_len: got {length} tokens in all, "
            f"wanted at most {config.max_len}, the learned positions"
        )
