"""The classifier: against loops, padding, uniform attention, wrong calls."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Generator, Tensor

from companion.models.classifier import AttentionClassifier, ClassifierConfig

TOKENS = torch.randint(11, (3, 5, 2), generator=Generator().manual_seed(1))
LENGTHS = torch.tensor([5, 1, 3])
QUESTION = torch.tensor([2, 0, 1])


def make_model(**options: Any) -> AttentionClassifier:
    torch.manual_seed(2)
    config = ClassifierConfig(11, 3, 4, embed_dim=6, **options)
    return AttentionClassifier(config).double()


def test_against_loops() -> None:
    model = make_model()
    logits, weights = model(TOKENS, LENGTHS, QUESTION, need_weights=True)
    layer: Any = model.attention
    for b in range(3):
        n = int(LENGTHS[b])
        states = [sum(model.embedding.weight[i] for i in TOKENS[b, j]) for j in range(n)]
        query = model.question.weight[QUESTION[b]]
        scores = [
            (torch.tanh(query @ layer.query_weight + h @ layer.key_weight) @ layer.vector).item()
            for h in states
        ]
        total = sum(math.exp(s) for s in scores)
        own = [math.exp(s) / total for s in scores]
        assert weights[b, :n].tolist() == pytest.approx(own, abs=1e-12)
        assert weights[b, n:].abs().sum() == 0
        context: Any = sum(w * h for w, h in zip(own, states, strict=True))
        hidden = torch.tanh(model.combine(torch.cat((context, query))))
        torch.testing.assert_close(logits[b], model.output(hidden))


def test_padding_changes_nothing() -> None:
    for attention in ("additive", "uniform"):
        for encoder in ("embeddings", "gru"):
            model = make_model(encoder=encoder, attention=attention)
            together = model(TOKENS, LENGTHS, QUESTION)
            for b in range(3):
                n = int(LENGTHS[b])
                alone = model(TOKENS[b : b + 1, :n], LENGTHS[b : b + 1], QUESTION[b : b + 1])
                torch.testing.assert_close(together[b], alone[0])


def test_uniform_attention_has_no_weights_to_train() -> None:
    model = make_model(attention="uniform")
    _, weights = model(TOKENS, LENGTHS, need_weights=True)
    torch.testing.assert_close(
        weights, (torch.arange(5) < LENGTHS[:, None]) / LENGTHS[:, None].double()
    )
    assert model.attention is None


def test_uniform_attention_over_embeddings_cannot_tell_who_has_what() -> None:
    """Values dealt out to the names anew leave the mean as it was."""
    model = make_model(attention="uniform")
    tokens = torch.tensor([[[0, 7], [1, 8], [2, 9]]])
    dealt = torch.tensor([[[0, 9], [1, 7], [2, 8]]])
    three, asked = torch.tensor([3]), torch.tensor([1])
    torch.testing.assert_close(model(tokens, three, asked), model(dealt, three, asked))
    attending = make_model()
    assert not torch.allclose(attending(tokens, three, asked), attending(dealt, three, asked))


def call(tokens: Tensor = TOKENS, lengths: Any = LENGTHS, question: Any = QUESTION) -> None:
    make_model()(tokens, lengths, question)


def test_wrong_calls_are_refused() -> None:
    cases: list[Any] = [
        ({"tokens": TOKENS.double()}, TypeError, "tokens: got dtype torch.float64"),
        ({"tokens": TOKENS[0, 0]}, ValueError, r"tokens: got shape \(2,\)"),
        ({"lengths": LENGTHS[:2]}, ValueError, r"lengths: got b = 2 in shape \(2,\), wanted 3"),
        ({"lengths": [5, 1, 3]}, TypeError, "lengths: got list"),
        ({"question": QUESTION[:1]}, ValueError, r"question: got b = 1 in shape \(1,\), wanted 3"),
    ]
    for given, error, message in cases:
        with pytest.raises(error, match=message):
            call(**given)


def test_wrong_shapes_are_refused() -> None:
    cases: list[Any] = [
        ({"classes": 0}, ValueError, "classes: got 0"),
        ({"embed_dim": 7}, ValueError, "embed_dim: got 7, wanted at least 2 and even"),
        ({"encoder": "lstm"}, ValueError, "encoder: got 'lstm'"),
        ({"attention": "none"}, ValueError, "attention: got 'none'"),
        ({"vocab_size": 2.5}, TypeError, "vocab_size: got float"),
        ({"questions": True}, TypeError, "questions: got bool"),
    ]
    for field, error, message in cases:
        with pytest.raises(error, match=message):
            ClassifierConfig(**{"vocab_size": 5, "classes": 2, **field})
