"""Attention over a picture: what is shown in colour, where, and what is refused."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from bookkit.data.scenes import Box
from bookkit.figures import GOLD, attended_picture, caption_maps

RED = np.zeros((8, 12, 3))
RED[..., 0] = 1.0


def shown(weights: Any, image: Any = RED, **options: Any) -> Any:
    """Return the pixels that are drawn."""
    _, ax = plt.subplots()
    attended_picture(ax, image, weights, **options)
    return np.asarray(ax.images[0].get_array())


def is_grey(pixel: Any) -> bool:
    return bool(np.ptp(pixel) < 1e-9)


def test_colour_is_where_the_weight_is() -> None:
    weights = np.zeros((2, 3))
    weights[0, 2] = 1.0
    pixels = shown(weights)
    np.testing.assert_allclose(pixels[:4, 8:], RED[:4, 8:])
    assert all(is_grey(pixels[i, j]) for i, j in ((0, 0), (0, 7), (4, 8), (7, 11)))


def test_colour_grows_with_the_weight_up_to_full() -> None:
    weights = np.array([[1 / 6, 2 / 6, 3 / 6]]).repeat(2, 0)
    pixels = shown(weights, full=2.0)
    strength = np.ptp(pixels[0, [0, 4, 8]], axis=-1)
    assert strength == pytest.approx([0.5, 1.0, 1.0])


def test_bytes_and_shares_are_the_same_picture() -> None:
    weights = np.full((2, 3), 0.4)
    in_bytes = (RED * 255).astype(np.uint8)
    np.testing.assert_allclose(shown(weights), shown(weights, in_bytes))


def test_boxes_are_framed_in_gold() -> None:
    _, ax = plt.subplots()
    attended_picture(ax, RED, np.ones((2, 3)), boxes=[Box(1, 2, 4, 7)])
    frames = [
        p for p in ax.patches if isinstance(p, Rectangle) and to_hex(p.get_edgecolor()) == GOLD
    ]
    assert [(f.get_x(), f.get_y(), f.get_width(), f.get_height()) for f in frames] == [(2, 1, 5, 3)]


def test_every_word_has_a_panel_with_its_own_boxes() -> None:
    maps = np.zeros((5, 2, 3))
    maps[range(5), 0, 0] = 1
    boxes = [[Box(0, 0, 2, 2)]] * 4 + [[]]
    figure = caption_maps(RED, ["a", "red", "$", "dog", "."], maps, boxes=boxes, columns=3)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["a", "red", "$", "dog", "."]
    assert [len(ax.patches) for ax in figure.axes] == [2, 2, 2, 2, 0]
    figure.canvas.draw()
    tops = [round(ax.get_position().y1, 3) for ax in figure.axes]
    assert len(set(tops)) == 2


def test_wrong_pictures_are_refused() -> None:
    rows: list[tuple[dict[str, Any], str]] = [
        ({"image": RED[..., 0]}, r"image: got shape \(8, 12\)"),
        ({"weights": np.ones((3, 3))}, r"weights: got a grid \(3, 3\) on a picture \(8, 12\)"),
        ({"weights": np.ones(6)}, r"weights: got shape \(6,\)"),
        ({"full": 0.0}, "full: got 0.0, wanted a number above 0"),
    ]
    for change, message in rows:
        _, ax = plt.subplots()
        with pytest.raises(ValueError, match=message):
            attended_picture(ax, **{"image": RED, "weights": np.ones((2, 3)), **change})


def test_wrong_captions_are_refused() -> None:
    rows: list[tuple[dict[str, Any], str]] = [
        ({"maps": np.ones((2, 6))}, r"maps: got shape \(2, 6\)"),
        ({"words": ["a"]}, "words: got 1 labels, wanted 2"),
        ({"boxes": [[]]}, "boxes: got 1, wanted 2"),
        ({"columns": 0}, "columns: got 0"),
    ]
    for change, message in rows:
        arguments: dict[str, Any] = {
            "image": RED,
            "words": ["a", "dog"],
            "maps": np.ones((2, 2, 3)),
        }
        with pytest.raises(ValueError, match=message):
            caption_maps(**{**arguments, **change})
