"""The Transformer drawn as boxes and arrows, with its norms where the order puts them."""

from __future__ import annotations

from typing import Literal, get_args

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from companion.pages.plot.colours import HAIR, INK, MUTED, PAPER, PETROL, WASH

NormOrder = Literal["pre", "post"]
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

    Raises:
        ValueError: another order.

    >>> from matplotlib import pyplot as plt
    >>> _, ax = plt.subplots()
    >>> transformer_diagram(ax, norm_order="pre", layers=2)
    """
    _check_order(norm_order)
    encoder, decoder = _Column(ax, 2.45, -1), _Column(ax, 7.55, 1)
    for column, ids in ((encoder, "source ids (b, k)"), (decoder, "target ids (b, q)")):
        column.words(ids)
        column.box("embedding, times √e", "words")
        column.plus()
        column.beside("positions")
        column.up(0.25)

    bottom = encoder.y
    encoder.sublayer("self-attention", "attention", norm_order)
    encoder.sublayer("feed-forward", "feed_forward", norm_order)
    encoder.frame(bottom, f"{layers} ×")
    if norm_order == "pre":
        encoder.box("norm", "norm")
    encoder.up(0.2)

    decoder.sublayer("causal self-attention", "attention", norm_order)
    cross = decoder.sublayer("cross-attention", "attention", norm_order)
    decoder.sublayer("feed-forward", "feed_forward", norm_order)
    decoder.frame(bottom, f"{layers} ×")
    if norm_order == "pre":
        decoder.box("norm", "norm")
    decoder.box("output, softmax", "words")
    decoder.out()
    decoder.words("next word (b, q, words)")

    _memory(ax, encoder, decoder, cross)
    _finish(ax, 10.0, decoder.y)


def residual_diagram(ax: Axes, *, norm_order: NormOrder) -> None:
    """Draw one sub-layer f, what goes around it, and its norm.

    Args:
        ax: where to draw; its frame is taken away.
        norm_order: "pre" or "post".

    Raises:
        ValueError: another order.

    >>> from matplotlib import pyplot as plt
    >>> _, ax = plt.subplots()
    >>> residual_diagram(ax, norm_order="pre")
    """
    _check_order(norm_order)
    column = _Column(ax, 2.45, -1)
    column.words("x")
    column.sublayer("sub-layer f", "attention", norm_order)
    column.out()
    column.words("output")
    _finish(ax, 4.7, column.y)


class _Column:
    """A stack of boxes that grows upward from where the last one ended.

    Args:
        ax: where to draw.
        x: middle of the column.
        side: -1 lets lines go around on the left, 1 on the right.
    """

    def __init__(self, ax: Axes, x: float, side: int) -> None:
        self.ax, self.x, self.side, self.y = ax, x, side, 0.0

    def words(self, text: str) -> None:
        """Write what goes in or comes out."""
        self._write(self.x, self.y + 0.2, text)
        self.y += 0.42

    def beside(self, text: str) -> None:
        """Write what the last sum adds, with an arrow into it."""
        y = self.y - _RADIUS
        start = self.x + self.side * 0.75
        self._arrow((start, y), (self.x + self.side * _RADIUS, y))
        self._write(start + self.side * 0.1, y, text, align="left" if self.side > 0 else "right")

    def out(self) -> None:
        """Draw an arrow to what comes out."""
        self._arrow((self.x, self.y), (self.x, self.y + _GAP))
        self.y += _GAP + 0.08

    def up(self, length: float) -> None:
        """Go on without an arrow."""
        self._line([self.x, self.x], [self.y, self.y + length])
        self.y += length

    def box(self, text: str, kind: Kind) -> float:
        """Draw an arrow and a box above it; return the height of its middle."""
        self._arrow((self.x, self.y), (self.x, self.y + _GAP))
        low = self.y + _GAP
        self.ax.add_patch(
            FancyBboxPatch(
                (self.x - _WIDTH / 2, low),
                _WIDTH,
                _HEIGHT,
                boxstyle="round,pad=0,rounding_size=0.12",
                facecolor=_FACES[kind],
                edgecolor=_EDGES[kind],
                linewidth=1.1,
                zorder=3,
            )
        )
        middle = low + _HEIGHT / 2
        self._write(self.x, middle, text)
        self.y = low + _HEIGHT
        return middle

    def plus(self) -> None:
        """Draw a sum."""
        self._arrow((self.x, self.y), (self.x, self.y + 0.3))
        middle = self.y + 0.3 + _RADIUS
        self.ax.plot(
            self.x, middle, marker="o", markersize=15, linestyle="",
            markerfacecolor=PAPER, markeredgecolor=INK, markeredgewidth=1.1, zorder=3,
        )  # fmt: skip
        self._write(self.x, middle, "+")
        self.y = middle + _RADIUS

    def sublayer(self, text: str, kind: Kind, norm_order: NormOrder) -> float:
        """Draw a sub-layer in its residual; return the height of its box's middle."""
        self.up(0.16)
        fork = self.y
        if norm_order == "pre":
            self.box("norm", "norm")
        middle = self.box(text, kind)
        self.plus()
        self._around(fork, self.y - _RADIUS)
        if norm_order == "post":
            self.box("norm", "norm")
        return middle

    def frame(self, bottom: float, text: str) -> None:
        """Frame what stands above `bottom`: it is repeated."""
        low, top = bottom + 0.02, self.y + 0.14
        left, width = self.x - _AROUND - 0.2, 2 * _AROUND + 0.4
        self.ax.add_patch(
            FancyBboxPatch(
                (left, low),
                width,
                top - low,
                boxstyle="round,pad=0,rounding_size=0.2",
                facecolor="none",
                edgecolor=HAIR,
                linewidth=1.4,
                zorder=1,
            )
        )
        outer = self.x + self.side * (_AROUND + 0.2)
        self._write(
            outer, top + 0.28, text, align="right" if self.side > 0 else "left", color=MUTED
        )
        self.up(0.14)

    def _around(self, start: float, end: float) -> None:
        out = self.x + self.side * _AROUND
        self._line([self.x, out, out], [start, start, end])
        self._arrow((out, end), (self.x + self.side * _RADIUS, end))

    def _line(self, x: list[float], y: list[float]) -> None:
        self.ax.plot(x, y, color=INK, linewidth=1.1, marker="", zorder=2)

    def _arrow(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        _arrow(self.ax, start, end)

    def _write(
        self,
        x: float,
        y: float,
        text: str,
        *,
        align: Literal["left", "center", "right"] = "center",
        color: str = INK,
    ) -> None:
        self.ax.text(x, y, text, ha=align, va="center", fontsize=_SIZE, color=color, zorder=4)


def _memory(ax: Axes, encoder: _Column, decoder: _Column, height: float) -> None:
    """Lead the encoder's output to the decoder's cross-attention."""
    between = (encoder.x + decoder.x) / 2
    ax.plot(
        [encoder.x, between, between],
        [encoder.y, encoder.y, height],
        color=PETROL, linewidth=1.6, marker="", zorder=2,
    )  # fmt: skip
    _arrow(ax, (between, height), (decoder.x - _WIDTH / 2, height), color=PETROL, width=1.6)
    ax.text(
        encoder.x, encoder.y + 0.35, "memory (b, k, e)",
        ha="center", va="center", fontsize=_SIZE, color=PETROL,
    )  # fmt: skip


def _arrow(
    ax: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    *,
    color: str = INK,
    width: float = 1.1,
) -> None:
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
