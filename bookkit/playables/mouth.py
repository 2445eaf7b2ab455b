"""A captioner to touch: its picture is changed, and words are put into its mouth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bookkit.playables.playable import Playable, playable

if TYPE_CHECKING:
    from companion.models.vision import Captioner

RADIUS = 5
"""Of both shapes, in pixels: the smaller one of training."""
GROUND = 232
"""The grey of the ground, in the middle of those of training."""


def put_words(
    captioner: Captioner,
    *,
    first: tuple[tuple[str, str], tuple[str, str]] = (("red", "square"), ("blue", "circle")),
    at: tuple[tuple[int, int], tuple[int, int]] = ((8, 16), (24, 16)),
    caption: str = "",
) -> Playable:
    """Show a captioner that runs in the page: where it looks before each word, and what it says.

    The reader drags two shapes, chooses their colours, and changes any word that it has said; the
    words after it follow. Its weights are rounded to eight bits.

    Args:
        captioner: knows the words of `bookkit.data.scenes`, and pictures of their size.
        first: colour and shape of both.
        at: where their centres are, pixels across and down.
    """
    from bookkit.data.captions import scene_vocabulary
    from bookkit.data.scenes import COLOURS, HELD_OUT, SHAPES, VOCABULARY, _outline
    from bookkit.playables.weights import in_levels

    names = list(COLOURS)
    return playable(
        "put-words", "A captioner, and words put into its mouth", caption=caption,
        words=list(scene_vocabulary().tokens), colours=names, shapes=list(SHAPES),
        others=[word for word in VOCABULARY if word not in (*names, *SHAPES)],
        shades=[list(shade) for shade in COLOURS.values()], ground=[GROUND] * 3,
        outlines=[_outline(shape, RADIUS).astype(int).tolist() for shape in SHAPES],
        held=sorted(map(list, HELD_OUT)),
        first=[
            {"colour": names.index(colour), "shape": SHAPES.index(shape), "x": x, "y": y}
            for (colour, shape), (x, y) in zip(first, at, strict=True)
        ],
        weights={name: in_levels(weight) for name, weight in captioner.state_dict().items()},
    )  # fmt: skip
