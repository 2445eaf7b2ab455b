"""Drawings: everything in its frame, a bar for each layer, and nothing but known shapes."""

import re

from bookkit.atlas.block import LETTERS, WIDTH, draw_block
from bookkit.atlas.rows import load_atlas
from bookkit.playables.playable import style_of

ROWS = load_atlas().rows
WIDEST = 0.5  # of its size, that a letter of the book takes on average, in bold


def test_words_stay_in_the_frame() -> None:
    for row in ROWS:
        drawing = draw_block(row.spec)
        assert drawing.width == WIDTH
        for look, x, y, words in (shape[1:] for shape in drawing.shapes if shape[0] == "t"):
            long = WIDEST * LETTERS * len(str(words))
            left = float(x) - long / 2 if "middle" in str(look) else float(x)
            assert -1 <= left <= WIDTH - long, (row.model_type, words)
            assert LETTERS - 3 <= float(y) <= drawing.height + 1, (row.model_type, words)


def test_layers_heads_and_norms_are_those_of_the_specification() -> None:
    for row in ROWS:
        drawing, layers = draw_block(row.spec), row.spec.layers
        (strip,) = [shape for shape in drawing.shapes if shape[0] == "s"]
        bars = len(re.findall(r"M0 [\d.]+h", drawing.svg("layers")))
        assert len(str(strip[-1])) == bars == len(layers), row.model_type
        words = " ".join(str(shape[-1]) for shape in drawing.shapes if shape[0] == "t")
        heads = getattr(layers[0].mixer, "num_heads", None)
        told = f"{heads} query heads" in words or f"{heads} heads" in words
        assert heads is None or told, row.model_type
        has_norms = layers[-1].pre_norm is not None or layers[-1].post_norm is not None
        assert any(shape[1] == "norm" for shape in drawing.shapes) == has_norms, row.model_type


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
