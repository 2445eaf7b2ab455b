from xml.etree import ElementTree

import pytest

from bookkit.notebook import Gloss, gloss


def html(shown: Gloss) -> ElementTree.Element:
    return ElementTree.fromstring(shown.html())


def test_signs_of_html_are_written_so_that_they_show() -> None:
    shown = gloss("a<b $5", "x&y 5_%", "it's & more")
    assert html(shown)[0][0].text == "a<b"


def test_a_word_without_its_own_english_is_refused() -> None:
    for words, meanings in [("la casa", "the"), ("la", "the house"), ("", "")]:
        with pytest.raises(ValueError, match=r"glosses: got \d for \d words, wanted one for each"):
            gloss(words, meanings)
