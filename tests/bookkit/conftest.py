"""Fixtures that the tests of pictures share."""

from collections.abc import Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from matplotlib.axes import Axes

from bookkit import figures as plot


@pytest.fixture
def ax() -> Iterator[Axes]:
    """Axes in the book's style."""
    with mpl.rc_context():
        plot.use_style()
        figure, axes = plt.subplots()
        yield axes
        plt.close(figure)
