from typing import Any

import numpy as np
from matplotlib.colors import to_rgb

from bookkit import figures as plot


def luminance(color: Any) -> float:
    """Relative luminance as in WCAG 2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def contrast(first: str, second: str) -> float:
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def test_lines_stand_out_and_letters_can_be_read() -> None:
    for color in (*plot.SERIES, plot.SLATE):
        assert contrast(color, plot.PAPER) >= 3
        assert contrast(plot.letter_color(color), plot.PAPER) >= 4.5
        assert contrast(plot.letter_color(color), plot.WASH) >= 4.5
