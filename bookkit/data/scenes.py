"""Pictures of two coloured shapes, what they show in words, and where each word can be seen.

A scene has two shapes, one above the other or side by side. Its caption begins with the upper or
the left one, so there is one right caption, as in "a red circle above a blue square". One
combination of every colour with a shape is held out, so that it can be tested whether a model
composes words that it knows.
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bookkit.data.grammar.dice import Dice
from companion.contracts import contract

Combinations = Literal["seen", "held_out", "all"]
Phrase = tuple[str, str]
"""A colour and a shape."""

SIZE = 32
"""Height and width of a picture, in pixels."""

COLOURS = {
    "red": (214, 39, 40), "green": (48, 150, 60), "blue": (36, 84, 200), "yellow": (238, 212, 50),
    "orange": (244, 140, 24), "purple": (136, 62, 176),
}  # fmt: skip
SHAPES = ("circle", "square", "triangle", "cross")
_NOT_SEEN = ("square", "triangle", "cross", "circle", "square", "triangle")
HELD_OUT = frozenset(zip(COLOURS, _NOT_SEEN, strict=True))
PHRASES = tuple((colour, shape) for colour in COLOURS for shape in SHAPES)
WORD_CLASSES = ("determiner", "colour", "shape", "relation")
VOCABULARY = ("a", "an", *COLOURS, *SHAPES, "above", "left", "of")
LONGEST = 8
"""Most words of a caption."""

_RADII = (5, 6)
_GAP = 2
_JITTER = 12  # of each colour channel, in 255ths
_GREYS = (215, 250)


@dataclass(frozen=True)
class Box:
    """A rectangle of pixels; `bottom` and `right` lie just outside it.

    >>> (3.5, 7.0) in Box(top=3, left=5, bottom=6, right=9)
    True
    """

    top: int
    left: int
    bottom: int
    right: int

    def __contains__(self, point: tuple[float, float]) -> bool:
        """Say whether a point (down, across) lies in it."""
        return self.is_near(point, 0)

    def is_near(self, point: tuple[float, float], margin: float) -> bool:
        """Say whether a point (down, across) lies in it, moved outward by a margin at each side."""
        down, across = point
        high = self.top - margin <= down < self.bottom + margin
        return high and self.left - margin <= across < self.right + margin


@dataclass(frozen=True, eq=False)
class Scene:
    """A picture and its caption, with the class of every word and where it can be seen."""

    image: NDArray[np.uint8]  # (SIZE, SIZE, 3) bytes, red, green and blue
    words: tuple[str, ...]  # the caption
    classes: tuple[str, ...]  # one of `WORD_CLASSES` for every word
    # For every word, where it can be seen: the shape that it is said of, or for a relation both
    boxes: tuple[tuple[Box, ...], ...]


@contract(count=">= 1")
def scenes(count: int, *, seed: int, combinations: Combinations = "seen") -> list[Scene]:
    """Draw scenes.

    Args:
        count: number of scenes.
        seed: decides the scenes, the same on every machine.
        combinations: "seen" draws no held-out combination of colour and shape, "held_out" one in
            every scene beside one that is not, "all" any two.

    >>> " ".join(scenes(1, seed=1)[0].words)
    'a red cross left of a purple circle'
    """
    dice = Dice(seed)
    return [_scene(dice, _phrases(dice, combinations)) for _ in range(count)]


def _phrases(dice: Dice, combinations: Combinations) -> tuple[Phrase, Phrase]:
    seen = [phrase for phrase in PHRASES if phrase not in HELD_OUT]
    if combinations == "all":
        return dice.pick(PHRASES), dice.pick(PHRASES)
    if combinations == "seen":
        return dice.pick(seen), dice.pick(seen)
    both = dice.pick(sorted(HELD_OUT)), dice.pick(seen)
    return both if dice.yes(0.5) else (both[1], both[0])


def _scene(dice: Dice, phrases: tuple[Phrase, Phrase]) -> Scene:
    above = dice.yes(0.5)
    image = np.full((SIZE, SIZE, 3), dice.between(*_GREYS), dtype=np.uint8)
    boxes = _boxes(dice, above)
    for (colour, shape), box in zip(phrases, boxes, strict=True):
        shade = [channel + dice.between(-_JITTER, _JITTER) for channel in COLOURS[colour]]
        window = image[box.top : box.bottom, box.left : box.right]
        window[_outline(shape, (box.bottom - box.top) // 2)] = np.clip(shade, 0, 255)
    # The determiner depends on the sound of the colour.
    first, second = (("an" if phrase[0] == "orange" else "a", *phrase) for phrase in phrases)
    relation = ("above",) if above else ("left", "of")
    return Scene(
        image,
        words=(*first, *relation, *second),
        classes=(*WORD_CLASSES[:3], *("relation" for _ in relation), *WORD_CLASSES[:3]),
        boxes=(*[(boxes[0],)] * 3, *[boxes] * len(relation), *[(boxes[1],)] * 3),
    )


def _boxes(dice: Dice, above: bool) -> tuple[Box, Box]:
    """Choose two boxes, the first above or left of the second, about in one column or row."""
    sides = [2 * dice.between(*_RADII) + 1 for _ in range(2)]
    first = dice.between(0, SIZE - sum(sides) - _GAP)
    second = dice.between(first + sides[0] + _GAP, SIZE - sides[1])
    middle = dice.between(_RADII[1] + 2, SIZE - _RADII[1] - 3)
    boxes = []
    for along, side in zip((first, second), sides, strict=True):
        across = middle + dice.between(-2, 2) - side // 2
        top, left = (along, across) if above else (across, along)
        boxes.append(Box(top, left, top + side, left + side))
    return boxes[0], boxes[1]


@cache
def _outline(shape: str, radius: int) -> NDArray[np.bool_]:
    """Return which pixels of a square box a shape of a radius covers."""
    down, across = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    covered: NDArray[np.bool_]
    if shape == "circle":
        covered = down**2 + across**2 <= (radius + 0.3) ** 2
    elif shape == "square":
        covered = np.ones_like(down, dtype=bool)
    elif shape == "triangle":
        covered = 2 * abs(across) <= down + radius
    else:
        covered = np.minimum(abs(down), abs(across)) <= radius // 3
    return covered
