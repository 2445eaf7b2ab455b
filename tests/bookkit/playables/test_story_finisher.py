"""The model of stories in Node: its chances are the package's; a clock counts what is read."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from bookkit.data.stories import stories, surprisals
from bookkit.figures import finish_story, writing_clock
from bookkit.playables.finishing import BEGINNINGS, LEVELS, story_model
from bookkit.playables.weights import quantize, restore
from companion.data.texts import text_ids
from companion.models.transformer import LanguageModel
from tests.bookkit.playables.node import ask

WHOLE, VOCAB = story_model()


@pytest.fixture(scope="module")
def rounded() -> LanguageModel:
    model = LanguageModel(WHOLE.config)
    weights = {name: one if one.ndim < 2 else restore(*quantize(one, LEVELS))
               for name, one in WHOLE.state_dict().items()}  # fmt: skip
    model.load_state_dict(weights)
    return model.eval()


def test_the_module_computes_the_chances_of_the_package(rounded: LanguageModel) -> None:
    first = BEGINNINGS.index("a")
    texts = [story[1:cut] for story, cut in zip(stories(60, seed=5), range(1, 60), strict=False)
             if story[0] == "a"]  # fmt: skip
    states: list[dict[str, Any]] = [{"place": first, "written": VOCAB.encode(one)} for one in texts]
    states += [{"place": place} for place in range(len(BEGINNINGS))]
    model = rounded.double()
    asked = [["a", *text] for text in texts] + [beginning.split() for beginning in BEGINNINGS]
    for shown, words in zip(ask(finish_story(), *states), asked, strict=True):
        with torch.no_grad():
            logits = model(torch.tensor([[VOCAB.bos_id, *VOCAB.encode(words)]]))
        chances = logits[0, -1].softmax(-1).numpy()
        np.testing.assert_allclose(shown["chances"], chances, atol=1e-6)
        assert shown["order"][0] == chances.argmax()


def test_rounded_weights_cost_less_than_a_hundredth_of_a_nat(rounded: LanguageModel) -> None:
    texts = stories(200, seed=9)
    assert {word for text in texts for word in text} <= set(VOCAB.tokens)
    with torch.no_grad():
        losses = [float(one.float().loss(*text_ids(texts, VOCAB))) for one in (rounded, WHOLE)]
    nats = [one for text in texts for one in surprisals(text)]
    assert abs(losses[0] - losses[1]) < 0.01
    assert 0 < losses[0] - math.fsum(nats) / len(nats) < 0.05


def test_the_clock_counts_words_and_sums_times() -> None:
    counted, timed = ask(writing_clock(), {}, {"spent": [[1, 2, 3], [2, 4, 6]]})
    assert counted["reads"] == timed["reads"] == [60, 60 * 61 // 2]
    assert not counted["timed"]
    assert counted["most"] == counted["sums"][1][-1] == 60 * 61 // 2
    assert timed["sums"] == [[1, 3, 6], [2, 6, 12]]
    assert timed["each"] == [2, 4]
