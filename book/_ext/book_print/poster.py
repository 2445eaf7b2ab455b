"""The atlas on one sheet: every architecture with its drawing, made from what its page holds.

No PyTorch is needed: the page has the drawings as plain shapes.
"""

import base64
import html
import json
from collections.abc import Iterator
from pathlib import Path

from bs4 import BeautifulSoup
from playwright.sync_api import Browser

from bookkit.atlas.shapes import elements
from bookkit.playables.playable import style_of

PAGE = "appendices/architectures.html"
FILE = "attention-measured-atlas.pdf"

_TITLE = "Attention in today's models"
_SHEET = (1189, 841)  # millimetres of A0, on its side
_PIXELS = 96 / 25.4
_STYLE = Path(__file__).with_name("poster.css")
_COLUMNS = range(6, 20)
_FIGURE = 'figure[data-play="atlas"]'


def make_poster(browser: Browser, site: Path) -> dict[str, bytes]:
    """Print the poster; return it by the name of its file, or nothing where there is no atlas."""
    source = site / PAGE
    if not source.is_file():
        return {}
    page = BeautifulSoup(source.read_text(encoding="utf-8"), "html.parser")
    cards = list(cards_of(page))
    caption = page.select_one(f"{_FIGURE} figcaption")
    about = "" if caption is None else caption.get_text().strip()
    width, height = (round(side * _PIXELS) for side in _SHEET)
    view = browser.new_page(viewport={"width": width, "height": height})
    view.emulate_media(media="print", color_scheme="light")
    for columns in _COLUMNS:
        view.set_content(document(cards, columns, about, fonts(site)))
        view.evaluate("document.fonts.ready.then(() => true)")
        if view.evaluate("document.querySelector('main').scrollHeight") <= height:
            pdf = view.pdf(prefer_css_page_size=True, print_background=True, tagged=True)
            view.close()
            return {FILE: pdf}
    raise ValueError(f"{len(cards)} architectures do not fit a sheet")


def cards_of(page: BeautifulSoup) -> Iterator[str]:
    data = page.select_one(f"{_FIGURE} script[type='application/json']")
    if data is None:
        raise ValueError(f"{PAGE} has no table of architectures")
    parts = ("name", "pattern", "keeps", "unusual")
    for row in json.loads(data.get_text())["rows"]:
        name, pattern, keeps, unusual = (html.escape(row[part]) for part in parts)
        width, height = row["size"]
        yield (
            f"<section><h2>{name} <small>{row['year']}</small></h2>"
            f"<p><b>{pattern}</b>. Keeps {keeps}.</p>"
            f'<svg class="am-atlas-drawing" viewBox="0 0 {width} {height}" role="img"'
            f' aria-label="{html.escape(row["alt"])}">{elements(row["shapes"], "am-atlas-")}</svg>'
            f"<p>{unusual}</p></section>"
        )


def fonts(site: Path) -> str:
    """Return the book's letters as style, so that the sheet needs no other file."""
    return "".join(
        '@font-face{font-family:"Atkinson Hyperlegible Next";'
        f"font-weight:{'700' if '700' in path.name else '400'};"
        f"src:url(data:font/woff2;base64,{base64.b64encode(path.read_bytes()).decode()})}}"
        for path in sorted((site / "_static").rglob("ahn-[47]00-normal*.woff2"))
    )


def document(cards: list[str], columns: int, about: str, letters: str = "") -> str:
    """Return the sheet as a document: cards side by side below a title and a line about them."""
    style = letters + style_of("atlas") + _STYLE.read_text(encoding="utf-8")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{_TITLE}</title><style>{style}main{{--columns:{columns}}}</style></head>"
        f'<body><main class="am-play"><header><h1>{_TITLE}</h1>'
        f'<p>{html.escape(about)}</p></header><div class="cards">'
        f"{''.join(cards)}</div></main></body></html>"
    )
