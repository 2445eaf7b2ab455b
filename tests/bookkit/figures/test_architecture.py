"""The drawn Transformer: what stands where, in both orders of the norms."""

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
