"""The drawing of a recurrent step: its words, and that what it draws lies inside."""

from __future__ import annotations

import re

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


def test_boxes_and_arrows_lie_inside() -> None:
    drawing = BeautifulSoup(str(gru_step()), "html.parser")
    assert drawing.svg is not None
    _, _, width, height = map(int, str(drawing.svg["viewbox"]).split())
    for box in drawing.select("rect"):
        assert int(str(box["x"])) + int(str(box["width"])) <= width
        assert int(str(box["y"])) + int(str(box["height"])) <= height
    for arrow in drawing.select("svg > path"):
        assert all(int(number) <= width for number in re.findall(r"\d+", str(arrow["d"])))


def test_every_arrow_ends_at_a_box_or_at_the_straight_line() -> None:
    drawing = BeautifulSoup(str(gru_step()), "html.parser")
    boxes = [
        tuple(int(str(box[side])) for side in ("x", "y", "width", "height"))
        for box in drawing.select("rect")
    ]
    for arrow in drawing.select("svg > path"):
        x, y = _end(str(arrow["d"]))
        near = any(
            left - 9 <= x <= left + width + 9 and top - 9 <= y <= top + high + 9
            for left, top, width, high in boxes
        )
        assert near or abs(y - 52) <= 9, arrow["d"]


def _end(path: str) -> tuple[int, int]:
    """Return where a path of M, H and V ends."""
    x = y = 0
    for letter, numbers in re.findall(r"([MHV])([\d ]+)", path):
        values = [int(number) for number in numbers.split()]
        if letter == "M":
            x, y = values
        elif letter == "H":
            (x,) = values
        else:
            (y,) = values
    return x, y
