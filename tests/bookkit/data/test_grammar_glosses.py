"""Glosses: every Spanish word has one, and it agrees with the gold links where these decide."""

from collections import Counter

import pytest

from bookkit.data.grammar import english_glosses, english_spanish


def test_a_gloss_is_the_word_that_the_gold_link_names() -> None:
    """The links come from the renderer, which knows nothing of glosses."""
    seen = Counter[str]()
    for pair in english_spanish(3000, seed=11, combinations="all"):
        glosses = english_glosses(pair.target)
        assert len(glosses) == len(pair.target)
        assert "?" not in glosses, pair.target
        for row, column in pair.sure:
            kind, english, said = pair.classes[row], pair.source[column], glosses[row]
            # In "does not see" and "did not see" English puts the tense on another word.
            if kind == "verb" and "not" in pair.source:
                continue
            if kind in ("noun", "adjective", "determiner", "conjunction", "verb"):
                heads = [said, *said.split("/")]
                if kind == "verb":
                    heads += said.removeprefix("I ").removeprefix("will ").split()
                assert english in heads or (english, said) == ("an", "a"), (pair, row)
                seen[kind] += 1
    assert len(seen) == 5
    assert min(seen.values()) > 300


def test_sentences() -> None:
    for spanish, english in [
        ("", ""),
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
    with pytest.raises(TypeError, match="wanted a sequence of words"):
        english_glosses("ella trabaja")
