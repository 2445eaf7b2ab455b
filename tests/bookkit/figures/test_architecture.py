"""The drawn Transformer: what stands where, in both orders of the norms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Annotation

from bookkit import figures as plot

SUBLAYERS = {"self-attention", "causal self-attention", "cross-attention", "feed-forward"}


@pytest.fixture
def ax() -> Iterator[Axes]:
    with mpl.rc_context():
        plot.use_style()
        figure, axes = plt.subplots(figsize=(plot.FIGURE_WIDTH, 7.4))
        yield axes
        plt.close(figure)


def written(ax: Axes) -> list[Any]:
    return [text for text in ax.texts if not isinstance(text, Annotation)]


def column(ax: Axes, right: bool) -> list[str]:
    """What is written in one column, from bottom to top, without what stands beside it."""
    middle = 5.0
    inside = [
        t for t in written(ax) if t.get_ha() == "center" and (t.get_position()[0] > middle) == right
    ]
    return [t.get_text() for t in sorted(inside, key=lambda t: t.get_position()[1])]


def boxes(ax: Axes) -> list[FancyBboxPatch]:
    found = [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    return [patch for patch in found if to_rgba(patch.get_facecolor())[3] > 0]


@pytest.mark.parametrize(("order", "norms"), [("post", 5), ("pre", 7)])
def test_norms_stand_where_the_order_puts_them(ax: Axes, order: Any, norms: int) -> None:
    plot.transformer_diagram(ax, norm_order=order)
    found = [column(ax, right) for right in (False, True)]
    assert sum(words.count("norm") for words in found) == norms
    for words in found:
        for place, word in enumerate(words):
            if word in SUBLAYERS:
                before, after = words[place - 1], words[place + 1 : place + 3]
                assert after[0] == "+"
                assert (before == "norm") == (order == "pre" or word not in FIRST)
                assert order == "pre" or after[1] == "norm"


FIRST = {"self-attention", "causal self-attention"}


def test_the_order_of_the_decoder_is_the_papers(ax: Axes) -> None:
    plot.transformer_diagram(ax)
    assert [word for word in column(ax, True) if word in SUBLAYERS] == [
        "causal self-attention",
        "cross-attention",
        "feed-forward",
    ]


@pytest.mark.parametrize("order", ["pre", "post"])
def test_the_memory_reaches_cross_attention(ax: Axes, order: Any) -> None:
    plot.transformer_diagram(ax, norm_order=order)
    x, y = next(t.get_position() for t in written(ax) if t.get_text() == "cross-attention")
    edges = [box.get_x() for box in boxes(ax) if box.get_y() < y < box.get_y() + box.get_height()]
    edge = min(edges, key=lambda found: abs(found - x))
    arrows: list[Any] = [text for text in ax.texts if isinstance(text, Annotation)]
    assert any(arrow.xy == pytest.approx((edge, y)) for arrow in arrows)


@pytest.mark.parametrize("order", ["pre", "post"])
def test_every_word_of_a_box_fits_into_it_and_all_fits_into_the_figure(
    ax: Axes, order: Any
) -> None:
    plot.transformer_diagram(ax, norm_order=order, layers=12)
    figure: Any = ax.figure
    figure.canvas.draw()
    for text in written(ax):
        extent = text.get_window_extent()
        for box in boxes(ax):
            frame = box.get_window_extent()
            if frame.contains(*extent.get_points().mean(axis=0)):
                assert frame.x0 < extent.x0
                assert extent.x1 < frame.x1
                assert frame.y0 < extent.y0
                assert extent.y1 < frame.y1
        assert figure.bbox.x0 <= extent.x0
        assert extent.x1 <= figure.bbox.x1


@pytest.mark.parametrize("order", ["pre", "post"])
def test_a_residual_has_one_norm_on_its_side(ax: Axes, order: Any) -> None:
    plot.residual_diagram(ax, norm_order=order)
    words = [t.get_text() for t in sorted(written(ax), key=lambda t: t.get_position()[1])]
    inside = ["norm", "sub-layer f", "+"] if order == "pre" else ["sub-layer f", "+", "norm"]
    assert words == ["x", *inside, "output"]


def test_another_order_is_refused(ax: Axes) -> None:
    wrong: Any = "both"
    with pytest.raises(ValueError, match="norm_order: got 'both', wanted one of"):
        plot.transformer_diagram(ax, norm_order=wrong)
    with pytest.raises(ValueError, match="norm_order: got 'both', wanted one of"):
        plot.residual_diagram(ax, norm_order=wrong)
