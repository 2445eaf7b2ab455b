"""Leave-one-out: against sentences that are written again without the word, and encoded anew."""

from typing import Any

import pytest
import torch
from torch import Tensor

from companion.data.batching import collate
from companion.data.pairs import Pair
from companion.data.vocabulary import Vocabulary
from companion.interpret import leave_one_out
from companion.models.classifier import AttentionClassifier, ClassifierConfig
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig

SENTENCES = ["the old man sees the red house", "he sings", "she looks for it now"]
VOCAB = Vocabulary.from_tokens(sentence.split() for sentence in SENTENCES)
PAIRS = [Pair(tuple(s.split()), ("la", "casa")[: n + 1]) for n, s in enumerate(SENTENCES)]
TARGET = Vocabulary.from_tokens([("la", "casa")])
BATCH = collate(PAIRS, VOCAB, TARGET)


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


def test_a_translator_reads_the_shorter_sentence() -> None:
    torch.manual_seed(4)
    model = Seq2Seq(Seq2SeqConfig(len(VOCAB), len(TARGET), embed_dim=6, hidden_dim=8))
    model = model.double().eval()

    def say(source: Tensor, lengths: Tensor) -> Any:
        return model(BATCH._replace(source=source, source_lengths=lengths)).softmax(-1)

    def alone(sentence: str, target: tuple[str, ...]) -> Any:
        return model(collate([Pair(tuple(sentence.split()), target)], VOCAB, TARGET)).softmax(-1)[0]

    effects = leave_one_out(say, BATCH.source, BATCH.source_lengths)
    assert effects.shape == (3, BATCH.target_in.shape[1], 7)
    for row, (sentence, pair) in enumerate(zip(SENTENCES, PAIRS, strict=True)):
        whole = alone(sentence, pair.target)
        for j in range(len(pair.source)):
            less = alone(without(sentence, j), pair.target)
            for i in range(len(pair.target)):
                assert effects[row, i, j].item() == pytest.approx(
                    apart(whole[i], less[i]), abs=1e-12
                )


def test_wrong_calls_are_refused() -> None:
    def predict(tokens: Tensor, lengths: Tensor) -> Tensor:
        return torch.ones(len(tokens), 2) / 2

    tokens = torch.zeros(2, 3, dtype=torch.int64)
    with pytest.raises(ValueError, match="wanted at least 2"):
        leave_one_out(predict, tokens, torch.tensor([3, 1]))
    with pytest.raises(TypeError, match="predict: got dtype"):
        leave_one_out(lambda tokens, lengths: tokens, tokens, torch.tensor([3, 3]))
