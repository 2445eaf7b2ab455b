"""Every architecture has a few sentences, whose numbers come from its specification."""

from __future__ import annotations

import re
from string import Formatter

import pytest

from bookkit.atlas.rows import AtlasRow, load_atlas
from bookkit.atlas.unusual import UNUSUAL, numbers_of, unusual

ROWS = load_atlas().rows
# Names of models, of versions and of parts may have digits; amounts come from the specification.
NAMES = re.compile(r"\b[A-Z][\w.]*(?:[ -][A-Z]?\d[\w.]*)?")


def test_every_row_has_its_sentences_and_no_sentence_is_left_over() -> None:
    assert UNUSUAL.keys() == {row.model_type for row in ROWS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.model_type)
def test_they_are_one_to_three_whole_sentences(row: AtlasRow) -> None:
    said = unusual(row)
    sentences = re.split(r"(?<=[.?!]) (?=[A-Z])", said)
    assert 1 <= len(sentences) <= 3, sentences
    assert all(one[0].isupper() and one.endswith(".") for one in sentences)
    assert 8 <= len(said.split()) <= 75
    assert not re.search(r"\b(?:None|nan|inf)\b", said)


@pytest.mark.parametrize("name", UNUSUAL)
def test_no_amount_is_typed(name: str) -> None:
    plain = "".join(part for part, *_ in Formatter().parse(UNUSUAL[name]))
    assert not re.search(r"\d", NAMES.sub("", plain)), plain


def test_numbers_are_those_of_the_specification() -> None:
    row = load_atlas().row("gpt_oss")
    found = numbers_of(row.spec)
    assert (found["layers"], found["windows"], found["full"]) == (36, 18, 18)
    assert found["window"] == 128
    assert "a window of only 128 tokens" in unusual(row)
