"""The story to finish: its chances in Node are the package's, its weights, what it refuses."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bookkit.data.stories import stories, surprisals
from bookkit.figures import finish_story
from bookkit.playables.finishing import BEGINNINGS, MODEL
from bookkit.playables.weights import SCALE, load_language_model, quantize, read_stored
from companion.data.texts import text_ids
from tests.bookkit.playables.node import ask

UNROUNDED = Path(__file__).with_name("story-model-16-bit.safetensors")


def ids_of(words: Sequence[str]) -> list[int]:
    return load_language_model(MODEL)[1].encode(words)


def by_the_package(words: Sequence[str]) -> Any:
    model, vocab = load_language_model(MODEL)
    with torch.no_grad():
        logits = model.double()(torch.tensor([[vocab.bos_id, *ids_of(words)]]))
    return logits[0, -1].softmax(-1).numpy()


def test_the_module_computes_the_chances_of_the_package() -> None:
    first = BEGINNINGS.index("a")
    texts = [story[1:cut] for story, cut in zip(stories(60, seed=5), range(1, 60), strict=False)
             if story[0] == "a"]  # fmt: skip
    made = finish_story()
    states = [{"place": first, "written": ids_of(text)} for text in texts]
    states += [{"place": place} for place in range(len(BEGINNINGS))]
    wanted = [by_the_package(["a", *text]) for text in texts]
    wanted += [by_the_package(beginning.split()) for beginning in BEGINNINGS]
    for shown, chances in zip(ask(made, *states), wanted, strict=True):
        np.testing.assert_allclose(shown["chances"], chances, atol=1e-6)
        assert shown["order"][0] == chances.argmax()


def test_stored_weights_are_within_half_a_step_of_the_unrounded() -> None:
    stored, whole = read_stored(MODEL), read_stored(UNROUNDED)
    assert MODEL.stat().st_size < 150_000
    for name, weight in whole.items():
        if name + SCALE not in stored:
            torch.testing.assert_close(stored[name], weight.float())
        else:
            levels, scale = quantize(weight.float())
            assert torch.equal(stored[name], levels)
            torch.testing.assert_close(stored[name + SCALE], scale)


def test_eight_bits_cost_less_than_a_hundredth_of_a_nat() -> None:
    texts = stories(200, seed=9)
    losses = []
    for path in (MODEL, UNROUNDED):
        model, vocab = load_language_model(path)
        with torch.no_grad():
            losses.append(float(model.loss(*text_ids(texts, vocab))))
    nats = [one for text in texts for one in surprisals(text)]
    assert abs(losses[0] - losses[1]) < 0.01
    assert 0 < losses[0] - math.fsum(nats) / len(nats) < 0.05
