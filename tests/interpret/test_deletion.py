"""Leave-one-out: against sentences that are written again without the word, and encoded anew."""

import pytest
import torch
from torch import Tensor

from companion.data.batching import collate
from companion.data.pairs import Pair
from companion.data.vocabulary import Vocabulary
from companion.interpret import leave_one_out
from companion.models.classifier import AttentionClassifier, ClassifierConfig

SENTENCES = ["the old man sees the red house", "he sings", "she looks for it now"]
VOCAB = Vocabulary.from_tokens(sentence.split() for sentence in SENTENCES)
BATCH = collate([Pair(tuple(sentence.split()), ()) for sentence in SENTENCES], VOCAB, VOCAB)


def without(sentence: str, place: int) -> str:
    words = sentence.split()
    return " ".join(words[:place] + words[place + 1 :])


def apart(p: Tensor, q: Tensor) -> float:
    total: float = sum(abs(a - b) for a, b in zip(p.tolist(), q.tolist(), strict=True))
    return total / 2


@pytest.mark.parametrize("encoder", ["embeddings", "gru"])
def test_a_classifier_reads_the_shorter_sentence(encoder: str) -> None:
    torch.manual_seed(3)
    config = ClassifierConfig(len(VOCAB), 3, embed_dim=6, encoder=encoder)  # type: ignore[arg-type]
    model = AttentionClassifier(config).double()

    def say(tokens: Tensor, lengths: Tensor) -> Tensor:
        return model(tokens, lengths).softmax(-1)

    def alone(sentence: str) -> Tensor:
        ids = torch.tensor([VOCAB.encode(sentence.split())])
        return say(ids, torch.tensor([ids.shape[1]]))[0]

    effects = leave_one_out(say, BATCH.source, BATCH.source_lengths)
    assert effects.shape == (3, 7)
    for row, sentence in enumerate(SENTENCES):
        words = len(sentence.split())
        wanted = [apart(alone(sentence), alone(without(sentence, j))) for j in range(words)]
        assert effects[row, :words].tolist() == pytest.approx(wanted, abs=1e-12)
        assert effects[row, words:].abs().sum() == 0

    def say_twice(tokens: Tensor, lengths: Tensor) -> Tensor:
        return torch.stack([say(tokens, lengths)] * 2, 1)  # as a translator says several words

    twice = leave_one_out(say_twice, BATCH.source, BATCH.source_lengths)
    torch.testing.assert_close(twice, torch.stack([effects] * 2, 1))


def test_wrong_calls_are_refused() -> None:
    def predict(tokens: Tensor, lengths: Tensor) -> Tensor:
        return torch.ones(len(tokens), 2) / 2

    tokens = torch.zeros(2, 3, dtype=torch.int64)
    with pytest.raises(ValueError, match="wanted at least 2"):
        leave_one_out(predict, tokens, torch.tensor([3, 1]))
