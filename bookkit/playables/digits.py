"""A digit in patches to touch: moved, covered or drawn by the reader, and read by two models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bookkit.playables.playable import Playable, playable

if TYPE_CHECKING:
    from torch import Tensor

    from companion.models.vision import VisionTransformer

LEVELS = 31
"""Weights are whole numbers from -LEVELS to LEVELS, times a scale a row: one letter each."""


def shuffle_digit(
    places: VisionTransformer,
    bag: VisionTransformer,
    pictures: Sequence[tuple[str, Tensor]],
    *,
    still: Sequence[float],
    caption: str = "",
) -> Playable:
    """Show a digit in patches of 2 x 2 pixels, and what two Vision Transformers read in it.

    The reader moves patches, leaves some out, or draws; both models run in the page.

    Args:
        places: knows the position of every patch.
        bag: knows none.
        pictures: names and (8, 8) pixels from 0 to 1, in sixteenths, the first one shown.
        still: how many of 100 digits are read without the four patches of most attention, of most
            ink, those missed most, and four by chance.
    """
    for name, model, kind in (("places", places, "learned"), ("bag", bag, "none")):
        if model.config.positions != kind:
            came = model.config.positions
            raise ValueError(f"{name}: got a model with positions {came!r}, wanted {kind!r}")
    return playable(
        "shuffle-digit", "A digit whose patches can be moved", caption=caption,
        places=stored(places), bag=stored(bag), still=list(still),
        pictures=[
            {"name": name, "ink": (16 * pixels).round().int().flatten().tolist()}
            for name, pixels in pictures
        ],
    )  # fmt: skip


def stored(model: VisionTransformer) -> dict[str, Any]:
    """Return the weights of a model as letters; `unpack` in kit.js reads them."""
    from bookkit.playables.weights import quantize

    kept: dict[str, Any] = {}
    for name, weight in model.state_dict().items():
        levels, scale = quantize(weight.reshape(-1, weight.shape[-1]).float(), LEVELS)
        kept[name] = {
            "shape": list(levels.shape), "scale": [float(f"{one:.5g}") for one in scale],
            "letters": "".join(chr(ord("P") + level) for level in levels.flatten().tolist()),
        }  # fmt: skip
    return kept
