"""Scenes: what is drawn is what is said, where it is said to be."""

from itertools import pairwise
from typing import Any

import numpy as np

from bookkit.data import scenes as drawn
from bookkit.data.scenes import COLOURS, HELD_OUT, SHAPES, Scene, scenes

SCENES = scenes(150, seed=3, combinations="all")


def nearest_colour(pixel: Any) -> str:
    """Name the colour that a pixel is nearest to."""
    apart = {
        name: int(abs(np.array(rgb) - pixel.astype(int)).sum()) for name, rgb in COLOURS.items()
    }
    return min(apart, key=apart.__getitem__)


def phrases(scene: Scene) -> list[tuple[str, str]]:
    found = [[w for w, c in zip(scene.words, scene.classes, strict=True) if c == kind]
             for kind in ("colour", "shape")]  # fmt: skip
    return list(zip(*found, strict=True))


def shape_in(covered: Any) -> str:
    """Tell a shape from which pixels of its box it covers, by other means than it was drawn."""
    side = len(covered)
    rows = covered.sum(1)
    if covered.all():
        return "square"
    if (np.diff(rows) >= 0).all():
        return "triangle"
    corner = covered[: side // 3 - 1, : side // 3 - 1]
    return "cross" if len(set(rows.tolist())) == 2 and not corner.any() else "circle"


def test_each_box_holds_the_shape_and_the_colour_that_the_words_say() -> None:
    for scene in SCENES:
        boxes = [scene.boxes[scene.classes.index("shape")][0], scene.boxes[-1][0]]
        corner = any((0.5, 0.5) in box for box in boxes)
        ground = scene.image[-1, -1] if corner else scene.image[0, 0]
        painted = (scene.image != ground).any(-1)
        assert painted.sum() == sum(
            painted[b.top : b.bottom, b.left : b.right].sum() for b in boxes
        )
        for (colour, shape), box in zip(phrases(scene), boxes, strict=True):
            window = painted[box.top : box.bottom, box.left : box.right]
            assert window.any(0).all()
            assert window.any(1).all()
            assert shape_in(window) == shape
            middle = scene.image[(box.top + box.bottom) // 2, (box.left + box.right) // 2]
            assert nearest_colour(middle) == colour


def test_the_caption_begins_with_the_upper_or_left_shape() -> None:
    for scene in SCENES:
        first, second = scene.boxes[0][0], scene.boxes[-1][0]
        if "above" in scene.words:
            assert first.bottom < second.top
            assert abs(first.left + first.right - second.left - second.right) <= 8
        else:
            assert scene.words[3:5] == ("left", "of")
            assert first.right < second.left


def test_words_have_classes_and_boxes() -> None:
    said: set[str] = set()
    for scene in SCENES:
        assert len(scene.words) == len(scene.classes) == len(scene.boxes) <= drawn.LONGEST
        assert set(scene.words) <= set(drawn.VOCABULARY)
        assert set(scene.classes) == set(drawn.WORD_CLASSES)
        for word, after in pairwise(scene.words):
            assert word not in ("a", "an") or (word == "an") == (after == "orange")
        for word, kind, boxes in zip(scene.words, scene.classes, scene.boxes, strict=True):
            assert len(boxes) == (2 if kind == "relation" else 1)
            assert (word in COLOURS) == (kind == "colour")
            assert (word in SHAPES) == (kind == "shape")
            said.add(word)
    assert said == set(drawn.VOCABULARY)


def test_held_out_combinations_are_never_seen() -> None:
    assert {colour for colour, _ in HELD_OUT} == set(COLOURS)
    assert {shape for _, shape in HELD_OUT} == set(SHAPES)
    assert not HELD_OUT - set(drawn.PHRASES)
    for scene in scenes(200, seed=4):
        assert not HELD_OUT & set(phrases(scene))
    firsts = 0
    for scene in scenes(200, seed=5, combinations="held_out"):
        held_out = [phrase in HELD_OUT for phrase in phrases(scene)]
        assert sum(held_out) == 1
        firsts += held_out[0]
    assert 60 < firsts < 140


def test_a_seed_decides_the_scenes() -> None:
    again = scenes(5, seed=3, combinations="all")
    for one, other in zip(SCENES[:5], again, strict=True):
        assert one.words == other.words
        assert np.array_equal(one.image, other.image)
    assert not np.array_equal(scenes(1, seed=7)[0].image, scenes(1, seed=6)[0].image)
