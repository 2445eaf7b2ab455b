"""Embeddings: what is added, scaled, normalised and dropped; and the scores of words."""

import math

import pytest
import torch

from companion.models.transformer import Embedding
from companion.positions import sinusoidal_encoding
from tests.transformers import config_of, each_variant, randomised

IDS = torch.tensor([[4, 5, 6, 5], [7, 8, 0, 0]])


def test_the_paper_adds_sines_to_scaled_words() -> None:
    for scaled in (True, False):
        embedding = randomised(Embedding(config_of("paper", embedding_scale=scaled)))
        words = embedding.words.weight[IDS] * (math.sqrt(12) if scaled else 1)
        expected = words + torch.from_numpy(sinusoidal_encoding(4, 12))
        torch.testing.assert_close(embedding(IDS), expected)


@each_variant
def test_an_offset_moves_the_positions(variant: str) -> None:
    embedding = randomised(Embedding(config_of(variant)))
    whole = embedding(torch.cat((IDS, IDS), 1))
    torch.testing.assert_close(embedding(IDS, offset=4), whole[:, 4:])
    unequal = embedding(IDS, offset=torch.tensor([4, 0]))
    torch.testing.assert_close(unequal, torch.stack((whole[0, 4:], whole[1, :4])))


def test_scaled_words_begin_with_variance_one() -> None:
    torch.manual_seed(0)
    config = config_of("paper", vocab_size=997, embed_dim=60)
    words = Embedding(config).words.weight * math.sqrt(60)
    assert 0.97 < words.var() < 1.03


def test_learned_positions_end() -> None:
    embedding = Embedding(config_of("gpt2"))
    assert embedding(IDS, offset=19).shape == (2, 4, 12)
    with pytest.raises(ValueError, match="tokens: got 4 from position 20 on, wanted at most 23"):
        embedding(IDS, offset=20)
