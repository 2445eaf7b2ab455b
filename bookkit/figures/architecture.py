"""The Transformer drawn as boxes and arrows, with its norms where the order puts them."""

from typing import Any, Literal, get_args

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from bookkit.figures.colours import HAIR, INK, MUTED, PAPER, PETROL, WASH

NormOrder = Literal["pre", "post"]
Point = tuple[float, float]
Kind = Literal["attention", "feed_forward", "norm", "words"]

_FACES = {"attention": "#caf0f6", "feed_forward": WASH, "norm": PAPER, "words": PAPER}
_EDGES = {"attention": PETROL, "feed_forward": MUTED, "norm": MUTED, "words": INK}
_SIZE = 12  # points: 11 px where a phone shows the figure at 0.71
_WIDTH, _HEIGHT, _GAP = 3.8, 0.62, 0.34
_RADIUS = 0.2
_AROUND = 2.2  # from the middle of a column to the line that goes around a sub-layer


def transformer_diagram(
    ax: Axes, *, norm_order: NormOrder = "post", layers: int | str = "N"
) -> None:
    """Draw an encoder-decoder from bottom to top, after figure 1 of Vaswani et al. (2017).

    Axes of 5.2 by 7.4 inches give letters room.

    Args:
        ax: where to draw; its frame is taken away.
        norm_order: "post" is the paper's, "pre" has a norm before every sub-layer and one after
            each stack.
        layers: number of blocks, written beside the frames.

    >>> from matplotlib import pyplot as plt
    >>> _, ax = plt.subplots()
    >>> transformer_diagram(ax, norm_order="pre", layers=2)
    """
    _check_order(norm_order)
    encoder, decoder = _Column(ax, 2.45, -1, norm_order), _Column(ax, 7.55, 1, norm_order)
    for column, ids in ((encoder, "source ids (b, k)"), (decoder, "target ids (b, q)")):
        column.words(ids)
        column.box("embedding, times √e", "words")
        column.plus()
        column.beside("positions")
        column.up(0.25)

    bottom = encoder.y
    encoder.sublayer("self-attention", "attention")
    encoder.sublayer("feed-forward", "feed_forward")
    encoder.frame(bottom, f"{layers} ×")
    encoder.norm_if("pre")
    encoder.up(0.2)

    decoder.sublayer("causal self-attention", "attention")
    cross = decoder.sublayer("cross-attention", "attention")
    decoder.sublayer("feed-forward", "feed_forward")
    decoder.frame(bottom, f"{layers} ×")
    decoder.up(0.26)  # room for the number of blocks below the next box
    decoder.norm_if("pre")
    decoder.box("output, softmax", "words")
    decoder.out()
    decoder.words("next word (b, q, words)")

    _memory(ax, encoder, decoder, cross)
    _finish(ax, 10.0, decoder.y)


def residual_diagram(ax: Axes, *, norm_order: NormOrder) -> None:
    """Draw one sub-layer f, what goes around it, and its norm; the frame of the axes goes.

    >>> from matplotlib import pyplot as plt
    >>> _, ax = plt.subplots()
    >>> residual_diagram(ax, norm_order="pre")
    """
    _check_order(norm_order)
    column = _Column(ax, 2.45, -1, norm_order)
    column.words("x")
    column.sublayer("sub-layer f", "attention")
    column.out()
    column.words("output")
    _finish(ax, 4.7, column.y)


