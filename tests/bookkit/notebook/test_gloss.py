from xml.etree import ElementTree

import pytest

from bookkit.notebook import Gloss, gloss, gloss_pair
from companion.data.pairs import Pair


def html(shown: Gloss) -> ElementTree.Element:
    return ElementTree.fromstring(shown.html())


def test_signs_of_the_forms_are_written_so_that_they_show() -> None:
    shown = gloss("a<b $5", "x&y 5_%", "it's & more")
    assert html(shown)[0][0].text == "a<b"
    latex = shown._repr_latex_()
    assert (latex[0], latex[-1]) == ("$", "$")
    assert r"\text{x\&y} & \text{5\_\%}" in latex
    assert r"\text{a<b} & \text{\$5}" in latex


def test_a_word_without_its_own_english_is_refused() -> None:
    for words, meanings in [("la casa", "the"), ("la", "the house"), ("", "")]:
        with pytest.raises(ValueError, match=r"glosses: got \d for \d words, wanted one for each"):
            gloss(words, meanings)


def test_a_pair_is_glossed_by_its_sure_links() -> None:
    pair = Pair(
        ("he", "does", "not", "see"), ("no", "ve"), frozenset({(0, 2), (1, 3), (1, 0)}),
        frozenset({(0, 1)}),
    )  # fmt: skip
    assert repr(gloss_pair(pair)) == "no   ve\nnot  he-see\n“he does not see”"
    bare = gloss_pair(Pair(("red", "house"), ("casa", "roja"), frozenset({(0, 1)})))
    assert bare.glosses == ("house", "–")
