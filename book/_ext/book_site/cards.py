"""Cards in the look of the book: pictures of 1200 by 630 that stand for a page that is shared."""

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

import matplotlib
from fontTools.ttLib import TTFont
from PIL import Image, ImageDraw, ImageFont

SIZE = (1200, 630)

_FONTS = Path(__file__).parents[3] / "bookkit" / "fonts"
_SIGNS = Path(matplotlib.get_data_path(), "fonts/ttf/DejaVuSans.ttf")  # for what ours lacks
_INK, _MUTED, _PETROL, _GOLD, _MARK = "#16242e", "#4d5d68", "#1d6571", "#84600a", "#a87b0a"
_EDGE = 80
_TITLE_SIZES = (88, 76, 64, 54)


def draw(path: Path, title: str, description: str, kicker: str, book: str) -> None:
    """Draw a card and write it as PNG; the same words give the same bytes.

    The kicker stands above the title, the name of the book beside the mark. Title and description
    have at most three lines each; what does not fit is cut at a word.
    """
    card = Image.new("RGB", SIZE, "#ffffff")
    pen = ImageDraw.Draw(card)
    pen.rectangle((0, 0, SIZE[0], 3), _MARK)  # the edge of a ruler: what the book does with claims
    for number, x in enumerate(range(0, SIZE[0], 15)):
        pen.rectangle((x, 0, x + 2, 14 if number % 5 else 26), _MARK)
    _write(pen, 110, kicker, _GOLD, _font(32, bold=True))
    below = 172
    for line, font in _title(title):
        _write(pen, below, line, _INK, font)
        below += round(font.size * 1.15)
    font = _font(34)
    lines = list(_wrap(description, font))
    shown = lines[: min(3, max(0, (SIZE[1] - 146 - below) // 46))]  # above the mark
    if shown and len(shown) < len(lines):
        shown[-1] = shown[-1].rstrip(" ,;:.") + " …"
    for number, line in enumerate(shown):
        _write(pen, below + 16 + 46 * number, line, _MUTED, font)
    left, top = _EDGE, SIZE[1] - 122  # the mark: an interval around a square
    for x0, y0, x1, y1 in ((1, 7, 4, 25), (28, 7, 31, 25), (1, 14.5, 31, 17.5)):
        pen.rectangle((left + 2 * x0, top + 2 * y0, left + 2 * x1 - 1, top + 2 * y1 - 1), _MARK)
    pen.rectangle((left + 20, top + 20, left + 43, top + 43), _PETROL)
    pen.text((left + 86, top + 32), book, _INK, _font(34, bold=True), anchor="lm")
    path.parent.mkdir(parents=True, exist_ok=True)
    card.quantize(32, dither=Image.Dither.NONE).save(path, optimize=True)


def _write(
    pen: ImageDraw.ImageDraw, top: float, line: str, colour: str, font: ImageFont.FreeTypeFont
) -> None:
    """Write a line, signs that the book's font lacks in another."""
    x, y = float(_EDGE), top + font.getmetrics()[0]
    for known, run in groupby(line, lambda sign: ord(sign) in _known()):
        text, face = "".join(run), font if known else ImageFont.truetype(_SIGNS, font.size)
        pen.text((x, y), text, colour, face, anchor="ls")
        x += face.getlength(text)


@cache
def _known() -> frozenset[int]:
    return frozenset(TTFont(_FONTS / "ahn-400-normal.ttf").getBestCmap())


def _font(size: int, *, bold: bool = False) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(_FONTS / f"ahn-{700 if bold else 400}-normal.ttf", size)


def _title(title: str) -> Iterator[tuple[str, ImageFont.FreeTypeFont]]:
    """Yield the lines of a title in the largest size in which it takes two, or else three."""
    for size in _TITLE_SIZES:
        font = _font(size, bold=True)
        lines = list(_wrap(title, font))
        if len(lines) <= 2:
            break
    yield from ((line, font) for line in lines[:3])


def _wrap(text: str, font: ImageFont.FreeTypeFont) -> Iterator[str]:
    line = ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and font.getlength(longer) > SIZE[0] - 2 * _EDGE:
            yield line
            longer = word
        line = longer
    if line:
        yield line
