"""Attention over a picture: colour where it looks, grey elsewhere, gold where it should."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from bookkit.data.scenes import Box
from bookkit.figures.colours import GOLD, HAIR, PAPER
from bookkit.figures.style import FIGURE_WIDTH
from bookkit.inputs import as_labels, as_matrix, as_numbers

FULL = 6.0
"""Colour is full where a cell has so many times the weight that a uniform map would give it."""

_COLUMNS = 4  # pictures in a row
_PALE = 0.72  # share of paper in the grey


def attended_picture(
    ax: Axes, image: Any, weights: Any, *, boxes: Sequence[Box] = (), full: float = FULL
) -> None:
    """Draw a picture that keeps its colours where attention looks, and is pale grey elsewhere.

    Args:
        image: (height, width, 3) colours, bytes or numbers from 0 to 1.
        weights: (rows, columns) over a grid on the picture; its cells are not blurred.
        boxes: what is framed in gold.
        full: colour is full where the weight is so many times 1 / (rows * columns); panels that
            are compared need the same.

    >>> _, ax = plt.subplots()
    >>> attended_picture(ax, np.ones((8, 8, 3)), [[0.1, 0.9], [0.0, 0.0]])
    """
    grid = as_matrix(weights, "weights")
    if not full > 0:
        raise ValueError(f"full: got {full}, wanted a number above 0")
    picture = as_numbers(image, "image")
    if getattr(image, "dtype", None) == np.uint8:
        picture = picture / 255
    shares = np.clip(grid * grid.size / full, 0, 1)
    if picture.ndim != 3 or picture.shape[2] != 3:
        raise ValueError(f"image: got shape {picture.shape}, wanted (height, width, 3)")
    shown = _toned(picture, _over(shares, picture.shape))
    height, width = shown.shape[:2]
    # "none" keeps the pixels as they are: a picture of 40 x 40 stays one of 40 x 40 in the file.
    ax.imshow(shown, interpolation="none", extent=(0, width, height, 0))
    for box in boxes:
        size = box.right - box.left, box.bottom - box.top
        for color, line in ((PAPER, 3.2), (GOLD, 1.8)):
            ax.add_patch(Rectangle((box.left, box.top), *size, fill=False, ec=color, lw=line))
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set(visible=True, color=HAIR, linewidth=0.5)


def caption_maps(
    image: Any, words: Sequence[str], maps: Any, *, boxes: Sequence[Sequence[Box]] | None = None
) -> Figure:
    """Draw the picture for every word, with where attention looked before the word was said.

    Args:
        image: (height, width, 3), as for `attended_picture`.
        words: q words, written above.
        maps: (q, rows, columns) weights.
        boxes: what is framed in gold for every word; None frames nothing.

    >>> figure = caption_maps(np.ones((8, 8, 3)), ["a", "dog"], np.full((2, 2, 2), 0.25))
    >>> [ax.get_title(loc="left") for ax in figure.axes]
    ['a', 'dog']
    """
    grids = as_numbers(maps, "maps")
    if grids.ndim != 3 or not grids.size:
        raise ValueError(f"maps: got shape {grids.shape}, wanted (q, rows, columns)")
    titles = as_labels(words, "words", len(grids), "map")
    framed = [[]] * len(grids) if boxes is None else boxes
    if len(framed) != len(grids):
        raise ValueError(f"boxes: got {len(framed)}, wanted {len(grids)}, one list a word")
    lines = -(-len(grids) // _COLUMNS)
    figure = plt.figure(figsize=(FIGURE_WIDTH, lines * (FIGURE_WIDTH / _COLUMNS + 0.25)))
    for number, (title, grid, own) in enumerate(zip(titles, grids, framed, strict=True), 1):
        ax = figure.add_subplot(lines, _COLUMNS, number)
        attended_picture(ax, image, grid, boxes=own)
        ax.set_title(title, loc="left", parse_math=False)
    return figure


def _over(shares: NDArray[np.float64], size: tuple[int, ...]) -> NDArray[np.float64]:
    """Give every pixel the share of its cell."""
    down, across = size[0] // shares.shape[0], size[1] // shares.shape[1]
    if (shares.shape[0] * down, shares.shape[1] * across) != size[:2]:
        raise ValueError(
            f"weights: got a grid {shares.shape} on a picture {tuple(size[:2])}, wanted cells of "
            "whole pixels"
        )
    return shares.repeat(down, 0).repeat(across, 1)[..., None]


def _toned(picture: NDArray[np.float64], share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Blend the colours of a picture with a pale grey of its brightness."""
    grey = picture @ np.array([0.2126, 0.7152, 0.0722])
    pale = (_PALE + (1 - _PALE) * grey)[..., None]
    return np.asarray(np.clip(pale * (1 - share) + picture * share, 0, 1))
