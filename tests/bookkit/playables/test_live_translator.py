"""The translator in the page, in Python: what it shows without a script, and what it refuses."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup, Tag

from bookkit.figures import live_translator, sentence_ribbons
from bookkit.playables.translator import BANDS, FILES, FOLDER, RUNNING
from bookkit.playables.weights import load_translator

LARGEST = 250_000  # bytes of a file that a reader's browser fetches


def figure_of(made: Any) -> Tag:
    figure = BeautifulSoup(made._repr_html_(), "html.parser").figure
    assert figure is not None
    return figure


def test_without_a_script_the_running_sentence_is_translated_and_joined() -> None:
    made = live_translator()
    assert made.data["right"] == made.data["written"]
    assert repr(made).startswith(
        "A translator in the page. she works in the new house → ella trabaja en la casa nueva. "
        "Source words above, target words below. ella looks most at "
    )
    (translation,) = load_translator(FOLDER / FILES["with"]).translate([RUNNING])
    assert translation.weights is not None
    np.testing.assert_allclose(made.data["rows"], translation.weights, atol=1e-4)
    ribbons = sentence_ribbons(RUNNING, made.data["written"], translation.weights)
    paths = [path["d"] for path in BeautifulSoup(ribbons, "html.parser").select("path.rib")]
    assert [path["d"] for path in figure_of(made).select("path.rib")] == paths


def test_every_spanish_word_has_its_meaning_below() -> None:
    words = figure_of(live_translator()).select("ruby")
    assert [(str(word.contents[0]), word.rt.text if word.rt else "") for word in words] == [
        ("ella", "she"),
        ("trabaja", "works"),
        ("en", "in"),
        ("la", "the"),
        ("casa", "house"),
        ("nueva", "new"),
    ]


def test_a_page_says_what_it_would_fetch_and_contains_none_of_it() -> None:
    files = live_translator().data["files"]
    assert files.keys() == FILES.keys()
    for name, said in files.items():
        content = (FOLDER / FILES[name]).read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        assert said == {
            "address": f"translator/{FILES[name]}?v={digest[:10]}",
            "bytes": len(content),
        }
        assert len(content) <= LARGEST
    assert len(live_translator()._repr_html_()) < 60_000


def test_a_notebook_may_contain_the_weights() -> None:
    files = live_translator(embedded=True).data["files"]
    for name, said in files.items():
        assert base64.b64decode(said["base64"]) == (FOLDER / FILES[name]).read_bytes()
        assert "address" not in said


def test_the_same_call_gives_the_same_bytes() -> None:
    assert live_translator()._repr_html_() == live_translator(list(RUNNING))._repr_html_()


def test_another_sentence_can_come_first() -> None:
    words = ["the", "man", "sees", "the", "house"]
    data = live_translator(words).data
    assert data["words"] == words
    assert np.array(data["rows"]).shape == (len(data["written"]), len(words))
    assert live_translator(["house", "the"]).data["right"] is None


def test_the_sentences_on_offer_have_all_lengths() -> None:
    lines = (FOLDER / FILES["sentences"]).read_text(encoding="utf-8").splitlines()
    english = [line.split("\t")[0].split() for line in lines]
    assert len({tuple(words) for words in english}) == len(lines) >= 300
    for low, high in BANDS:
        assert sum(low <= len(words) <= high for words in english) == len(lines) / len(BANDS)
    about = load_translator(FOLDER / FILES["with"])
    assert {word for words in english for word in words} <= set(about.source_vocab.tokens)


@pytest.mark.parametrize(
    ("sentence", "error", "message"),
    [
        ("she works", TypeError, "sentence: got the string 'she works', wanted a sequence of"),
        ([], ValueError, "sentence: got no words, wanted at least one"),
        (["the", "zebra"], ValueError, "sentence: got 'zebra', wanted words that the translator"),
    ],
    ids=["string", "empty", "unknown"],
)
def test_wrong_calls(sentence: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        live_translator(sentence)
