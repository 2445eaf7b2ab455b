"""The phrase book, the sentences of this book, and the running sentence in the plane."""

import re

import numpy as np

from bookkit.data.plane import plane_words
from bookkit.data.sentences import FILE, LONGEST, SYMBOLS, sentences


def test_every_sentence_is_short_plain_and_alone() -> None:
    text = FILE.read_text(encoding="utf8")
    lines = text.splitlines()
    assert len(set(lines)) == len(lines) > 2500
    assert {letter for line in lines for letter in line} == set(SYMBOLS)
    assert max(map(len, lines)) <= LONGEST
    assert not [line for line in lines if line != line.strip()]
    assert not re.search(r"https?|\.ipynb|{|cite:|\(\)", text)
    assert text.count("attention") > 100
    train, test = sentences()
    assert len(test) == len(lines) // 10
    assert (train, test) == sentences()
    assert sorted("".join(one) for one in (*train, *test)) == sorted(lines)


def test_the_running_sentence_lies_in_the_plane() -> None:
    words, vectors = plane_words()
    assert " ".join(words) == "she works in the new house"
    assert np.unique(vectors, axis=0).shape == (6, 2)
    assert (np.linalg.norm(vectors, axis=-1) > 0).all()
    vectors[:] = 0
    assert plane_words()[1].any(), "a caller changed more than a copy"
