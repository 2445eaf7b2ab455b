"""The book's figure style: its face, its colour maps, and figures that come out alike each time."""

import sys
from importlib.resources import as_file, files
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib import font_manager

from bookkit.figures import colours

FIGURE_WIDTH = 5.2
"""Inches; 499 CSS pixels, the width of the text. On a phone the figure shrinks to 0.71."""

SVG_METADATA = {"Date": None, "Creator": None}
"""For `savefig("x.svg", metadata=SVG_METADATA)`: the same figure gives the same bytes."""

_FACE = "Atkinson Hyperlegible Next"
_CUTS = ("ahn-400-normal.ttf", "ahn-700-normal.ttf", "ahn-400-italic.ttf")

_TICKS: Any = {
    "color": colours.MUTED, "labelcolor": colours.INK, "labelsize": 10, "major.size": 3.5,
    "major.width": 0.8, "minor.visible": False,
}  # fmt: skip
_RC: Any = {
    "figure.figsize": (FIGURE_WIDTH, 3.2),
    "figure.dpi": 100,
    "figure.constrained_layout.use": True,
    "figure.facecolor": colours.PAPER,
    "figure.titlesize": 11.5,
    "savefig.dpi": 200,
    "savefig.facecolor": colours.PAPER,
    # The face has no arrows, Greek or <= signs; the second family draws those.
    "font.family": [_FACE, "DejaVu Sans"],
    "font.size": 10.5,
    "mathtext.fontset": "custom",
    "mathtext.rm": _FACE,
    "mathtext.it": f"{_FACE}:italic",
    "mathtext.bf": f"{_FACE}:bold",
    "mathtext.cal": f"{_FACE}:italic",  # the default, a cursive, is missing on most machines
    "mathtext.fallback": "stixsans",
    "text.color": colours.INK,
    "axes.facecolor": "none",
    "axes.edgecolor": colours.MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "axes.labelcolor": colours.INK,
    "axes.labelsize": 10.5,
    "axes.titlecolor": colours.INK,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.prop_cycle": cycler(color=colours.SERIES) + cycler(marker=colours.MARKERS),
    **{f"{axis}tick.{name}": value for axis in "xy" for name, value in _TICKS.items()},
    "grid.color": colours.HAIR,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "lines.markeredgecolor": colours.PAPER,
    "lines.markeredgewidth": 0.8,
    "patch.linewidth": 0.8,
    "hatch.color": colours.MUTED,
    "hatch.linewidth": 0.7,
    "errorbar.capsize": 3,
    "image.cmap": "am_depth",
    "legend.frameon": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "attention-measured",
}


def use_style() -> None:
    """Set the book's face, colours and sizes for all figures that follow.

    In a notebook the figures also become SVG of exactly the asked size, without a date, so that
    the same figure has the same bytes. A second call changes nothing.

    >>> use_style()
    >>> mpl.rcParams["image.cmap"]
    'am_depth'
    """
    _register_fonts()
    for colour_map in (colours.depth_map(), colours.signed_map()):
        if colour_map.name not in mpl.colormaps:
            mpl.colormaps.register(colour_map)
    mpl.rcParams.update(_RC)
    _use_svg_in_notebooks()


def _register_fonts() -> None:
    known = {font.fname for font in font_manager.fontManager.ttflist}
    for cut in _CUTS:
        with as_file(files("bookkit") / "fonts" / cut) as path:
            if str(path) not in known:
                font_manager.fontManager.addfont(str(path))


def _use_svg_in_notebooks() -> None:
    ipython = sys.modules.get("IPython")
    if ipython is None or ipython.get_ipython() is None:
        return
    from matplotlib_inline import backend_inline

    # Left to itself the inline backend crops to the ink, and type sizes drift between figures.
    backend_inline.set_matplotlib_formats(  # type: ignore[no-untyped-call]
        "svg", bbox_inches=None, dpi=200, metadata=SVG_METADATA
    )
