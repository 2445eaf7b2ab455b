"""The drawing of a recurrent step: what it names, and what it says to those who do not see it."""

from __future__ import annotations

from bs4 import BeautifulSoup

from bookkit.figures.recurrent import gru_step


def test_the_parts_of_a_cell_are_named() -> None:
    drawing = BeautifulSoup(str(gru_step()), "html.parser")
    words = [part.get_text() for part in drawing.select("text")]
    for name in ("old state", "the word", "reset gate", "update gate", "proposal", "new state"):
        assert words.count(name) == 1


def test_it_is_put_into_words() -> None:
    drawing = BeautifulSoup(str(gru_step()), "html.parser")
    assert drawing.svg is not None
    names = str(drawing.svg["aria-labelledby"]).split()
    said = " ".join(part.get_text() for name in names if (part := drawing.find(id=name)))
    assert "update gate decides which part" in said
    assert repr(gru_step()).startswith("One step of a gated recurrent unit. ")
