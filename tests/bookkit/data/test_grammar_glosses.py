"""Glosses: every Spanish word has one, and it agrees with the gold links where these decide."""

from __future__ import annotations

import pytest

from bookkit.data.grammar import english_glosses, english_spanish
from companion.data.pairs import Pair

PAIRS = english_spanish(3000, seed=11, combinations="all")


def test_every_word_of_the_grammar_has_a_gloss() -> None:
    for pair in PAIRS:
        glosses = english_glosses(pair.target)
        assert len(glosses) == len(pair.target)
        assert "?" not in glosses, pair.target


def test_a_gloss_is_the_word_that_the_gold_link_names() -> None:
    """The links come from the renderer, which knows nothing of glosses."""
    for kind in ("noun", "adjective", "determiner", "conjunction", "verb"):
        seen = 0
        # In "does not see" and "did not see" English puts the tense on another word.
        for pair in (pair for pair in PAIRS if kind != "verb" or "not" not in pair.source):
            for position, (english, said) in enumerate(linked(pair, kind)):
                seen += 1
                heads = [said, *said.split("/")]
                if kind == "verb":
                    heads += said.removeprefix("I ").removeprefix("will ").split()
                assert english in heads or (english, said) == ("an", "a"), (pair, position)
        assert seen > 300


def linked(pair: Pair, kind: str) -> list[tuple[str, str]]:
    """Return English word and gloss of the words of a class that have one sure link."""
    glosses = english_glosses(pair.target)
    found = []
    for row, name in enumerate(pair.classes):
        columns = [column for i, column in pair.sure if i == row]
        if name == kind and len(columns) == 1:
            found.append((pair.source[columns[0]], glosses[row]))
    return found


def test_sentences() -> None:
    for spanish, english in [
        ("ella la ve", "she her sees"),
        ("ella ve a la reina", "she sees (to) the queen"),
        ("él los está mirando", "he them is looking at"),
        ("los niños corren", "the boys run"),
        ("buscaré mi gran casa", "I will look for my great house"),
        ("yo no los estoy mirando", "I not them am looking at"),
        ("grandes casas o casas grandes", "great houses ? houses big"),
        ("sus casas son grandes", "his/her houses are big"),
        ("duerme la verdad", "sleeps the ?"),
    ]:
        assert " ".join(english_glosses(spanish.split())) == english


def test_a_string_is_refused() -> None:
    with pytest.raises(TypeError, match="wanted a sequence of words"):
        english_glosses("ella trabaja")


def test_no_words_have_no_glosses() -> None:
    assert english_glosses([]) == []
