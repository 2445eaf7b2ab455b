"""Every architecture has its sentences, whose numbers come from its specification."""

from bookkit.atlas.rows import load_atlas
from bookkit.atlas.unusual import numbers_of, sentences, unusual


def test_every_row_has_its_sentences_and_no_sentence_is_left_over() -> None:
    rows = load_atlas().rows
    assert sentences().keys() == {row.model_type for row in rows}
    assert not [row.model_type for row in rows if "None" in unusual(row)]


def test_numbers_are_those_of_the_specification() -> None:
    row = load_atlas().row("gpt_oss")
    found = numbers_of(row.spec)
    assert (found["layers"], found["windows"], found["full"]) == (36, 18, 18)
    assert "a window of only 128 tokens" in unusual(row)
