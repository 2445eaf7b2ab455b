"""The phrase book, the sentences of this book, and the running sentence in the plane."""

import re
import string

import numpy as np

from bookkit.data.phrases import phrase_book
from bookkit.data.plane import plane_words
from bookkit.data.sentences import FILE, LONGEST, SYMBOLS, sentences
from companion.data.pairs import read_pairs


def test_the_phrase_book_is_lower_case_and_in_the_form_that_the_reader_takes() -> None:
    book = {"".join(pair.source): "".join(pair.target) for pair in phrase_book()}
    of_the_notebook = {"hello": "hola", "how are you": "cómo estás", "good morning": "buenos días"}
    assert of_the_notebook.items() <= book.items()
    letters = set(string.ascii_lowercase + " ")
    for english, spanish in book.items():
        assert set(english) <= letters | {"'"}, english
        assert set(spanish) <= letters | set("áéíóúüñ"), spanish
        assert (english, spanish) == (" ".join(english.split()), " ".join(spanish.split()))
    path = FILE.with_name("phrases.tsv")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(read_pairs(path)) == len(lines) == len(phrase_book()) == len(book) >= 70
    assert all(line.count("\t") in (1, 2) and line == line.strip() for line in lines)


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
