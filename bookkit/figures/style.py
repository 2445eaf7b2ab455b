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

_CUTS = ("ahn-400-normal.ttf", "ahn-700-normal.ttf", "ahn-400-italic.ttf")
_SHEET = files("bookkit.figures") / "book.mplstyle"
_RC: Any = {  # what the modules of the figures know as well
    "figure.figsize": (FIGURE_WIDTH, 3.2), "figure.facecolor": colours.PAPER,
    "savefig.facecolor": colours.PAPER, "text.color": colours.INK, "axes.edgecolor": colours.MUTED,
    "axes.labelcolor": colours.INK, "axes.titlecolor": colours.INK, "xtick.color": colours.MUTED,
    "ytick.color": colours.MUTED, "xtick.labelcolor": colours.INK, "ytick.labelcolor": colours.INK,
    "grid.color": colours.HAIR, "lines.markeredgecolor": colours.PAPER,
    "hatch.color": colours.MUTED,
    "axes.prop_cycle": cycler(color=colours.SERIES) + cycler(marker=colours.MARKERS),
}  # fmt: skip


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
    with as_file(_SHEET) as path:
        mpl.rcParams.update(mpl.rc_params_from_file(path, use_default_template=False))
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
