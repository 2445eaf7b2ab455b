"""Chromium, which sees the built site and nothing else, and prints."""

import json
import mimetypes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from book_check.browser import find_browser
from playwright.sync_api import Browser, Page, Route, sync_playwright
from pypdf import PdfReader

from book_print.links import page_of

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")

SHEET_WIDTH = 657  # CSS pixels of the text on A4, between the margins of print.css
SHEET_HEIGHT = 1012
_SMALLEST = 0.6  # of its size, that a formula or a table shrinks to
_SITE = "http://book.invalid/"
_NAME = "print.html"
_FIT = Path(__file__).with_name("fit.js")
# Links to ids that other volumes ask for: Chromium says where an id is if a link leads there.
_ASK = """ids => {
  const asked = document.createElement("nav");
  asked.id = "am-asked";
  asked.style = "position: absolute; top: 0; left: 0; font-size: 1px; color: transparent";
  asked.innerHTML = ids.map(id => `<a href="#${id}">.</a>`).join("");
  document.querySelector(".am-chapter")?.append(asked);
}"""
_ASK_NO_MORE = 'document.querySelector("#am-asked")?.remove()'
_ASKED = """name => [...document.querySelectorAll(`[data-am-volume="${name}"]`)]
  .map(place => place.dataset.amSheet)"""
_NUMBER = """numbers => {
  for (const entry of document.querySelectorAll("a.am-entry")) {
    const target = decodeURIComponent(entry.hash.slice(1));
    entry.querySelector(".am-sheet").textContent = numbers.own[target] ?? "";
  }
  for (const place of document.querySelectorAll("[data-am-sheet]")) {
    place.textContent = numbers.all[place.dataset.amVolume]?.[place.dataset.amSheet] ?? "?";
  }
}"""
_PDF: Any = dict.fromkeys(("prefer_css_page_size", "print_background", "outline", "tagged"), True)
_ROUNDS = 6  # of numbers that move what they number
_PATIENCE = 300_000  # milliseconds, for a busy machine


@contextmanager
def running() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def laid_out(browser: Browser, document: str, site: Path) -> Iterator[tuple[Page, list[str]]]:
    """Lay out a document as if at the root of a site; yield the page and a list of its faults.

    Its own scripts do not run: a picture stands for what they draw.
    """
    context = browser.new_context(
        java_script_enabled=False,
        color_scheme="light",
        viewport={"width": SHEET_WIDTH, "height": SHEET_HEIGHT},
    )
    context.set_default_timeout(_PATIENCE)
    faults: list[str] = []

    def answer(route: Route) -> None:
        path = unquote(urlsplit(route.request.url).path).lstrip("/")
        file = site / path
        if not route.request.url.startswith(_SITE):
            faults.append(f"asks for {route.request.url}")
            route.abort()
        elif path == _NAME:
            route.fulfill(body=document, content_type="text/html; charset=utf-8")
        elif file.is_file():
            kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            route.fulfill(body=file.read_bytes(), content_type=kind)
        else:
            faults.append(f"lacks {path}")
            route.fulfill(status=404)

    context.route("**/*", answer)
    page = context.new_page()
    page.emulate_media(media="print")
    page.goto(_SITE + _NAME)
    page.evaluate("document.fonts.ready.then(() => true)")
    limits = json.dumps({"scale": _SMALLEST, "height": SHEET_HEIGHT})
    faults += page.evaluate(f"({_FIT.read_text(encoding='utf-8')})({limits})")
    yield page, faults
    context.close()


def print_volumes(laid: Mapping[str, Page]) -> dict[str, bytes]:
    """Print laid out documents by the names of their volumes, with bookmarks and tags for readers.

    Each print tells the numbers of sheets, for the contents and for references from one document
    to another. They are filled in until that moves nothing.

    Raises:
        ValueError: the numbers do not come to rest.
    """
    numbers: dict[str, dict[str, int]] = {}
    for _ in range(_ROUNDS):
        printed = {name: page.pdf(**_PDF) for name, page in laid.items()}
        found = {name: _asked(name, laid) | sheets(pdf) for name, pdf in printed.items()}
        if found == numbers:
            return printed
        numbers = found
        for name, page in laid.items():
            page.evaluate(_NUMBER, {"own": numbers[name], "all": numbers})
    raise ValueError("the numbers of sheets change whenever they are filled in")


def _asked(name: str, laid: Mapping[str, Page]) -> dict[str, int]:
    """Return the sheets of a document's anchors that other documents ask for.

    It takes links to find them, and these may push the text that follows onto the next sheet. So
    what the document itself links to is read from a print without them.
    """
    asked = {target for one in laid.values() for target in one.evaluate(_ASKED, name)}
    page = laid[name]
    page.evaluate(_ASK, sorted(asked))
    found = sheets(page.pdf(prefer_css_page_size=True))
    page.evaluate(_ASK_NO_MORE)
    # What a volume leaves out of a page is where the page begins.
    return {target: found.get(target, found[page_of(target)]) for target in asked}


def sheets(pdf: bytes) -> dict[str, int]:
    """Return the number of the sheet, from 1, for every anchor in a PDF that a link leads to."""
    reader = PdfReader(BytesIO(pdf))
    numbers = {
        name.removeprefix("/"): reader.get_destination_page_number(place)
        for name, place in reader.named_destinations.items()
    }
    return {name: number + 1 for name, number in numbers.items() if number is not None}
