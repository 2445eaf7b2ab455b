"""A classifier whose attention can be looked at, replaced, or left out from the start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, overload

import torch
from torch import Tensor, nn

from companion.attention import attend, masked_softmax
from companion.contracts import contract
from companion.layers import AdditiveAttention
from companion.layers.reading import read_both_ways
from companion.masks import padding_mask


@contract(
    vocab_size=">= 1",
    classes=">= 1",
    questions=">= 1",
    embed_dim=">= 2 and even",
)
@dataclass(frozen=True)
class ClassifierConfig:
    """Shape of a classifier.

    Attributes:
        vocab_size: number of ids of words and their features.
        classes: number of classes.
        questions: number of questions that can be asked of a sentence.
        embed_dim: width of embeddings, and of the states that attention blends; even.
        encoder: "embeddings" (a state is its word's vector and knows no other word) or "gru" (a
            bidirectional recurrent layer has read the whole sentence).
        attention: "additive" (Bahdanau et al., 2015), with the question as its query; or
            "uniform": every word counts the same, in training as in use.
    """

    vocab_size: int
    classes: int
    questions: int = 1
    embed_dim: int = 32
    encoder: Literal["embeddings", "gru"] = "embeddings"
    attention: Literal["additive", "uniform"] = "additive"


class Encoded(NamedTuple):
    """Sentences as the classifier's attention sees them.

    Attributes:
        states: (b, k, e) one vector a word.
        mask: (b, k) boolean, True where a word stands.
        question: (b, e) the embedded questions.
    """

    states: Tensor
    mask: Tensor
    question: Tensor


class AttentionClassifier(nn.Module):
    """Decide about a sentence from a weighted mean of its words (Jain and Wallace, 2019).

    States h_j, a question u; weights are the softmax of v . tanh(u W + h_j U), the context c is
    the weighted mean of the states, and the logits are linear in tanh(W_c [c; u]).

    Args:
        config: the model's shape.

    >>> model = AttentionClassifier(ClassifierConfig(vocab_size=7, classes=3))
    >>> model(torch.tensor([[4, 5, 6]]), torch.tensor([3])).shape
    torch.Size([1, 3])
    """

    def __init__(self, config: ClassifierConfig) -> None:
        super().__init__()
        self.config = config
        e = config.embed_dim
        self.embedding = nn.Embedding(config.vocab_size, e)
        self.question = nn.Embedding(config.questions, e)
        self.encoder = (
            nn.GRU(e, e // 2, batch_first=True, bidirectional=True)
            if config.encoder == "gru"
            else None
        )
        self.attention = None
        if config.attention == "additive":
            self.attention = AdditiveAttention(e, e, e)
        self.combine = nn.Linear(2 * e, e)
        self.output = nn.Linear(e, config.classes)

    @contract(tokens="ids: b k [f]", lengths="lengths: b", question="ids: b")
    def encode(
        self, tokens: Tensor, lengths: Tensor, question: Tensor | None = None
    ) -> Encoded:
        """Read sentences: a word's vector is the sum of its features' embeddings.

        Args:
            tokens: ids of words, or of f features a word; padded at the end.
            lengths: number of words, each at least 1.
            question: ids; None asks question 0.
        """
        lengths = lengths.to(tokens.device, torch.int64)
        if question is None:
            question = lengths.new_zeros(len(tokens))
        states = self.embedding(tokens)
        states = states if tokens.ndim == 2 else states.sum(-2)
        if self.encoder is not None:
            states, _ = read_both_ways(self.encoder, states, lengths.cpu())
        mask = padding_mask(lengths, tokens.shape[1])[:, 0]
        return Encoded(states, mask, self.question(question))

    def weights(self, encoded: Encoded) -> Tensor:
        """Return the weight of every word, (b, k): a softmax of scores, or all alike.

        Args:
            encoded: from `encode`.
        """
        states, mask, question = encoded
        if self.attention is None:
            return masked_softmax(torch.zeros_like(states[..., 0]), mask)
        keys = self.attention.project(states)
        return masked_softmax(
            self.attention.score(question[:, None], keys)[:, 0], mask
        )

    def decide(self, weights: Tensor, encoded: Encoded) -> Tensor:
        """Return the logits (b, classes) that follow from the given weights.

        Args:
            weights: (b, k), the model's own or others.
            encoded: from `encode`.
        """
        context = attend(weights[:, None], encoded.states)[:, 0]
        joined = torch.cat((context, encoded.question), -1)
        logits: Tensor = self.output(torch.tanh(self.combine(joined)))
        return logits

    @overload
    def forward(
        self, tokens: Tensor, lengths: Tensor, question: Tensor | None = None, *,
        need_weights: Literal[False] = False,
    ) -> Tensor: ...  # fmt: skip
    @overload
    def forward(
        self, tokens: Tensor, lengths: Tensor, question: Tensor | None = None, *,
        need_weights: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...  # fmt: skip
    @contract()
    def forward(
        self, tokens: Tensor, lengths: Tensor, question: Tensor | None = None, *,
        need_weights: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
        """Score the classes of every sentence.

        Args:
            tokens: (b, k) ids, or (b, k, f); padded at the end.
            lengths: (b,) number of words, each at least 1.
            question: (b,) ids; None asks question 0.
            need_weights: also return the weights.

        Returns:
            (b, classes) logits; with `need_weights` also the (b, k) weights.
        """
        encoded = self.encode(tokens, lengths, question)
        weights = self.weights(encoded)
        logits = self.decide(weights, encoded)
        return (logits, weights) if need_weights else logits

    if TYPE_CHECKING:
        __call__ = forward
