"""How a measured number is written: rounded to what its interval supports, never further."""

import math
from collections.abc import Sequence

Interval = tuple[float, float]

_NBSP = "\N{NO-BREAK SPACE}"


def decimals_for(interval: Interval, mean: float) -> int:
    """Return how many decimals of a mean its interval supports.

    The half-width is written with two digits up to 3.54 and one above (the rounding rule of the
    Particle Data Group); without a width the mean gets three digits, less trailing zeros.

    >>> decimals_for((97.5, 98.9), 98.2), decimals_for((0.41, 0.47), 0.44)
    (1, 3)
    >>> decimals_for((100.0, 100.0), 100.0)
    0
    """
    half = (interval[1] - interval[0]) / 2
    if not half > 0:
        digits = f"{mean:.3g}"
        return len(digits.partition(".")[2]) if "e" not in digits else 0
    exponent = math.floor(math.log10(half))
    leading = half / 10**exponent
    return max(0, -exponent + (1 if leading < 3.545 else 0))


def fewest_decimals(
    mean: float, interval: Interval, marks: Sequence[float] = (), *, most: int
) -> int:
    """Return how few decimals tell a reader the same as many.

    The ends of the interval stay apart and on their side of every mark, and the number itself moves
    by a twentieth at most.

    Args:
        mean: the number.
        interval: its interval.
        marks: what the number is held against, such as a threshold.
        most: the decimals that are never exceeded.

    >>> fewest_decimals(98.2, (97.5, 98.9), [95.0, 100.0], most=2)
    0
    >>> fewest_decimals(0.44, (0.41, 0.47), most=3)
    2
    >>> fewest_decimals(99.8, (99.6, 99.9), [100.0], most=2)
    1
    """
    low, high = interval
    for digits in range(most):
        ends = round(low, digits), round(high, digits)
        near = abs(round(mean, digits) - mean) <= abs(mean) / 20
        kept = all(
            (value > mark, value < mark)
            == (round(value, digits) > mark, round(value, digits) < mark)
            for value in (low, mean, high)
            for mark in marks
        )
        if near and kept and (ends[0] < ends[1] or low == high):
            return digits
    return most


def exact_decimals(value: float) -> int:
    """Return how many decimals write a number in full, 6 at most.

    >>> exact_decimals(0.25), exact_decimals(100.0)
    (2, 0)
    """
    return len(f"{value:.6f}".rstrip("0").partition(".")[2])


def format_number(value: float, decimals: int) -> str:
    """Write a number with a real minus sign and, from 10 000 on, with grouped digits.

    >>> format_number(-0.04, 1), format_number(-12.34, 1)
    ('0.0', '−12.3')
    >>> format_number(1234567, 0).split()
    ['1', '234', '567']
    """
    text = f"{value:,.{decimals}f}" if abs(value) >= 10_000 else f"{value:.{decimals}f}"
    if not text.strip("-0."):
        text = text.removeprefix("-")
    return text.replace(",", _NBSP).replace("-", "\N{MINUS SIGN}")


def format_interval(interval: Interval, decimals: int) -> str:
    """Write an interval.

    >>> format_interval((-1.25, 3.5), 2)
    '[−1.25, 3.50]'
    """
    low, high = (format_number(end, decimals) for end in interval)
    return f"[{low}, {high}]"


def format_estimate(
    mean: float, interval: Interval, unit: str = "", *, decimals: int | None = None
) -> str:
    """Write a number with its unit and interval, rounded to what the interval supports.

    An interval without width is none, and is left out.

    >>> format_estimate(98.2, (97.5, 98.9), "BLEU").split()
    ['98.2', 'BLEU', '[97.5,', '98.9]']
    >>> format_estimate(98.2, (98.2, 98.2))
    '98.2'
    """
    digits = decimals_for(interval, mean) if decimals is None else decimals
    value = with_unit(format_number(mean, digits), unit)
    return value if interval[0] == interval[1] else f"{value} {format_interval(interval, digits)}"


def with_unit(number: str, unit: str) -> str:
    """Put the unit behind a number, with a space that does not break.

    >>> with_unit("98.2", "%").split(), with_unit("3", "")
    (['98.2', '%'], '3')
    """
    return f"{number}{_NBSP}{unit}" if unit else number
