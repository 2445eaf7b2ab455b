from typing import Any

import numpy as np
import pytest

from bookkit import figures as plot


def test_band_draws_the_mean_and_its_interval(ax: Any) -> None:
    end = plot.band(ax, [5, 10, 20], [90, 80, 60], [[88, 92], [77, 84], [50, 70]], label="dot")
    (line,), (fill,) = ax.lines, ax.collections
    np.testing.assert_array_equal(line.get_xydata(), [[5, 90], [10, 80], [20, 60]])
    corners = {(float(x), float(y)) for x, y in fill.get_paths()[0].vertices}
    assert {(5, 88), (5, 92), (10, 77), (10, 84), (20, 50), (20, 70)} <= corners
    assert end == (20, 60, "dot", plot.PETROL)


def test_band_names_what_is_wrong(ax: Any) -> None:
    with pytest.raises(ValueError, match=r"interval: got shape \(1, 2\), wanted \(2, 2\)"):
        plot.band(ax, [1, 2], [1, 2], [[1, 2]], label="")


def test_intervals_put_each_name_at_its_number(ax: Any) -> None:
    names, means = ["additive", "dot", "diagonal"], [12.0, 14.0, 38.0]
    ranges = [[11.1, 12.9], [12.4, 15.6], [37.2, 38.8]]
    plot.intervals(ax, names, means, ranges, unit="%", threshold=20, baselines=["diagonal"])
    marks = {round(float(m.get_ydata()[0])): m for m in ax.lines if m.get_marker() in ("s", "X")}
    assert [text.get_text() for text in ax.get_yticklabels()] == names
    assert [float(marks[row].get_xdata()[0]) for row in ax.get_yticks()] == means
    assert [marks[row].get_marker() for row in range(3)] == ["s", "s", "X"]
    whiskers = [segment for c in ax.collections for segment in c.get_segments()]
    assert [sorted(w[:, 0].tolist()) for w in whiskers] == ranges
    assert [float(w[0, 1]) for w in whiskers] == [0, 1, 2]
    assert ax.texts[0].get_text() == "12.0 [11.1, 12.9]"
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first name on top
    assert ax.get_xlabel() == "%"
