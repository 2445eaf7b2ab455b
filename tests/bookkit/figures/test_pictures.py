"""Attention over a picture: what is shown in colour, where, and what is refused."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from bookkit.data.scenes import Box
from bookkit.figures import GOLD, attended_picture

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


def test_boxes_are_framed_in_gold() -> None:
    _, ax = plt.subplots()
    attended_picture(ax, RED, np.ones((2, 3)), boxes=[Box(1, 2, 4, 7)])
    frames = [
        p for p in ax.patches if isinstance(p, Rectangle) and to_hex(p.get_edgecolor()) == GOLD
    ]
    assert [(f.get_x(), f.get_y(), f.get_width(), f.get_height()) for f in frames] == [(2, 1, 5, 3)]


def test_a_grid_that_does_not_fit_is_refused() -> None:
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match=r"weights: got a grid \(3, 3\) on a picture \(8, 12\)"):
        attended_picture(ax, RED, np.ones((3, 3)))
