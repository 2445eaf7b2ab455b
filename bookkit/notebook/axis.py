"""Numbers with their intervals as dots on one labelled axis, as HTML in the page's colours."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from itertools import count

from bookkit.records import Interval, Side, exact_decimals, format_number

_MOST_TICKS = 5
_RIGHT = 70  # per cent of the axis: a number beside a dot further right stands on its left


@dataclass(frozen=True)
class Dot:
    """A number on the axis: what it is of, its interval, and digits after the point."""

    label: str
    mean: float
    interval: Interval
    decimals: int

    def __str__(self) -> str:
        low, high = (format_number(end, self.decimals) for end in self.interval)
        named = f"{self.label}: " if self.label else ""
        return f"{named}{self.number}, likely between {low} and {high}"

    @property
    def number(self) -> str:
        """The number as it is written."""
        return format_number(self.mean, self.decimals)


def ticks(low: float, high: float) -> tuple[float, ...]:
    """Choose at most five round numbers that span a range.

    >>> ticks(2.5, 7.5)
    (2.0, 4.0, 6.0, 8.0)
    """
    if low == high:  # any scale will do
        low, high = low - 1, high + 1
    return next(marks for step in _steps(high - low) if (marks := _marks(low, high, step)))


def _steps(span: float) -> Iterator[Fraction]:
    """Yield 1, 2 and 5 times the powers of ten, from the first that could serve."""
    for exponent in count(math.floor(math.log10(span / _MOST_TICKS))):
        yield from (factor * Fraction(10) ** exponent for factor in (1, 2, 5))


def _marks(low: float, high: float, step: Fraction) -> tuple[float, ...]:
    """Return the multiples of a step that span low to high; none if they are too many."""
    # The strings hold one tenth, not the binary number beside it.
    first, last = math.floor(Fraction(str(low)) / step), math.ceil(Fraction(str(high)) / step)
    if last - first >= _MOST_TICKS:
        return ()
    return tuple(float(tick * step) for tick in range(first, last + 1))


def axis(
    dots: Sequence[Dot],
    unit: str,
    *,
    side: Side = "above",
    mark: float | None = None,
    least: float = 0.0,
) -> str:
    """Draw dots with their intervals, one below the other, on one axis.

    Args:
        dots: the numbers, from the top down.
        unit: of all of them; it stands at the end of the axis.
        side: of the mark, on which the number was predicted to lie.
        mark: a number to draw a dashed line at; none by default.
        least: how much the axis spans at least, so that it makes no little thing look large.

    >>> axis([Dot("one head", 65.8, (60.0, 71.0), 0)], "%").count('class="m-tick"')
    4
    """
    ends = [end for dot in dots for end in dot.interval] + ([] if mark is None else [mark])
    low, high = min(ends), max(ends)
    low = min(low, max(0.0, high - least))
    marks = ticks(low, max(high, low + least))
    decimals = max(map(exact_decimals, marks))

    def x(value: float) -> float:
        return 100 * (value - marks[0]) / (marks[-1] - marks[0])

    rows, line = [], ""
    if mark is not None:
        said = f"{side} {format_number(mark, exact_decimals(mark))}"
        shown = f"{said} →" if side == "above" else f"← {said}"
        rows.append(_row("", _words(x(mark), shown, left=x(mark) > 50, kind="m-mark")))
        line = f'<span class="m-line" style="left:{x(mark):.1f}%"></span>'
    for dot in dots:
        mean, *ends = map(x, (dot.mean, *dot.interval))
        rows.append(_row(dot.label, line + _span(mean, ends, dot.number)))
    numbers = "".join(
        f'<span class="m-tick" style="left:{x(tick):.1f}%">{format_number(tick, decimals)}</span>'
        for tick in marks
    )
    rows.append(_row("", numbers, "m-ticks"))
    rows.append(_row("", escape(unit), "m-unit"))
    label = escape("; ".join([*filter(None, [unit]), *map(str, dots)]), quote=True)
    return f'<div class="m-axis" role="img" aria-label="{label}">{"".join(rows)}</div>'


def _row(label: str, inside: str, kind: str = "m-track") -> str:
    return f'<span class="m-label">{escape(label)}</span><div class="{kind}">{inside}</div>'


def _span(mean: float, ends: Sequence[float], said: str) -> str:
    low, high = ends
    left = high > _RIGHT
    return (
        f'<span class="m-span" style="left:{low:.1f}%;width:{high - low:.1f}%"></span>'
        f'<span class="m-dot" style="left:{mean:.1f}%"></span>'
        + _words(low if left else high, said, left=left)
    )


def _words(place: float, words: str, *, left: bool, kind: str = "m-said") -> str:
    where = f"right:{100 - place:.1f}%" if left else f"left:{place:.1f}%"
    return f'<span class="{kind}" style="{where}">{escape(words)}</span>'
