from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from bookkit import figures as plot

WEIGHTS = np.array([[0.1, 0.2, 0.7], [0.3, 0.6, 0.1]])


def outlines(ax: Any, color: str) -> list[Rectangle]:
    return [
        patch
        for patch in ax.patches
        if isinstance(patch, Rectangle) and to_hex(patch.get_edgecolor()) == color
    ]


def cell(outline: Rectangle) -> tuple[int, int]:
    (x, y), width, height = outline.get_xy(), outline.get_width(), outline.get_height()
    return int(y + height / 2), int(x + width / 2)


def test_links_are_row_then_column(ax: Any) -> None:
    mesh: Any = plot.attention_map(ax, WEIGHTS)
    plot.gold_links(ax, sure={(0, 2)}, possible={(1, 0)})
    sure, possible = outlines(ax, plot.GOLD)
    assert mesh.get_array()[cell(sure)] == WEIGHTS[0, 2]
    assert mesh.get_array()[cell(possible)] == WEIGHTS[1, 0]
    # On the page, too: query 0 is the upper row, key 2 the rightmost column.
    x, y = ax.transAxes.inverted().transform(sure.get_window_extent().get_points().mean(axis=0))
    assert x == pytest.approx(5 / 6, abs=0.01)
    assert y == pytest.approx(3 / 4, abs=0.01)
