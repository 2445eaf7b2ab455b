from typing import Any

import numpy as np
from matplotlib.colors import to_hex, to_rgb

from bookkit import figures as plot
from bookkit.figures.colours import depth_map


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


def test_depth_falls_from_paper_to_ink_in_even_steps() -> None:
    shades = [luminance(depth_map()(float(t))[:3]) for t in np.linspace(0, 1, 33)]
    lightness = np.cbrt(shades)  # close to what the eye sees
    steps = -np.diff(lightness)
    assert to_hex(depth_map()(0.0)) == plot.PAPER
    assert steps.min() > 0
    assert steps.max() < 1.6 * np.median(steps)


def test_every_series_has_a_marker_of_its_own() -> None:
    assert len(set(plot.MARKERS)) == len(plot.SERIES) == len(plot.MARKERS)
