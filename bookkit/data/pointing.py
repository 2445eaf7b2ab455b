"""The pointing game: does attention lie where the word is seen in the picture?"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from bookkit.data.scenes import Scene
from companion.contracts import contract


@contract(margin=">= 0")
def pointing_accuracy(
    maps: Sequence[Any], scenes: Sequence[Scene], *, margin: float = 0.0
) -> dict[str, tuple[float, int]]:
    """Play the pointing game: does the cell with the largest weight lie where the word is seen?

    A hit is a word whose heaviest cell has its centre in one of the word's boxes (Zhang et al.,
    2016), or not further from it than the margin allows. Cells that share the largest weight count
    by their share, so that a uniform map scores what pointing at random would.

    Args:
        maps: for every scene (words, rows, columns) weights over a grid on the picture.
        scenes: scenes with the boxes and classes of their words.
        margin: pixels by which every box is widened on each side.

    Returns:
        For each word class, the percentage of hits and the number of words.

    Raises:
        ValueError: no scenes, another number of maps, or a map without one grid for each word.

    >>> from bookkit.data.scenes import scenes
    >>> scene = scenes(1, seed=1)[0]
    >>> box = scene.boxes[0][0]
    >>> weights = np.zeros((len(scene.words), 32, 32))
    >>> weights[:, box.top, box.left] = 1
    >>> pointing_accuracy([weights], [scene])["colour"]
    (50.0, 2)
    """
    if len(maps) != len(scenes):
        raise ValueError(
            f"maps: got {len(maps)} predictions for {len(scenes)} references, wanted as many"
        )
    hits: dict[str, float] = defaultdict(float)
    words: Counter[str] = Counter()
    for number, (weights, scene) in enumerate(zip(maps, scenes, strict=True)):
        grids = np.asarray(weights, dtype=np.float64)
        if grids.ndim != 3 or len(grids) != len(scene.words) or not grids.size:
            raise ValueError(
                f"maps[{number}]: got shape {grids.shape} for {len(scene.words)} words, wanted "
                "(words, rows, columns)"
            )
        for grid, name, boxes in zip(grids, scene.classes, scene.boxes, strict=True):
            centres = _heaviest(grid, scene.image.shape[:2])
            words[name] += 1
            hit = [any(box.is_near(centre, margin) for box in boxes) for centre in centres]
            hits[name] += sum(hit) / len(centres)
    return {name: (100.0 * hits[name] / words[name], words[name]) for name in sorted(words)}


def _heaviest(grid: Any, size: tuple[int, ...]) -> list[tuple[float, float]]:
    """Return where on a picture the centres of the heaviest cells lie, (down, across)."""
    sides = [pixels / cells for pixels, cells in zip(size, grid.shape, strict=False)]
    cells = np.argwhere(grid >= grid.max() * (1 - 1e-6)) + 0.5
    return [(float(down * sides[0]), float(across * sides[1])) for down, across in cells]
