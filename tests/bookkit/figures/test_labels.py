import math
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt

from bookkit import figures as plot
from bookkit.figures.labels import _spread


def test_names_of_close_curves_do_not_touch_and_keep_their_order(ax: Any) -> None:
    ends = [
        plot.band(ax, [1, 2], [0, y], label=name, series=k)
        for k, (name, y) in enumerate({"high": 9.1, "low": 8.9, "middle": 9.0}.items())
    ]
    plot.label_ends(ax, [*ends, plot.band(ax, [1, 2], [0, 1], label="far", series=3)])
    ax.figure.canvas.draw()
    boxes = {text.get_text(): text.get_window_extent() for text in ax.texts}
    order = sorted(boxes, key=lambda name: boxes[name].y0)
    assert order == ["far", "low", "middle", "high"]
    middles = [(boxes[name].y0 + boxes[name].y1) / 2 for name in order]
    assert np.diff(middles).min() >= 13 * ax.figure.dpi / 72 - 0.5
    assert all(box.x0 > ax.get_window_extent().x1 for box in boxes.values())
    assert all(box.x1 <= ax.figure.bbox.x1 for box in boxes.values())


def test_spread_moves_as_little_as_possible() -> None:
    assert _spread([0, 100], 13) == [0, 100]
    assert _spread([10, 10, 10], 13) == [-3, 10, 23]


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_name_lies_along_its_curve_however_the_figure_is_shaped(scale: str) -> None:
    for shape in ((5, 3), (3, 5)):
        _, ax = plt.subplots(figsize=shape)
        x = np.array([1.0, 10.0, 100.0])
        ax.plot(x, x**2)
        ax.set(xscale=scale, yscale=scale)
        plot.label_along(ax, x, x**2, "quadratic", at=30, color=plot.PETROL)
        ax.figure.canvas.draw()
        (x0, y0), (x1, y1) = ax.transData.transform([(10, 100), (100, 10_000)])
        slope = math.degrees(math.atan2(y1 - y0, x1 - x0))
        assert ax.texts[0].get_rotation() == pytest.approx(slope)
