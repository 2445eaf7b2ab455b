"""Embeddings: what is added, scaled, normalised and dropped; and the scores of words."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from companion.models.transformer import Embedding, Output
from companion.models.transformer.embedding import check_length
from companion.positions import sinusoidal_encoding
from tests.transformers import config_of, each_variant, randomised

IDS = torch.tensor([[4, 5, 6, 5], [7, 8, 0, 0]])


def test_the_paper_adds_sines_to_scaled_words() -> None:
    cases: list[Any] = [True, False]
    for scaled in cases:
        embedding = randomised(Embedding(config_of("paper", embedding_scale=scaled)))
        words = embedding.words.weight[IDS] * (math.sqrt(12) if scaled else 1)
        expected = words + torch.from_numpy(sinusoidal_encoding(4, 12))
        torch.testing.assert_close(embedding(IDS), expected)


def test_bert_adds_positions_and_segments_and_normalises() -> None:
    embedding = randomised(Embedding(config_of("bert")))
    types = torch.tensor([[0, 0, 1, 1], [0, 1, 1, 1]])
    total = embedding.words.weight[IDS] + embedding.places.weight[:4]
    total = total + embedding.types.weight[types]
    expected = F.layer_norm(total, (12,), embedding.norm.weight, embedding.norm.bias, 1e-5)
    torch.testing.assert_close(embedding(IDS, types=types), expected)
    assert torch.equal(embedding(IDS), embedding(IDS, types=torch.zeros_like(IDS)))


def test_without_positions_equal_words_are_equal() -> None:
    cases: list[Any] = ["llama", "paper"]
    for variant in cases:
        changes: dict[str, Any] = {} if variant == "llama" else {"positions": "none"}
        vectors = Embedding(config_of(variant, **changes)).eval()(IDS)
        assert torch.equal(vectors[0, 1], vectors[0, 3])


@each_variant
def test_an_offset_moves_the_positions(variant: str) -> None:
    embedding = randomised(Embedding(config_of(variant)))
    whole = embedding(torch.cat((IDS, IDS), 1))
    torch.testing.assert_close(embedding(IDS, offset=4), whole[:, 4:])
    unequal = embedding(IDS, offset=torch.tensor([4, 0]))
    torch.testing.assert_close(unequal, torch.stack((whole[0, 4:], whole[1, :4])))


def test_dropout_is_on_the_sum() -> None:
    torch.manual_seed(0)
    embedding = Embedding(config_of("paper", dropout_p=0.5))
    dropped, kept = embedding(IDS.repeat(40, 1)), embedding.eval()(IDS.repeat(40, 1))
    zero = dropped == 0
    assert 0.45 < zero.float().mean() < 0.55
    torch.testing.assert_close(dropped[~zero], 2 * kept[~zero])


def test_scaled_words_begin_with_variance_one() -> None:
    torch.manual_seed(0)
    config = config_of("paper", vocab_size=997, embed_dim=60)
    words = Embedding(config).words.weight * math.sqrt(60)
    assert 0.97 < words.var() < 1.03


def test_words_are_scored_by_their_own_or_the_embeddings_vectors() -> None:
    cases: list[Any] = ["none", "output", "all"]
    for tied in cases:
        config, hidden = config_of("paper", tied=tied), torch.randn(2, 3, 12).double()
        words = randomised(Embedding(config)).words
        output = randomised(Output(config, bias=True), std=0.7)
        vectors = words if output.vectors is None else output.vectors
        assert (output.vectors is None) == (tied != "none")
        expected = hidden @ vectors.weight.T + output.bias
        torch.testing.assert_close(output(hidden, words), expected)


def test_wrong_tokens_are_refused() -> None:
    embedding = Embedding(config_of("gpt2"))
    with pytest.raises(TypeError, match=r"tokens: got dtype torch.float32, wanted 32- or 64-bit"):
        embedding(IDS.float())
    with pytest.raises(ValueError, match=r"tokens: got shape \(4,\), wanted \(b, n\)"):
        embedding(IDS[0])
    with pytest.raises(ValueError, match="types: got some, wanted None"):
        embedding(IDS, types=IDS)
    with pytest.raises(ValueError, match=r"types: got n = 3 in shape \(2, 3\), wanted 4 as in tok"):
        Embedding(config_of("bert"))(IDS, types=IDS[:, 1:])
    assert embedding(IDS, offset=19).shape == (2, 4, 12)
    with pytest.raises(ValueError, match="tokens: got 4 from position 20 on, wanted at most 23"):
        embedding(IDS, offset=20)


def test_learned_positions_end_and_others_do_not() -> None:
    check_length(config_of("gpt2"), 23)
    check_length(config_of("paper"), 10_000)
    with pytest.raises(ValueError, match="max_len: got 24 tokens in all, wanted at most 23"):
        check_length(config_of("gpt2"), 24)
