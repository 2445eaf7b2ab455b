"""The sentences of this book: what they consist of, and how they are divided."""

from __future__ import annotations

import re

from bookkit.data.sentences import FILE, LONGEST, SYMBOLS, sentences


def test_every_sentence_is_short_plain_and_alone() -> None:
    lines = FILE.read_text(encoding="utf8").splitlines()
    assert len(set(lines)) == len(lines) > 2500
    assert {letter for line in lines for letter in line} == set(SYMBOLS)
    assert max(map(len, lines)) <= LONGEST
    assert not [line for line in lines if line != line.strip()]


def test_they_are_prose_and_no_markup() -> None:
    text = FILE.read_text(encoding="utf8")
    assert not re.search(r"https?|\.ipynb|{|cite:|\(\)", text)
    assert text.count("attention") > 100


def test_one_in_ten_is_held_out_and_the_order_is_fixed() -> None:
    train, test = sentences()
    assert len(test) == (len(train) + len(test)) // 10
    assert (train, test) == sentences()
    lines = FILE.read_text(encoding="utf8").splitlines()
    assert sorted("".join(one) for one in (*train, *test)) == sorted(lines)
