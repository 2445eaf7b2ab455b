"""The story to finish in Python: what it shows without a script, its weights, what it refuses."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from bs4 import BeautifulSoup

from bookkit.data.stories import next_words, stories, surprisals
from bookkit.figures import finish_story
from bookkit.playables.finishing import BEGINNINGS, MODEL, SHOWN
from bookkit.playables.weights import (
    SCALE,
    load_language_model,
    read_stored,
    save_language_model,
)
from companion.data.texts import text_ids

UNROUNDED = Path(__file__).with_name("story-model-16-bit.safetensors")


def test_the_likeliest_words_stand_in_order_with_their_chances() -> None:
    page = BeautifulSoup(finish_story()._repr_html_(), "html.parser")
    chances = [
        float(str(one["data-am-value"])) for one in page.select(".am-finisher-chance")
    ]  # fmt: skip
    assert len(chances) == SHOWN
    assert chances == sorted(chances, reverse=True)
    assert sum(chances) < 1
    words = [one.text for one in page.select(".am-finisher-word")]
    assert words[0] == "new"
    assert page.select(".am-finisher-given")[0].text == BEGINNINGS[0]


def test_words_may_be_written_at_first() -> None:
    page = BeautifulSoup(finish_story(written=2)._repr_html_(), "html.parser")
    assert page.select(".am-finisher-added")[0].text == "new house"


def test_the_running_sentence_is_finished_as_it_should_be() -> None:
    story = "a young queen works in the city . she finds a new house . she works in the"
    assert "the model expects new" in repr(finish_story([story]))


def test_every_beginning_is_that_of_a_story() -> None:
    for beginning in BEGINNINGS:
        assert next_words(beginning.split())


def test_stored_weights_are_within_half_a_step_of_the_unrounded() -> None:
    stored, whole = read_stored(MODEL), read_stored(UNROUNDED)
    assert MODEL.stat().st_size < 150_000
    for name, weight in whole.items():
        if name + SCALE not in stored:
            torch.testing.assert_close(stored[name], weight.float())
            continue
        scale, levels = stored[name + SCALE][:, None], stored[name].float()
        error = (levels * scale - weight.float()).abs()
        cut = levels.abs() == 127
        assert (error[~cut] <= 0.5001 * scale.expand_as(error)[~cut]).all()
        assert cut.float().mean() < 0.1


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


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    model, vocab = load_language_model(MODEL)
    save_language_model(model, vocab, tmp_path / "model", bits=32)
    again, words = load_language_model(tmp_path / "model")
    assert words == vocab
    assert again.config == model.config
    for name, weight in model.state_dict().items():
        assert torch.equal(again.state_dict()[name], weight)


@pytest.mark.parametrize(
    ("beginnings", "message"),
    [
        ([], "beginnings: got none"),
        (["a king sings", "the zebra"], "beginnings: got 'the zebra', wanted words that"),
        ([" "], "beginnings: got ' '"),
    ],
)
def test_wrong_beginnings_are_refused(beginnings: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        finish_story(beginnings)


def test_a_string_is_no_list_of_beginnings() -> None:
    with pytest.raises(TypeError, match="got the string"):
        finish_story("a king")
