"""Numbers as live outputs show them, in Python as `showNumber` does in the browser."""

from __future__ import annotations


def signed(number: float, decimals: int) -> str:
    """Round a number, with a true minus and without minus zero.

    >>> signed(-0.54, 1), signed(-0.04, 1)
    ('−0.5', '0.0')
    """
    rounded = f"{number:.{decimals}f}"
    return rounded.lstrip("-") if float(rounded) == 0 else rounded.replace("-", "\u2212")


def precise(number: float) -> str:
    """Write nine digits: more than are shown, and fewer than differ from processor to processor.

    >>> precise(1 / 3), precise(0.0)
    ('0.333333333', '0')
    """
    return f"{number:.9g}"
