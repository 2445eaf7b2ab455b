"""The classifier: against loops, padding, uniform attention, wrong calls."""

import math
from typing import Any

import pytest
import torch
from torch import Generator

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


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"question: got b = 1 in shape \(1,\), wanted 3"):
        make_model()(TOKENS, LENGTHS, QUESTION[:1])
    with pytest.raises(ValueError, match="embed_dim: got 7, wanted at least 2 and even"):
        ClassifierConfig(vocab_size=5, classes=2, embed_dim=7)