class _Column:
    """A stack of boxes around x that grows upward from where the last one ended.

    Lines go around on the left of it where the side is -1, on the right where it is 1.
    """

    def __init__(self, ax: Axes, x: float, side: int, norm_order: NormOrder) -> None:
        self.ax, self.x, self.side, self.norm_order, self.y = ax, x, side, norm_order, 0.0

    def words(self, text: str) -> None:
        """Write what goes in or comes out."""
        self._write(self.x, self.y + 0.2, text)
        self.y += 0.42

    def beside(self, text: str) -> None:
        """Write what the last sum adds, with an arrow into it."""
        y = self.y - _RADIUS
        start = self.x + self.side * 0.75
        _arrow(self.ax, (start, y), (self.x + self.side * _RADIUS, y))
        self._write(start + self.side * 0.1, y, text, ha="left" if self.side > 0 else "right")

    def out(self) -> None:
        """Draw an arrow to what comes out."""
        _arrow(self.ax, (self.x, self.y), (self.x, self.y + _GAP))
        self.y += _GAP + 0.08

    def up(self, length: float) -> None:
        """Go on without an arrow."""
        self._line([self.x, self.x], [self.y, self.y + length])
        self.y += length

    def box(self, text: str, kind: Kind) -> float:
        """Draw an arrow and a box above it; return the height of its middle."""
        _arrow(self.ax, (self.x, self.y), (self.x, self.y + _GAP))
        low = self.y + _GAP
        colors = {"facecolor": _FACES[kind], "edgecolor": _EDGES[kind]}
        corner = (self.x - _WIDTH / 2, low)
        self._round(corner, _WIDTH, _HEIGHT, 0.12, linewidth=1.1, zorder=3, **colors)
        middle = low + _HEIGHT / 2
        self._write(self.x, middle, text)
        self.y = low + _HEIGHT
        return middle

    def plus(self) -> None:
        """Draw a sum."""
        _arrow(self.ax, (self.x, self.y), (self.x, self.y + 0.3))
        middle = self.y + 0.3 + _RADIUS
        self.ax.plot(
            self.x, middle, marker="o", markersize=15, linestyle="",
            markerfacecolor=PAPER, markeredgecolor=INK, markeredgewidth=1.1, zorder=3,
        )  # fmt: skip
        self._write(self.x, middle, "+")
        self.y = middle + _RADIUS

    def norm_if(self, order: NormOrder) -> None:
        """Draw a norm, if it stands here in this order."""
        if self.norm_order == order:
            self.box("norm", "norm")

    def sublayer(self, text: str, kind: Kind) -> float:
        """Draw a sub-layer in its residual; return the height of its box's middle."""
        self.up(0.16)
        fork = self.y
        self.norm_if("pre")
        middle = self.box(text, kind)
        self.plus()
        self._around(fork, self.y - _RADIUS)
        self.norm_if("post")
        return middle

    def frame(self, bottom: float, text: str) -> None:
        """Frame what stands above `bottom`: it is repeated."""
        low, top = bottom + 0.02, self.y + 0.14
        left, width = self.x - _AROUND - 0.2, 2 * _AROUND + 0.4
        colors = {"facecolor": "none", "edgecolor": HAIR}
        self._round((left, low), width, top - low, 0.2, linewidth=1.4, zorder=1, **colors)
        outer = self.x + self.side * (_AROUND + 0.2)
        align = "right" if self.side > 0 else "left"
        self._write(outer, top + 0.28, text, ha=align, color=MUTED)
        self.up(0.14)

    def _around(self, start: float, end: float) -> None:
        out = self.x + self.side * _AROUND
        self._line([self.x, out, out], [start, start, end])
        _arrow(self.ax, (out, end), (self.x + self.side * _RADIUS, end))

    def _line(self, x: list[float], y: list[float]) -> None:
        self.ax.plot(x, y, color=INK, linewidth=1.1, marker="", zorder=2)

    def _round(
        self, corner: Point, width: float, height: float, radius: float, **style: Any
    ) -> None:
        """Draw a box with round corners."""
        shape = f"round,pad=0,rounding_size={radius}"
        self.ax.add_patch(FancyBboxPatch(corner, width, height, boxstyle=shape, **style))

    def _write(self, x: float, y: float, text: str, **style: Any) -> None:
        style = {"ha": "center", "color": INK} | style
        self.ax.text(x, y, text, va="center", fontsize=_SIZE, zorder=4, **style)


def _memory(ax: Axes, encoder: _Column, decoder: _Column, height: float) -> None:
    """Lead the encoder's output to the decoder's cross-attention."""
    between = (encoder.x + decoder.x) / 2
    x, y = [encoder.x, between, between], [encoder.y, encoder.y, height]
    ax.plot(x, y, color=PETROL, linewidth=1.6, marker="", zorder=2)
    _arrow(ax, (between, height), (decoder.x - _WIDTH / 2, height), color=PETROL, width=1.6)
    name = "memory (b, k, e)"
    ax.text(
        encoder.x, encoder.y + 0.35, name, ha="center", va="center", fontsize=_SIZE, color=PETROL
    )


def _arrow(ax: Axes, start: Point, end: Point, *, color: str = INK, width: float = 1.1) -> None:
    ax.annotate(
        "", end, start,
        arrowprops={"arrowstyle": "-|>,head_width=0.14,head_length=0.28", "color": color,
                    "linewidth": width, "shrinkA": 0, "shrinkB": 0},
        zorder=2,
    )  # fmt: skip


def _finish(ax: Axes, width: float, height: float) -> None:
    ax.set(xlim=(0, width), ylim=(-0.1, height + 0.1))
    ax.set_axis_off()


def _check_order(norm_order: str) -> None:
    if norm_order not in get_args(NormOrder):
        raise ValueError(f"norm_order: got {norm_order!r}, wanted one of {get_args(NormOrder)}")
