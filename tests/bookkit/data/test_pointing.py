"""The pointing game, against counting by hand."""

from typing import Any

import numpy as np
import pytest

from bookkit.data.pointing import pointing_accuracy
from bookkit.data.scenes import Box, Scene, scenes


def scene_of(*boxes: tuple[Box, ...], size: tuple[int, int] = (12, 8)) -> Scene:
    return Scene(
        image=np.zeros((*size, 3), dtype=np.uint8), words=tuple("abc"[: len(boxes)]),
        classes=("colour", "shape", "colour")[: len(boxes)], boxes=boxes,
    )  # fmt: skip


def pointing_at(*cells: tuple[int, int]) -> Any:
    """Return maps of 3 x 4 cells, so that a cell is 4 pixels high and 2 wide."""
    maps = np.full((len(cells), 3, 4), 0.1)
    for word, (row, column) in enumerate(cells):
        maps[word, row, column] = 0.5
    return maps


def test_the_centre_of_the_heaviest_cell_decides() -> None:
    # The centre of cell (1, 2) is 6 pixels down and 5 across.
    inside, below = Box(6, 5, 7, 6), Box(7, 5, 12, 6)
    left, other = Box(6, 0, 7, 5), Box(5, 6, 6, 7)
    found = pointing_accuracy(
        [pointing_at((1, 2), (1, 2), (1, 2)), pointing_at((1, 2))],
        [scene_of((inside,), (below,), (left,)), scene_of((other, inside))],
    )
    assert found == {"colour": (pytest.approx(200 / 3), 3), "shape": (0.0, 1)}


def test_a_margin_moves_every_side_outward() -> None:
    # The centre of cell (1, 2) is 6 pixels down and 5 across: 2 above the box, 1 left of it.
    maps, scene = [pointing_at((1, 2))], [scene_of((Box(8, 6, 10, 8),))]
    assert pointing_accuracy(maps, scene, margin=1.9)["colour"][0] == 0
    assert pointing_accuracy(maps, scene, margin=2)["colour"][0] == 100
    with pytest.raises(ValueError, match="margin: got -1, wanted at least 0"):
        pointing_accuracy(maps, scene, margin=-1)
    # Rows are not columns.
    box = Box(0, 6, 4, 8)  # the cell in the first row and last column
    assert pointing_accuracy([pointing_at((0, 3))], [scene_of((box,))])["colour"][0] == 100
    assert pointing_accuracy([pointing_at((2, 0))], [scene_of((box,))])["colour"][0] == 0


def test_a_uniform_map_scores_as_pointing_at_random() -> None:
    pictures = scenes(5, seed=8)
    uniform = [np.full((len(s.words), 8, 8), 0.01) for s in pictures]
    centres = [(4 * i + 2.0, 4 * j + 2.0) for i, j in np.ndindex(8, 8)]
    for kind, (got, count) in pointing_accuracy(uniform, pictures).items():
        hits = [
            any(centre in box for box in boxes)
            for scene in pictures
            for boxes, name in zip(scene.boxes, scene.classes, strict=True)
            if name == kind
            for centre in centres
        ]
        assert got == pytest.approx(100 * float(np.mean(hits)))
        assert 64 * count == len(hits)


def test_maps_of_another_shape_are_refused() -> None:
    box = (Box(0, 0, 4, 4),)
    with pytest.raises(ValueError, match=r"maps\[0\]: got shape"):
        pointing_accuracy([np.zeros((3, 12))], [scene_of(box, box, box)])
