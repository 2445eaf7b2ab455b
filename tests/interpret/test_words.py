"""Models as functions of their weights: their own give their own output; others change one word."""

from itertools import product
from typing import Any

import pytest
import torch
from torch import Generator

from companion.interpret import classifier_read, translator_read
from companion.models.classifier import AttentionClassifier, ClassifierConfig
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
from tests.batches import make_batch

BATCH = make_batch([0, 1, 2])


def make_model(attention: Any, query: Any, cell: Any, feeding: bool | None = None) -> Seq2Seq:
    torch.manual_seed(5)
    config = Seq2SeqConfig(
        17, 19, 5, 14, attention, query, cell, dropout_p=0.1, input_feeding=feeding
    )
    return Seq2Seq(config).double().eval()


def test_its_own_weights_give_what_a_translator_says() -> None:
    fed = "dot", "present", "gru", True  # the step before is read, too
    variants: list[Any] = [
        *product(("additive", "dot", "general"), ("previous", "present"), ("gru", "lstm")), fed
    ]  # fmt: skip
    for variant in variants:
        model = make_model(*variant)
        logits, weights = model(BATCH, need_weights=True)
        read, own = translator_read(model, BATCH)
        torch.testing.assert_close(own, weights)
        torch.testing.assert_close(read(own), logits.softmax(-1))
        assert not model.attention._forward_hooks  # type: ignore[union-attr]


def test_other_weights_change_the_word_where_they_are() -> None:
    for query in ("previous", "present"):
        model = make_model("additive", query, "gru")
        read, own = translator_read(model, BATCH)
        other = own.clone()
        other[:, 1] = own[:, 1].flip(-1)
        changed = (read(other) - read(own)).abs().sum(-1) > 1e-9
        assert changed[:, 1].all()
        assert changed.sum() == len(changed)
        weights = own.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(read(weights)[..., 0].sum(), weights)
        assert gradient.abs().sum() > 0


def test_a_state_may_blend_by_hand() -> None:
    """In Luong's order the weights enter the output alone: W_c [c; s], by hand."""
    model = make_model("dot", "present", "gru")
    read, own = translator_read(model, BATCH)
    shape = own.shape
    other = torch.rand(shape, generator=Generator().manual_seed(1), dtype=torch.float64).softmax(-1)
    encoded = model.encode(BATCH.source, BATCH.source_lengths)
    states, _ = model.decoder(model.target_embedding(BATCH.target_in), encoded.start[0][None])
    context = torch.einsum("bqk,bkh->bqh", other, encoded.memory)
    hidden = torch.tanh(model.combine(torch.cat((context, states), -1)))
    torch.testing.assert_close(read(other), model.output(hidden).softmax(-1))


def test_a_classifier_as_a_function_of_its_weights() -> None:
    torch.manual_seed(6)
    model = AttentionClassifier(ClassifierConfig(17, 3, encoder="gru", embed_dim=6)).double()
    logits, weights = model(BATCH.source, BATCH.source_lengths, need_weights=True)
    read = classifier_read(model, model.encode(BATCH.source, BATCH.source_lengths))
    torch.testing.assert_close(read(weights), logits.softmax(-1))
    assert not torch.allclose(read(weights.flip(-1)), logits.softmax(-1))


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match="model: got one without attention"):
        translator_read(make_model("none", None, "gru"), BATCH)
    read, own = translator_read(make_model("dot", "present", "gru"), BATCH)
    with pytest.raises(ValueError, match="weights: got shape"):
        read(own[:, 1:])
