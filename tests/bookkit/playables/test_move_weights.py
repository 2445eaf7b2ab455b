"""Weights to move, in Node: what the model says by them is what the package says."""

import numpy as np
import torch

from bookkit.figures import ReadSentence, move_weights
from companion.interpret import classifier_read, erased, top_places, total_variation
from companion.models.classifier import AttentionClassifier, ClassifierConfig
from tests.bookkit.playables.node import ask

WORDS = ["Ana: red", "Ben: blue", "Carl: red", "Dora: green"]


def test_answers_are_those_of_the_package() -> None:
    torch.manual_seed(5)
    sentences = []
    for config in (
        ClassifierConfig(7, 3, 1, 12, encoder="gru"),
        ClassifierConfig(7, 3, 4, 12, encoder="embeddings"),
    ):
        model = AttentionClassifier(config).double()
        with torch.no_grad():
            encoded = model.encode(
                torch.tensor([[[0, 4], [1, 5], [2, 4], [3, 6]]]),
                torch.tensor([4]),
                torch.tensor([config.questions - 1]),
            )
        answers = ["red", "blue", "green"]
        sentences.append(
            ReadSentence(config.encoder, "Which colour?", WORDS, [1], answers, model, encoded)
        )
    for which, one in enumerate(sentences):
        own = one.model.weights(one.encoded).detach()
        tried = [own, erased(own, top_places(own)), own.flip(-1), torch.eye(4).double()[:1]]
        states = [{"which": which, "weights": weights[0].tolist()} for weights in tried]
        read = classifier_read(one.model, one.encoded)
        for weights, shown in zip(tried, ask(move_weights(sentences), *states), strict=True):
            said = read(weights).detach()
            np.testing.assert_allclose(shown["now"], said[0], atol=1e-6)
            moved = total_variation(said, read(own).detach())
            np.testing.assert_allclose(shown["moved"], moved[0], atol=1e-6)
    assert ask(move_weights(sentences))[0]["taken"] == 0
