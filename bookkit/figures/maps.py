"""Matrices of weights and scores as ink on paper: rows are queries, columns are keys."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colors import Colormap
from numpy.typing import NDArray

from bookkit.figures.colours import HAIR, depth_map, signed_map
from bookkit.inputs import as_labels, as_matrix

_VECTOR_CELLS = 900  # a larger map is a picture: drawn cell by cell its file would be large


def attention_map(
    ax: Axes,
    weights: Any,
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    vmax: float = 1.0,
    mask: Any = None,
    rotate: float = 40.0,
) -> QuadMesh:
    """Draw attention weights: 0 is the paper, `vmax` is full ink.

    Args:
        weights: (q, k) array, tensor or nested list.
        rows: q query tokens, written at the left.
        columns: k key tokens, written on top.
        vmax: the weight of the strongest colour; panels that are compared need the same.
        mask: (q, k), True = may attend; the other cells stay blank, without lattice.
        rotate: degrees by which the column labels rise; 0 for single characters.

    Returns:
        The mesh, for `weight_key`.

    >>> _, ax = plt.subplots()
    >>> mesh = attention_map(ax, [[0.1, 0.9]], rows=["casa"], columns=["the", "house"])
    """
    matrix = as_matrix(weights, "weights")
    _check_vmax(vmax)
    return _draw_map(
        ax, matrix, _may_attend(mask, matrix), depth_map(), 0.0, vmax, rows, columns, rotate
    )


def score_map(
    ax: Axes,
    scores: Any,
    *,
    vmax: float | None = None,
    mask: Any = None,
) -> QuadMesh:
    """Draw signed numbers, as scores before the softmax: paper at 0, petrol below, brown above.

    Args:
        scores: (q, k) array, tensor or nested list; what is not finite stays blank.
        mask: as for `attention_map`.
        vmax: the scale reaches from -vmax to vmax; by default the largest magnitude.

    >>> _, ax = plt.subplots()
    >>> score_map(ax, [[-1.5, 0.5], [float("-inf"), 1.0]]).get_clim()
    (-1.5, 1.5)
    """
    matrix = as_matrix(scores, "scores")
    drawn = _may_attend(mask, matrix) & np.isfinite(matrix)
    if vmax is None:
        vmax = float(np.abs(matrix[drawn]).max(initial=0.0)) or 1.0
    _check_vmax(vmax)
    return _draw_map(ax, matrix, drawn, signed_map(), -vmax, vmax)


def _check_vmax(vmax: float) -> None:
    if not vmax > 0:
        raise ValueError(f"vmax: got {vmax}, wanted a number above 0")


def _may_attend(mask: Any, matrix: NDArray[np.float64]) -> NDArray[np.bool_]:
    if mask is None:
        return np.ones(matrix.shape, dtype=bool)
    allowed: NDArray[np.bool_] = as_matrix(mask, "mask") != 0
    if allowed.shape != matrix.shape:
        raise ValueError(f"mask: got shape {allowed.shape}, wanted {matrix.shape}, one a cell")
    return allowed


def _draw_map(
    ax: Axes,
    matrix: NDArray[np.float64],
    drawn: NDArray[np.bool_],
    colour_map: Colormap,
    vmin: float,
    vmax: float,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    rotate: float = 40.0,
) -> QuadMesh:
    q_len, k_len = matrix.shape
    row_labels = [] if rows is None else as_labels(rows, "rows", q_len, "query")
    column_labels = [] if columns is None else as_labels(columns, "columns", k_len, "key")
    small = matrix.size <= _VECTOR_CELLS
    mesh = ax.pcolormesh(
        np.ma.masked_array(matrix, ~drawn), cmap=colour_map, vmin=vmin, vmax=vmax,
        edgecolors="none", rasterized=not small,
    )  # fmt: skip
    frame = [(0, 0), (k_len, 0), (k_len, q_len), (0, q_len), (0, 0)]
    lines = _lattice(drawn) if small else [frame]
    ax.add_collection(LineCollection(lines, colors=HAIR, linewidths=0.5, zorder=1.5, clip_on=False))
    # Flush left, as the text is. Flush top, too: the layout measures labels from there.
    ax.set(xlim=(0, k_len), ylim=(q_len, 0), aspect="equal", anchor="NW")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    ax.xaxis.tick_top()
    ax.set_xticks(np.arange(len(column_labels)) + 0.5, labels=column_labels)
    ax.set_yticks(np.arange(len(row_labels)) + 0.5, labels=row_labels)
    for text in (*ax.get_xticklabels(), *ax.get_yticklabels()):
        text.set_parse_math(False)  # "$" is a token, too
    if rotate:
        rising = {"rotation": rotate, "ha": "left", "va": "bottom", "rotation_mode": "anchor"}
        plt.setp(ax.get_xticklabels(), **rising)
    return mesh


def _lattice(drawn: NDArray[np.bool_]) -> list[list[tuple[int, int]]]:
    """Return the lines around the drawn cells, each as long as it can be."""
    lines = []
    for across, cells in ((True, drawn), (False, drawn.T)):
        edge = np.zeros((1, cells.shape[1]), dtype=bool)
        beside = np.vstack([edge, cells]) | np.vstack([cells, edge])
        for at, line in enumerate(beside):
            bounds = np.flatnonzero(np.diff(np.concatenate([[False], line, [False]]).astype(int)))
            for start, stop in bounds.reshape(-1, 2).tolist():
                ends = [(start, at), (stop, at)]
                lines.append(ends if across else [(y, x) for x, y in ends])
    return lines
