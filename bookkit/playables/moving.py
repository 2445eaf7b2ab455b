"""The attention weights of a sentence, which a reader drags, and what the model says then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from bookkit.inputs import as_labels
from bookkit.playables.playable import Playable, playable

if TYPE_CHECKING:
    from torch import Tensor

    from companion.models.classifier import AttentionClassifier, Encoded


class ReadSentence(NamedTuple):
    """A sentence that a classifier has read."""

    name: str  # what its button says
    asked: str  # the question about the sentence
    words: Sequence[str]  # its n words
    deciding: Sequence[int]  # the places of those that decide
    answers: Sequence[str]  # what the classes are called
    model: AttentionClassifier
    encoded: Encoded  # from `model.encode`: this sentence alone, without padding
    found: Tensor | None = None  # (1, n) other weights with the same answer, if some were found


def move_weights(sentences: Sequence[ReadSentence], *, caption: str = "") -> Playable:
    """Show the weights of a few sentences to drag, and the answer that follows from them.

    What is dragged replaces the model's own weights; the states stay as they are.

    >>> import torch
    >>> from companion.models.classifier import AttentionClassifier, ClassifierConfig
    >>> model = AttentionClassifier(ClassifierConfig(vocab_size=3, classes=2, embed_dim=4))
    >>> read = model.encode(torch.tensor([[0, 2]]), torch.tensor([2]))
    >>> words, answers = ["a", "b"], ["no", "yes"]
    >>> move_weights([ReadSentence("b", "Is there a b?", words, [1], answers, model, read)])
    Weights to move: a drawing to play with.
    """
    return playable(
        "move-weights", "Weights to move", caption=caption, cases=[*map(_case, sentences)]
    )


def _case(read: ReadSentence) -> dict[str, Any]:
    """Return a sentence as its module reads it.

    Weights sum to 1, so `combine` may come before the blend: what a word adds is a vector of e
    numbers, the question and all constants included.
    """
    import torch

    model, encoded = read.model, read.encoded
    words = as_labels(read.words, "words", encoded.states.shape[1], "state")
    with torch.no_grad():
        asked = encoded.question[:, None].expand_as(encoded.states)
        parts = model.combine(torch.cat((encoded.states, asked), -1))[0]
        own = model.weights(encoded)[0]
    return {
        "name": read.name, "asked": read.asked, "words": words, "deciding": list(read.deciding),
        "answers": as_labels(read.answers, "answers", model.config.classes, "class"),
        "own": own.tolist(), "found": None if read.found is None else read.found[0].tolist(),
        "parts": parts.numpy(), "matrix": model.output.weight.detach().numpy(),
        "bias": model.output.bias.detach().numpy(),
    }  # fmt: skip
