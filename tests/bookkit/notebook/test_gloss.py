import re
from xml.etree import ElementTree

import pytest

from bookkit.notebook import Gloss, gloss, gloss_pair
from companion.data.pairs import Pair

RUNNING = gloss(
    "ella trabaja en la casa nueva", "she works in the house new", "she works in the new house"
)


def html(shown: Gloss) -> ElementTree.Element:
    return ElementTree.fromstring(shown.html())


def test_every_word_has_its_english_word_under_it() -> None:
    lines = repr(RUNNING).splitlines()
    assert lines[2] == "“she works in the new house”"
    starts = [[word.start() for word in re.finditer(r"\S+", line)] for line in lines[:2]]
    assert starts[0] == starts[1]
    rubies = list(html(RUNNING).iter("ruby"))
    assert [ruby.text for ruby in rubies] == lines[0].split()
    assert [ruby.findtext("rt") for ruby in rubies] == lines[1].split()


def test_a_screen_reader_learns_the_languages() -> None:
    root = html(RUNNING)
    assert root[0].attrib["lang"] == "es"
    assert {rt.attrib["lang"] for rt in root.iter("rt")} == {"en"}
    assert "lang" not in root[1].attrib
    assert html(gloss("la", "the", language="fr"))[0].attrib["lang"] == "fr"


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
