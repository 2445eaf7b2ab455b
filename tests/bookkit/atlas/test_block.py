"""Drawings: everything in its frame, a bar for each layer, and nothing but known shapes."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from bookkit.atlas.block import LETTERS, WIDTH, draw_block, layer_line, legend
from bookkit.atlas.rows import AtlasRow, load_atlas
from bookkit.atlas.shapes import Drawing
from bookkit.playables.output import style_of

ROWS = load_atlas().rows
WIDEST = 0.5  # of its size, that a letter of the book takes on average, in bold


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.model_type)
def test_a_drawing_stays_in_its_frame(row: AtlasRow) -> None:
    drawing = draw_block(row.spec)
    assert drawing.width == WIDTH
    for letter, look, *rest in drawing.shapes:
        if letter != "t":
            continue
        x, y, words = float(rest[0]), float(rest[1]), str(rest[2])
        long = WIDEST * LETTERS * len(words)
        left = x - long / 2 if "middle" in str(look) else x
        assert left >= -1, words
        assert left + long <= WIDTH, words
        assert LETTERS - 3 <= y <= drawing.height + 1, words


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.model_type)
def test_every_layer_has_a_bar(row: AtlasRow) -> None:
    paths = re.findall(r' d="([^"]*)"', layer_line(row.spec, "layers"))
    assert sum(path.count("M") for path in paths) == len(row.spec.layers)
    (strip,) = [shape for shape in draw_block(row.spec).shapes if shape[0] == "s"]
    assert len(str(strip[-1])) == len(row.spec.layers)
    drawn = draw_block(row.spec).svg("layers")
    assert len(re.findall(r"M0 [\d.]+h", drawn)) == len(row.spec.layers)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.model_type)
def test_the_drawing_says_what_the_specification_says(row: AtlasRow) -> None:
    drawing = draw_block(row.spec)
    words = " ".join(str(shape[-1]) for shape in drawing.shapes if shape[0] == "t")
    mixer = row.spec.layers[0].mixer
    heads = getattr(mixer, "num_heads", None)
    assert heads is None or f"{heads} query heads" in words or f"{heads} heads" in words
    norms = sum(shape[1] == "norm" for shape in drawing.shapes)
    layer = row.spec.layers[-1]
    assert (norms > 0) == (layer.pre_norm is not None or layer.post_norm is not None)


def test_a_drawing_is_svg_that_can_be_read() -> None:
    row = load_atlas().row("gpt_oss")
    svg = draw_block(row.spec).svg(legend(row.spec))
    root = ElementTree.fromstring(svg)
    assert root.attrib["role"] == "img"
    assert "36 layers" in root.attrib["aria-label"]


def test_every_look_has_a_style() -> None:
    looks = {
        look
        for row in ROWS
        for shape in draw_block(row.spec).shapes
        for look in str(shape[1]).split()
    }
    style = style_of("atlas")
    lacking = [look for look in sorted(looks) if not re.search(rf"\.am-atlas-{look}\b", style)]
    assert set(lacking) <= {"full"}, "a full layer looks as every layer does"


def test_the_same_specification_gives_the_same_drawing() -> None:
    row = ROWS[0]
    assert json.dumps(draw_block(row.spec).plain()) == json.dumps(draw_block(row.spec).plain())


def test_words_cannot_leave_their_place() -> None:
    drawing = Drawing(10, 10)
    drawing.text("small", 1, 2, "<b>&")
    assert "&lt;b&gt;&amp;</text>" in drawing.svg('"x"')
