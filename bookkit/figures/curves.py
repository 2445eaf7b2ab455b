"""Curves and comparisons, never without their 95 % intervals."""

from collections.abc import Collection, Sequence
from statistics import median_low
from typing import Any, Literal

from matplotlib.axes import Axes

from bookkit.figures import colours
from bookkit.figures.labels import LineEnd
from bookkit.inputs import as_intervals, as_labels, as_vector
from bookkit.records import decimals_for, format_estimate


def band(
    ax: Axes,
    x: Any,
    mean: Any,
    interval: Any = None,
    *,
    label: str,
    series: int | Literal["baseline"] = 0,
) -> LineEnd:
    """Draw a curve with its 95 % interval as a band.

    Args:
        x: (n,) positions.
        mean: (n,) values.
        interval: (n, 2) low and high ends; without it the curve stands alone.
        label: the curve's name.
        series: 0 to 3 choose colour and marker; "baseline" is slate, dashed, with crosses.

    Returns:
        The curve's end, for `label_ends`.

    >>> from matplotlib import pyplot as plt
    >>> _, ax = plt.subplots()
    >>> band(ax, [5, 10], [98, 95], [[97, 99], [93, 97]], label="additive").text
    'additive'
    """
    along = as_vector(x, "x")
    values = as_vector(mean, "mean", along.size)
    line = _line_style(series)
    if interval is not None:
        low, high = as_intervals(interval, "interval", along.size).T
        ax.fill_between(along, low, high, color=line["color"], alpha=0.2, linewidth=0)
    ax.plot(along, values, **line)
    return LineEnd(float(along[-1]), float(values[-1]), label, line["color"])


def training_limit(ax: Axes, x: float, text: str = "longer than in training") -> None:
    """Shade everything to the right of x, the longest length in training, and name it.

    Call it after the curves; it fixes the limits of the x axis.

    >>> from matplotlib import pyplot as plt
    >>> _, ax = plt.subplots()
    >>> end = band(ax, [5, 10, 20], [98, 95, 60], label="additive")
    >>> training_limit(ax, 15)
    """
    left, right = ax.get_xlim()
    if not x < right:
        raise ValueError(f"x: got {x}, wanted less than the right end of the axis, {right:g}")
    ax.set_xlim(left, right)
    ax.axvspan(x, right, color=colours.WASH, linewidth=0, zorder=0)
    ax.axvline(x, color=colours.MUTED, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    ax.annotate(
        text, (x, 1), (5, -3), xycoords=("data", "axes fraction"), textcoords="offset points",
        color=colours.MUTED, va="top", fontsize=10,
    )  # fmt: skip


def limit_line(ax: Axes, value: float, text: str = "") -> None:
    """Draw the floor or the ceiling of what is measured, such as an entropy, and name it."""
    ax.axhline(value, color=colours.MUTED, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
    ax.annotate(
        text, (0, value), (5, 3), xycoords=("axes fraction", "data"), textcoords="offset points",
        color=colours.MUTED, fontsize=10,
    )  # fmt: skip


def intervals(
    ax: Axes,
    names: Sequence[str],
    means: Any,
    intervals: Any,
    *,
    unit: str = "",
    decimals: int | None = None,
    threshold: float | None = None,
    limit: float | None = None,
    baselines: Collection[str] = (),
) -> None:
    """Compare models by a number: a mark, its 95 % interval as whiskers, and both in figures.

    Args:
        names: n names, the first on top.
        means: (n,) estimates.
        intervals: (n, 2) low and high ends.
        unit: written below the axis.
        decimals: digits after the point; by default as many as the interval supports.
        threshold: where a dashed line marks what the numbers are held against.
        limit: where a dotted line marks their floor or their ceiling.
        baselines: the names that are drawn in slate.

    >>> from matplotlib import pyplot as plt
    >>> _, ax = plt.subplots()
    >>> intervals(ax, ["additive", "none"], [98, 61], [[97, 99], [55, 67]], baselines=["none"])
    """
    centers = as_vector(means, "means")
    ranges = as_intervals(intervals, "intervals", centers.size)
    labels = as_labels(names, "names", centers.size, "mean")
    if unknown := set(baselines) - set(names):
        raise ValueError(f"baselines: got {sorted(unknown)}, wanted names among {list(names)}")
    for mark, dashes in ((threshold, (4, 3)), (limit, (1, 2))):
        if mark is not None:
            ax.axvline(mark, color=colours.MUTED, linewidth=0.9, linestyle=(0, dashes), zorder=1)
    if decimals is None:  # what the middle one of the numbers supports
        decimals = median_low(map(decimals_for, ranges.tolist(), centers.tolist()))
    for row, (name, center, (low, high)) in enumerate(zip(names, centers, ranges, strict=True)):
        whisker, fill, marker = colours.GOLD, colours.PETROL, "s"
        if name in baselines:
            whisker, fill, marker = colours.SLATE, colours.SLATE, "X"
        ax.errorbar(
            center, row, xerr=[[center - low], [high - center]], color=whisker, marker="",
            elinewidth=1.8, capsize=4.5, capthick=1.8,
        )  # fmt: skip
        ax.plot(center, row, marker=marker, color=fill, markersize=6.5, linestyle="", zorder=3)
        ax.annotate(
            format_estimate(float(center), (float(low), float(high)), decimals=decimals),
            (1, row), (8, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
            color=colours.INK, fontsize=10, va="center", annotation_clip=False,
        )  # fmt: skip
    ax.set(ylim=(centers.size - 0.4, -0.6), xlabel=unit)
    ax.set_yticks(range(centers.size), labels=labels)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def _line_style(series: int | str) -> dict[str, Any]:
    if series == "baseline":
        cross = {"marker": "x", "markeredgecolor": colours.SLATE, "markeredgewidth": 1.4}
        return {"color": colours.SLATE, "linestyle": (0, (4, 2)), **cross}
    if isinstance(series, int) and 0 <= series < len(colours.SERIES):
        color, marker = colours.SERIES[series], colours.MARKERS[series]
        return {"color": color, "marker": marker, "markeredgecolor": colours.PAPER}
    raise ValueError(f'series: got {series!r}, wanted 0 to {len(colours.SERIES) - 1} or "baseline"')
