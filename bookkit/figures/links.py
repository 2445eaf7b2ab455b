"""Word links on a map, and the key that explains map and links."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import FigureBase
from matplotlib.offsetbox import AnchoredOffsetbox, DrawingArea, HPacker, TextArea, VPacker
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from bookkit.figures.colours import GOLD, HAIR, PAPER
from bookkit.inputs import links_inside

_KEY_SIZE = 9.5
_DOTTED = (0, (1, 1.4))


def gold_links(
    ax: Axes, sure: Iterable[tuple[int, int]] = (), possible: Iterable[tuple[int, int]] = ()
) -> None:
    """Outline word links on a map: sure ones solid, possible ones dotted.

    Args:
        ax: where a map has been drawn.
        sure: links (row, column) = (query, key).
        possible: links (row, column), drawn dotted.

    >>> from matplotlib import pyplot as plt
    >>> from bookkit.figures import attention_map
    >>> _, ax = plt.subplots()
    >>> mesh = attention_map(ax, [[0.1, 0.9]])
    >>> gold_links(ax, sure={(0, 1)})
    """
    shape = round(ax.get_ylim()[0]), round(ax.get_xlim()[1])
    for name, links, style in (("sure", sure, "-"), ("possible", possible, _DOTTED)):
        for row, column in links_inside(links, name, shape, "row, column"):
            # Gold alone is lost on a half-dark cell: the paper halo sets it off.
            for color, width, line in ((PAPER, 3.2, "-"), (GOLD, 1.8, style)):
                ax.add_patch(
                    Rectangle(
                        (column + 0.09, row + 0.09), 0.82, 0.82,
                        fill=False, edgecolor=color, linewidth=width, linestyle=line, zorder=3,
                    )
                )  # fmt: skip


def weight_key(
    fig: FigureBase,
    ax: Axes | Sequence[Axes] | NDArray[Any],
    mesh: QuadMesh,
    *,
    label: str = "attention weight, each row sums to 1",
    sure: bool = False,
    possible: bool = False,
) -> None:
    """Put a thin scale below the map, and the key of the gold links beside it.

    Args:
        fig: the figure.
        ax: the map's axes, or several, as `plt.subplots` gives them, that share one scale.
        mesh: what `attention_map` or `score_map` returned.
        label: what the scale shows.
        sure: explain the solid outline.
        possible: explain the dotted outline.

    >>> from matplotlib import pyplot as plt
    >>> from bookkit.figures import attention_map
    >>> fig, ax = plt.subplots()
    >>> weight_key(fig, ax, attention_map(ax, [[0.1, 0.9]]), sure=True)
    """
    bar = fig.colorbar(
        mesh, ax=np.ravel(np.asarray(ax, dtype=object)), orientation="horizontal",
        fraction=0.035, aspect=26, shrink=0.5, anchor=(0, 0), panchor=False,
    )  # fmt: skip
    bar.outline.set(edgecolor=HAIR, linewidth=0.6)
    bar.ax.tick_params(length=2.5, labelsize=_KEY_SIZE)
    bar.set_label(label, fontsize=_KEY_SIZE, loc="left")
    wanted = {"sure": (sure, "-"), "possible": (possible, _DOTTED)}
    styles = {name: line for name, (shown, line) in wanted.items() if shown}
    if styles:
        bar.ax.add_artist(_links_key(bar.ax, styles))


def _links_key(ax: Axes, styles: dict[str, Any]) -> AnchoredOffsetbox:
    entries: list[Artist] = []
    for name, style in styles.items():
        swatch = DrawingArea(17, 11)
        swatch.add_artist(Rectangle((1, 1), 15, 9, fill=False, ec=GOLD, lw=1.8, ls=style))
        text = TextArea(name, textprops={"fontsize": _KEY_SIZE})
        entries.append(HPacker(children=[swatch, text], align="center", pad=0, sep=5))
    row = HPacker(children=entries, align="center", pad=0, sep=14)
    title = TextArea("gold links", textprops={"fontsize": _KEY_SIZE})
    return AnchoredOffsetbox(
        loc="upper left", child=VPacker(children=[row, title], align="left", pad=0, sep=7),
        bbox_to_anchor=(1.16, 1.0), bbox_transform=ax.transAxes, borderpad=0, pad=0, frameon=False,
    )  # fmt: skip
