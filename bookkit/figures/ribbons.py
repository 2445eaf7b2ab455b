"""Two sentences joined by ribbons: a drawing for the page itself, which follows its theme."""

import zlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Self

from bookkit.inputs import as_labels, as_matrix, links_inside

_SIZE = 20  # of the letters, in the drawing's own units: 10 px where a phone shows it 355 px wide
_WIDTH = 680
_TOP, _BOTTOM = 42, 206
_FAINT = 0.02
_NARROW, _BROAD = frozenset("ijlíìtfr.,;:!¡|'’()"), frozenset("mwMW—…")


class InlineSVG(str):
    """An SVG element as a string; a notebook cell that ends with it shows the drawing."""

    alt: str

    def __new__(cls, svg: str, alt: str) -> Self:
        """Keep the words beside the drawing."""
        self = super().__new__(cls, svg)
        self.alt = alt
        return self

    def __repr__(self) -> str:
        return self.alt

    def _repr_html_(self) -> str:
        return f'<div class="am-hero">{self}</div>'


def sentence_ribbons(
    source: Sequence[str],
    target: Sequence[str],
    weights: Any,
    links: Iterable[tuple[int, int]] = (),
    *,
    title: str = "Where each target word looks",
) -> InlineSVG:
    """Join the words of two sentences by ribbons as thick as the attention between them.

    Weights below 0.02 are not drawn. More than about twelve words make the letters small.

    Args:
        source: k words, written above.
        target: q words, written below.
        weights: (q, k) attention weights.
        links: (target, source) gold links, drawn as golden dots.
        title: what the drawing shows, for screen readers.

    Returns:
        One SVG element; its colours are the page's variables, and elsewhere such as show on white
        and on black.

    >>> svg = sentence_ribbons(["red", "house"], ["casa", "roja"], [[0.1, 0.9], [0.8, 0.2]])
    >>> svg.count("<path")
    5
    """
    matrix = as_matrix(weights, "weights")
    below = as_labels(target, "target", matrix.shape[0], "row")
    above = as_labels(source, "source", matrix.shape[1], "column")
    gold = links_inside(links, "links", matrix.shape, "target, source")
    least = (sum(map(_word_width, words)) + 14 * (len(words) - 1) for words in (above, below))
    width = max(_WIDTH, *map(round, least))
    source_x, target_x = _centers(above, width), _centers(below, width)
    ribbons = [
        _ribbon(source_x[column], target_x[row], float(weight))
        for row, line in enumerate(matrix)
        for column, weight in enumerate(line)
        if weight >= _FAINT
    ]
    dots = [_dots(source_x[column], target_x[row]) for row, column in gold]
    texts = [
        f'<text x="{x}" y="{y}" text-anchor="middle" font-size="{_SIZE}" font-weight="700"'
        f' fill="var(--am-ink, currentColor)">{escape(word)}</text>'
        for words, centers, y in ((above, source_x, 28), (below, target_x, 230))
        for word, x in zip(words, centers, strict=True)
    ]
    looks = (
        f"{word} looks most at {above[column]}, {line[column]:.2f}"
        for word, line, column in zip(below, matrix, matrix.argmax(axis=1), strict=True)
    )
    description = f"Source words above, target words below. {'; '.join(looks)}."
    body = "".join([*ribbons, *dots, *texts, _ruler(width)])
    name = f"ribbons-{zlib.crc32((title + description + body).encode()):08x}"
    return InlineSVG(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} 262" role="img"'
        f' aria-labelledby="{name}-title {name}-desc" style="width: 100%; height: auto">'
        f'<title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-desc">{escape(description)}</desc>{body}</svg>',
        alt=f"{title}. {description}",
    )


def _curve(above: int, below: int) -> str:
    middle = (_TOP + _BOTTOM) // 2
    return f"M{above} {_TOP}C{above} {middle} {below} {middle} {below} {_BOTTOM}"


def _ribbon(above: int, below: int, weight: float) -> str:
    return (
        f'<path class="rib" d="{_curve(above, below)}" fill="none"'
        f' stroke="var(--am-petrol, #2f8593)" stroke-width="{1 + 13 * weight:.1f}"'
        f' stroke-opacity="{0.12 + 0.8 * weight:.2f}"/>'
    )


def _dots(above: int, below: int) -> str:
    rings = (("var(--am-paper, #ffffff)", 5.6), ("var(--am-mark, #a87b0a)", 3.8))
    return "".join(
        f'<path d="{_curve(above, below)}" fill="none" stroke="{color}" stroke-width="{width}"'
        ' stroke-linecap="round" stroke-dasharray="0 10"/>'
        for color, width in rings
    )


def _ruler(width: int) -> str:
    ticks = "".join(f"M{x + 0.5} 252v{8 if x % 50 == 0 else 4}" for x in range(0, width, 10))
    return f'<path d="M0 252.5h{width}{ticks}" stroke="var(--am-mark, #a87b0a)" fill="none"/>'


def _word_width(word: str) -> float:
    """Estimate a bold word's width; measured widths would differ from machine to machine."""
    ems = (0.33 if c in _NARROW else 0.9 if c in _BROAD else 0.58 for c in word)
    return _SIZE * sum(ems)


def _centers(words: Sequence[str], width: int) -> list[int]:
    """Set the words in one line from edge to edge, with equal gaps."""
    widths = [_word_width(word) for word in words]
    if len(words) == 1:
        return [width // 2]
    gap = (width - sum(widths)) / (len(words) - 1)
    return [round(sum(widths[:i]) + i * gap + widths[i] / 2) for i in range(len(words))]
