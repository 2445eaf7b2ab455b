"""The scaling figure: time and memory against length, with the exponents that were fitted."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import matplotlib as mpl

mpl.use("agg")  # a figure for a file asks for no display

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from benchmarks.records import Record, medians
from bookkit.figures import (
    FIGURE_WIDTH,
    SVG_METADATA,
    LineEnd,
    band,
    label_along,
    label_ends,
    use_style,
)
from companion.cost import fit_exponent


class Curve(NamedTuple):
    """Whose medians are drawn, and from which case."""

    case: str
    entrant: str
    setting: str
    series: int | Literal["baseline"]


TIME = (
    Curve("forward", "textbook", "full", "baseline"),
    Curve("forward", "SDPA", "full", 1),
    Curve("forward", "tiled", "full", 0),
    Curve("window", "window", "window", 2),
)
MEMORY = tuple(curve._replace(case="memory", setting="forward,") for curve in TIME)


def draw(records: Iterable[Record], directory: Path) -> Path | None:
    """Draw the figure from the records and return its path; None where there are not enough."""
    by_case = {record.case: record for record in records}
    if not {"forward", "window", "memory"} <= by_case.keys():
        return None
    use_style()
    figure, axes = plt.subplots(2, 1, figsize=(FIGURE_WIDTH, 6.0), sharex=True)
    panels = ((TIME, "s", "CPU time of a call, s"), (MEMORY, "MB", "Memory at the peak, MB"))
    for ax, (curves, unit, title) in zip(axes, panels, strict=True):
        ax.set(xscale="log", yscale="log", title=title)
        ends = list(_curves(ax, curves, by_case, unit))
        lengths = sorted({int(x) for line in ax.lines for x in line.get_xdata()})
        ax.set_xticks(lengths, labels=[f"{n:,}" for n in lengths])
        ax.minorticks_off()
        label_ends(ax, ends)
    axes[-1].set_xlabel("Length n")
    path = directory / "scaling.svg"
    figure.savefig(path, metadata=SVG_METADATA)
    plt.close(figure)
    return path


def _curves(
    ax: Axes, curves: Iterable[Curve], by_case: dict[str, Record], unit: str
) -> Iterator[LineEnd]:
    for curve in curves:
        found = medians(by_case[curve.case].readings, curve.entrant, curve.setting, unit)
        if len(found) < 2:
            continue
        lengths, values = list(found), list(found.values())
        label = f"{curve.entrant}, $n^{{{fit_exponent(lengths, values).exponent:.1f}}}$"
        end = band(ax, lengths, values, label=label, series=curve.series)
        if curve.series == "baseline":  # it ends before the others, in the midst of them
            middle = lengths[len(lengths) // 2]
            label_along(ax, lengths, values, label, at=middle, color=end.color)
        else:
            yield end
