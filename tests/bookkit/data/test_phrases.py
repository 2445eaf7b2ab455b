"""The phrase book: its format, and the phrases of the founding notebook."""

from __future__ import annotations

import string
from pathlib import Path

import bookkit.data.phrases
from bookkit.data.phrases import phrase_book
from companion.data.pairs import read_pairs

LETTERS = set(string.ascii_lowercase + " ")


def phrases() -> dict[str, str]:
    return {"".join(pair.source): "".join(pair.target) for pair in phrase_book()}


def test_the_phrases_of_the_founding_notebook_are_there() -> None:
    expected = {"hello": "hola", "how are you": "cómo estás", "good morning": "buenos días"}
    assert expected.items() <= phrases().items()


def test_english_sides_differ() -> None:
    assert len(phrases()) == len(phrase_book()) >= 70


def test_phrases_are_lower_case_without_punctuation() -> None:
    for english, spanish in phrases().items():
        assert set(english) <= LETTERS | {"'"}, english
        assert set(spanish) <= LETTERS | set("áéíóúüñ"), spanish
        for text in (english, spanish):
            assert text == " ".join(text.split())


def test_the_file_is_in_the_form_that_the_reader_takes() -> None:
    path = Path(bookkit.data.phrases.__file__).with_name("phrases.tsv")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(read_pairs(path)) == len(lines) == len(phrase_book())
    assert all(line.count("\t") in (1, 2) and line == line.strip() for line in lines)
