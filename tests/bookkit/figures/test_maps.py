from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from bookkit import figures as plot

WEIGHTS = np.array([[0.0, 1.0, 0.5], [0.25, 0.75, 0.0]])


def pixel(ax: Any, row: float, column: float) -> tuple[int, ...]:
    """Return the colour that a reader sees at a place of the map."""
    canvas: Any = FigureCanvasAgg(ax.figure)
    canvas.draw()
    x, y = ax.transData.transform((column, row))
    picture = np.asarray(canvas.buffer_rgba())
    return tuple(picture[picture.shape[0] - 1 - int(y), int(x), :3].tolist())


def rgb(color: Any) -> tuple[int, ...]:
    return tuple(round(255 * part) for part in to_rgb(color))


def test_every_cell_has_the_ink_of_its_weight(ax: Any) -> None:
    mesh = plot.attention_map(ax, WEIGHTS)
    for (row, column), weight in np.ndenumerate(WEIGHTS):
        shade = mesh.get_cmap()(float(weight))[:3]
        assert pixel(ax, row + 0.5, column + 0.5) == pytest.approx(rgb(shade), abs=1)


def test_rows_run_down_and_columns_to_the_right(ax: Any) -> None:
    plot.attention_map(ax, WEIGHTS, rows=["la", "casa"], columns=["the", "red", "house"])
    ax.figure.canvas.draw()
    place = {
        text.get_text(): ax.transData.inverted().transform(text.get_window_extent().get_points())
        for text in (*ax.get_xticklabels(), *ax.get_yticklabels())
    }
    for row, word in enumerate(["la", "casa"]):
        assert place[word][:, 1].mean() == pytest.approx(row + 0.5, abs=0.1)
        assert place[word][:, 0].max() < 0
    for column, word in enumerate(["the", "red", "house"]):
        assert column < place[word][0, 0] < column + 1
        assert place[word][:, 1].max() < 0  # above: the rows count downwards


def test_cells_outside_the_mask_stay_blank_without_lattice(ax: Any) -> None:
    mask = np.tril(np.ones((3, 3), dtype=bool))
    plot.attention_map(ax, np.full((3, 3), 1.0), mask=mask)
    assert pixel(ax, 1.5, 0.5) == rgb("#182c35")
    assert pixel(ax, 0.5, 2.5) == rgb(plot.PAPER)
    assert pixel(ax, 1.0, 2.5) == rgb(plot.PAPER)


def test_scores_are_symmetric_and_blank_where_infinite(ax: Any) -> None:
    mesh = plot.score_map(ax, [[-2.0, 0.0, -np.inf], [1.0, 2.0, np.nan]])
    assert mesh.get_clim() == (-2.0, 2.0)
    assert pixel(ax, 0.5, 0.5) == rgb("#00586a")
    assert pixel(ax, 0.5, 1.5) == rgb(plot.PAPER)
    assert pixel(ax, 0.5, 2.5) == pixel(ax, 1.5, 2.5) == rgb(plot.PAPER)
    assert pixel(ax, 1.5, 1.5) == rgb("#8e5318")


def test_nothing_is_cut_off_and_nothing_is_too_small(ax: Any) -> None:
    mesh = plot.attention_map(ax, np.zeros((3, 5)), rows=["muestra"] * 3, columns=["sentence"] * 5)
    plot.weight_key(ax.figure, ax, mesh, sure=True, possible=True)
    ax.figure.canvas.draw()
    page = ax.figure.bbox
    for text in ax.figure.findobj(Text):
        if text.get_visible() and text.get_text().strip():
            box = text.get_window_extent()
            inside = box.x0 >= 0 and box.y0 >= 0 and box.x1 <= page.x1 and box.y1 <= page.y1
            assert inside, text.get_text()
            assert float(text.get_fontsize()) >= 9.4


def test_wrong_arguments_are_named(ax: Any) -> None:
    with pytest.raises(ValueError, match="rows: got 1 labels, wanted 2, one a query"):
        plot.attention_map(ax, WEIGHTS, rows=["a"])
