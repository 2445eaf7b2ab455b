"""Ink on paper: the colours of the figures, and the two colour maps."""

from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from numpy.typing import NDArray

INK, MUTED, HAIR = "#16242e", "#566570", "#c9d1d6"
WASH, PAPER = "#eef2f4", "#ffffff"
PETROL, GOLD, WINE, PERIWINKLE = "#1d6571", "#a87b0a", "#7d1238", "#7389c7"
SLATE = "#66737f"
"""The colour of baselines, whose line is always dashed."""

SERIES = (PETROL, GOLD, WINE, PERIWINKLE)
MARKERS = ("o", "s", "^", "D")
"""Each series has its own marker: gold and periwinkle are alike in a grey print."""

_LETTERS = {GOLD: "#84600a", PERIWINKLE: "#4c63a5", SLATE: MUTED}


def letter_color(color: str) -> str:
    """Return the twin of `color` that is dark enough for text (contrast 4.5 : 1 on paper).

    >>> letter_color(GOLD), letter_color(PETROL)
    ('#84600a', '#1d6571')
    """
    return _LETTERS.get(color, color)


def depth_map() -> ListedColormap:
    """Return `am_depth`, for weights: 0 is the paper, 1 is full ink, lightness falls evenly.

    >>> from matplotlib.colors import to_hex
    >>> to_hex(depth_map()(0.0)), to_hex(depth_map()(1.0))
    ('#ffffff', '#182c35')
    """
    t = np.linspace(0, 1, 256)
    chroma = 0.072 * np.sin(np.pi * t**0.8) ** 0.9 + 0.03 * t
    return ListedColormap(_oklch(1 - 0.72 * t, chroma, 206 + 22 * t), "am_depth")


def signed_map() -> ListedColormap:
    """Return `am_signed`, for scores: petrol below zero, paper at zero, brown above.

    >>> from matplotlib.colors import to_hex
    >>> to_hex(signed_map()(0.0)), to_hex(signed_map()(0.5)), to_hex(signed_map()(1.0))
    ('#00586a', '#ffffff', '#8e5318')
    """
    t = np.linspace(0, 1, 128)
    cold = _oklch(1 - 0.58 * t, 0.085 * np.sin(np.pi * t / 2), 205 + 10 * t)
    warm = _oklch(1 - 0.50 * t, 0.105 * np.sin(np.pi * t / 2), 85 - 25 * t)
    return ListedColormap(np.vstack([cold[::-1], warm]), "am_signed")


def _oklch(
    lightness: NDArray[Any], chroma: NDArray[Any], hue_degrees: NDArray[Any]
) -> NDArray[Any]:
    """Convert from OKLCH (Ottosson, 2020) to sRGB, clipped into its gamut."""
    hue = np.radians(hue_degrees)
    a, b = chroma * np.cos(hue), chroma * np.sin(hue)
    cones = np.stack(
        [
            lightness + 0.3963377774 * a + 0.2158037573 * b,
            lightness - 0.1055613458 * a - 0.0638541728 * b,
            lightness - 0.0894841775 * a - 1.2914855480 * b,
        ],
        axis=-1,
    )
    to_linear = np.array(
        [
            [4.0767416621, -3.3077115913, 0.2309699292],
            [-1.2684380046, 2.6097574011, -0.3413193965],
            [-0.0041960863, -0.7034186147, 1.7076147010],
        ]
    )
    linear = (cones**3 @ to_linear.T).clip(0, 1)
    bright = 1.055 * linear ** (1 / 2.4) - 0.055
    return np.asarray(np.where(linear <= 0.0031308, 12.92 * linear, bright))
