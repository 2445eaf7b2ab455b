"""Shapes of a drawing, which Python writes as SVG and a script draws from their plain form."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

_ATTRIBUTES = {
    "r": ("rect", ("x", "y", "width", "height", "rx")),
    "c": ("circle", ("cx", "cy", "r")),
    "l": ("line", ("x1", "y1", "x2", "y2")),
    "p": ("path", ("d",)),
    "d": ("path", ("d", "stroke-width", "stroke-dasharray")),
    "t": ("text", ("x", "y")),
}
"""By the letter of a shape, its element of SVG and the attributes that follow its class."""

STRIPES = {
    "f": ("full", 1.0),
    "i": ("indexed", 1.0),
    "l": ("latent", 0.8),
    "w": ("window", 0.55),
    "s": ("state", 0.3),
    "c": ("short", 0.15),
    "n": ("none", 0.05),
}
"""By the letter of a layer in a strip, what it reaches, and how long its bar is."""

Plain = list[str | float]
"""A letter, a class, the attributes in their order, and of a text its words."""


@dataclass
class Drawing:
    """A drawing that grows shape by shape."""

    width: float  # of the drawing, in its own units
    height: float = 0.0  # of the drawing
    shapes: list[Plain] = field(default_factory=list)  # in the order in which they are drawn

    def rect(self, look: str, x: float, y: float, width: float, height: float) -> None:
        """Draw a box with rounded corners."""
        self._add("r", look, x, y, width, height, 3)

    def circle(self, look: str, x: float, y: float, radius: float) -> None:
        """Draw a circle around a point."""
        self._add("c", look, x, y, radius)

    def line(self, look: str, x: float, y: float, to_x: float, to_y: float) -> None:
        """Draw a line."""
        self._add("l", look, x, y, to_x, to_y)

    def path(self, look: str, d: str) -> None:
        """Draw what SVG's path language says."""
        self._add("p", look, d)

    def bars(self, look: str, x: float, y: float, width: float, height: float, number: int) -> None:
        """Draw bars of one size side by side, as a thick line with gaps."""
        each = width / number
        gap = min(2.0, each / 3)
        dash = f"{each - gap:.2f} {gap:.2f}"
        self._add("d", look, f"M{_short(x)} {_short(y + height / 2)}h{width:.1f}", height, dash)

    def text(self, look: str, x: float, y: float, words: str) -> None:
        """Write a line of words."""
        self.shapes.append(["t", look, _round(x), _round(y), words])

    def strip(self, x: float, y: float, width: float, height: float, layers: str) -> None:
        """Draw a bar for every layer, the first below, each as long as `STRIPES` says."""
        self._add("s", "reach", x, y, width, height, layers)

    def svg(self, label: str) -> str:
        """Return the drawing as an element of SVG, with words for screen readers."""
        return (
            f'<svg viewBox="0 0 {self.width:g} {self.height:g}" role="img"'
            f' aria-label="{escape(label)}">{elements(self.shapes, "am-atlas-")}</svg>'
        )

    def plain(self) -> dict[str, Any]:
        """Return what a script needs to draw it."""
        return {"size": [self.width, self.height], "shapes": self.shapes}

    def _add(self, letter: str, look: str, *attributes: str | float) -> None:
        rounded = [one if isinstance(one, str) else _round(one) for one in attributes]
        self.shapes.append([letter, look, *rounded])


def elements(shapes: Iterable[Sequence[str | float]], prefix: str) -> str:
    """Return shapes as elements of SVG.

    >>> elements([["c", "sink", 1, 2, 3]], "am-")
    '<circle class="am-sink" cx="1" cy="2" r="3"/>'
    """
    return "".join(_element(one, prefix) for shape in shapes for one in _expanded(shape))


def _expanded(shape: Sequence[str | float]) -> Iterator[Sequence[str | float]]:
    """Yield the paths of a strip; any other shape as it is."""
    letter, look, *rest = shape
    if letter != "s":
        yield shape
        return
    x, y, width, height = map(float, rest[:4])
    layers = str(rest[4])
    step = height / len(layers)
    thick = round(max(1.0, step - min(2.0, step / 3)), 1)
    for kind in dict.fromkeys(layers):
        reach, part = STRIPES[kind]
        bars = (
            f"M{x:g} {y + height - (place + 0.5) * step:.1f}h{width * part:.1f}"
            for place, layer in enumerate(layers)
            if layer == kind
        )
        yield ["d", f"{look} {reach}", "".join(bars), thick, "none"]


def _element(shape: Sequence[str | float], prefix: str) -> str:
    letter, look, *rest = shape
    tag, names = _ATTRIBUTES[str(letter)]
    given = "".join(f' {name}="{value}"' for name, value in zip(names, rest, strict=False))
    looks = " ".join(f"{prefix}{one}" for one in str(look).split())
    start = f'<{tag} class="{looks}"{given}'
    return f"{start}>{escape(str(rest[-1]))}</text>" if letter == "t" else f"{start}/>"


def _round(number: float) -> float:
    """Round to a tenth, whole numbers without a point."""
    rounded = round(number, 1)
    return int(rounded) if rounded == int(rounded) else rounded


def _short(number: float) -> str:
    return f"{_round(number)}"
