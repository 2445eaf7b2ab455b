"""Glossed sentences: every word has its gloss below, and what is wrong is marked."""

from typing import Any

from bs4 import BeautifulSoup, Tag

from bookkit.figures import glossed_text

RIGHT = ["el", "hombre", "esperará", "a", "las", "mujeres"]
WROTE = ["el", "hombre", "que", "espera", "a", "las", "niñas"]
GLOSSES = ["the", "man", "who", "waits for", "(to)", "the", "girls"]


def shown(**options: Any) -> Tag:
    made = glossed_text(
        ("English", ["the", "man", "will", "wait"]), ("written", WROTE, GLOSSES), **options
    )
    page = BeautifulSoup(made._repr_html_(), "html.parser")
    assert page.div is not None
    return page.div


def test_every_word_stands_above_its_gloss() -> None:
    english, spanish = shown().select("p")
    assert english.get_text() == "Englishthe man will wait"
    pairs = [(word.b, word.small) for word in spanish.select(".am-glossed-word")]
    found = [(b.get_text(), small.get_text()) for b, small in pairs if b and small]
    assert found == list(zip(WROTE, GLOSSES, strict=True))
    assert {str(b["lang"]) for b, _ in pairs if b} == {"es"}


def test_words_that_the_right_sentence_does_not_have_are_marked() -> None:
    assert shown().select(".am-glossed-wrong") == []
    marked = shown(right=RIGHT).select(".am-glossed-wrong b")
    assert [word.get_text() for word in marked] == ["que", "espera", "niñas"]
    assert shown(right=WROTE).select(".am-glossed-wrong") == []
