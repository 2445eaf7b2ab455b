"""Fonts cut to the characters in use: formulas from 400 KB to about 20, icons to 5, text to 8.

The style sheet of the formulas is written before the pages, the cut fonts after them.
"""

import html
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import pydata_sphinx_theme
from fontTools import subset
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx

from book_site.formulas import MODULES

MATH_FONT = "stix-two-math.woff2"
_MATH_FOLDER = MODULES / "@fontsource/stix-two-math"
MATH_SOURCE = _MATH_FOLDER / "files/stix-two-math-latin-400-normal.woff2"
# Letters of scripts, dotless ones, flat accents, script capitals, primes.
_MATH_FEATURES = ("ssty", "dtls", "flac", "ss01", "ss04")
_FACE = f"""@font-face {{
  font-family: "STIX Two Math";
  font-display: block;
  src: url("{MATH_FONT}") format("woff2");
}}
"""

_THEME = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static"
_WEB_FONTS = "vendor/fontawesome/webfonts"
_ICON_FONTS = ("fa-solid-900", "fa-regular-400", "fa-brands-400")
_ICON_RULE = re.compile(r'([^{}]*)\{[^{}]*content:\s*"\\(f[0-9a-f]{3})"[^{}]*\}')

_TEXT_FONTS = "fonts"
_ASCII = set(range(0x20, 0x7F))  # what a reader types, and scripts write

_ROOT = ord("√")  # drawn by elements, not written in them
# A <mi> of one letter is drawn with that letter's mathematical italic: runs, and single ones.
_RUNS = (("a", "z", 0x1D44E), ("A", "Z", 0x1D434), ("α", "ω", 0x1D6FC), ("Α", "Ω", 0x1D6E2))
_SINGLE = dict(zip("hıȷ∇∂ϵϑϰϕϱϖ", "ℎ𝚤𝚥𝛻𝜕𝜖𝜗𝜘𝜙𝜚𝜛", strict=True))


def cut(
    font: TTFont, characters: Iterable[int], target: Path, features: Iterable[str] = ()
) -> None:
    """Write the part of a font, which is changed, that draws those characters it has, as WOFF2.

    Tables of mathematical layout are kept, with the variants they reach, and some features of
    layout. The same characters give the same bytes.
    """
    subsetter = subset.Subsetter(subset.Options(layout_features=list(features), hinting=False))
    subsetter.populate(unicodes=set(characters) & set(font.getBestCmap()))
    subsetter.subset(font)
    font.flavor = "woff2"
    font.save(target)


def read_font(path: Path) -> TTFont:
    """Open a font that, saved again, keeps its date: no two builds differ."""
    return TTFont(path, recalcTimestamp=False)


def narrow_roots(font: TTFont) -> None:
    """Draw the tall root signs of a font as wide as the smallest.

    Chromium keeps space for the widest of them behind every root, however low: 0.4 em of nothing.
    """
    variants, widths = font["MATH"].table.MathVariants, font["hmtx"]
    base = font.getBestCmap()[_ROOT]
    tall = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(base)]
    names = {record.VariantGlyph for record in tall.MathGlyphVariantRecord}
    names |= {part.glyph for part in tall.GlyphAssembly.PartRecords}
    glyphs = font.getGlyphSet()
    for name in names - {base}:
        advance, bearing = widths[name]
        scale = widths[base][0] / advance
        pen = TTGlyphPen(None)
        glyphs[name].draw(TransformPen(pen, (scale, 0, 0, 1, 0, 0)))
        font["glyf"][name] = pen.glyph()
        widths[name] = (widths[base][0], round(bearing * scale))


def math_characters(page: str) -> set[int]:
    """Return the code points that the formulas of a page are drawn with.

    >>> sorted(map(chr, math_characters("<p>no</p><math><mi>q</mi><mn>2</mn></math>")))
    ['2', 'q', '𝑞']
    """
    text = " ".join(re.findall(r"<math\b.*?</math>", page, flags=re.DOTALL))
    used = set(map(ord, html.unescape(re.sub(r"<[^>]*>", "", text)))) - {ord(" "), ord("\n")}
    single = set(map(ord, re.findall(r"<mi\b(?![^>]*mathvariant)[^>]*>(.)</mi>", text)))
    for first, last, italic in _RUNS:
        used |= {code - ord(first) + italic for code in single if ord(first) <= code <= ord(last)}
    used |= {ord(italic) for letter, italic in _SINGLE.items() if ord(letter) in single}
    return used | ({_ROOT} if re.search(r"<m(?:sqrt|root)\b", text) else set())


def icon_characters(styles: str, names: set[str]) -> set[int]:
    r"""Return the code points of the icons that pages name, or that a style sheet asks for itself.

    >>> styles = '.fa-list:before{content:"\\f03a"}.fa-bug:before{content:"\\f188"}'
    >>> [hex(code) for code in icon_characters(styles, {"fa-list", "fa-solid"})]
    ['0xf03a']
    """
    used = {ord(sign) for sign in styles if "\ue000" <= sign <= "\uf8ff"}
    for selector, code in _ICON_RULE.findall(styles):
        icons = set(re.findall(r"fa-[\w-]+", selector))
        if not icons or icons & names:
            used.add(int(code, 16))
    return used


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", _write_style)
    app.connect("builder-inited", _forget)
    app.connect("build-finished", _cut_fonts)


def _write_style(app: Sphinx) -> None:
    if app.builder.format != "html":
        return
    style = (MODULES / "temml/dist/Temml-STIX2.css").read_text(encoding="utf-8")
    style = re.sub(r"@font-face\s*\{.*?\}", "", style, flags=re.DOTALL)
    style = style.replace("font-family: STIX2, math", 'font-family: "STIX Two Math", math')
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "formulas.css").write_text(_FACE + style, encoding="utf-8")
    app.add_css_file("formulas.css")


def _forget(app: Sphinx) -> None:
    """Delete the cut fonts of the last build, over which Sphinx would not copy in silence."""
    static = Path(app.outdir, "_static")
    for path in (*static.glob(f"{_WEB_FONTS}/*.woff2"), *static.glob(f"{_TEXT_FONTS}/*.woff2")):
        path.unlink()


def _cut_fonts(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    pages = "".join(_texts(Path(app.outdir), "*.html"))
    font = read_font(MATH_SOURCE)
    narrow_roots(font)
    cut(font, math_characters(pages), static / MATH_FONT, _MATH_FEATURES)
    shutil.copyfile(_MATH_FOLDER / "LICENSE", static / f"{MATH_FONT}.LICENSE.txt")
    scripts, styles = ("".join(_texts(static, kind)) for kind in ("*.js", "*.css"))
    icons = icon_characters(styles, set(re.findall(r"\bfa-[\w-]+", pages + scripts)))
    for name in _ICON_FONTS:
        path = Path(_WEB_FONTS, f"{name}.woff2")
        cut(read_font(_THEME / path), icons, static / path)
    letters = set(map(ord, html.unescape(pages) + scripts)) | _ASCII
    for path in (static / _TEXT_FONTS).glob("*.woff2"):
        cut(read_font(path), letters, path, ["*"])


def _texts(folder: Path, pattern: str) -> Iterator[str]:
    for path in sorted(folder.rglob(pattern)):
        if path.name != "fontawesome.js":  # it names them all, and no page loads it
            yield path.read_text(encoding="utf-8")
