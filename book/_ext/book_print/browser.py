"""Chromium, which sees the built site and nothing else, and prints."""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from book_check.browser import BROWSERS, find_browser

from book_print.sheets import sheets

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")

SHEET_WIDTH = 627  # CSS pixels of the text on A4, between the margins of print.css
SHEET_HEIGHT = 960
_SMALLEST = 0.6  # of its size, that a formula or a table shrinks to
_SITE = "http://book.invalid/"
_NAME = "print.html"
_FIT = Path(__file__).with_name("fit.js")
_NUMBER = """numbers => {
  for (const entry of document.querySelectorAll(".am-entry")) {
    const target = decodeURIComponent(entry.hash.slice(1));
    entry.querySelector(".am-sheet").textContent = numbers[target] ?? "";
  }
}"""
_PATIENCE = 300_000  # milliseconds, for a busy machine


class NoBrowserError(RuntimeError):
    """No Chromium is installed."""


def find_program() -> str:
    """Return the Chromium of this machine.

    Raises:
        NoBrowserError: there is none.
    """
    program = find_browser()
    if program is None:
        raise NoBrowserError(f"Chromium prints the book, and none of {', '.join(BROWSERS)} is here")
    return program


@contextmanager
def running() -> Iterator[Browser]:
    """Start Chromium, and end it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_program(), args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def laid_out(browser: Browser, document: str, site: Path) -> Iterator[tuple[Page, list[str]]]:
    """Lay a document out on paper and make it fit; yield it, and what sticks out or is missing.

    Its own scripts do not run: a picture stands for what they draw.

    Args:
        browser: a running Chromium.
        document: HTML that lies at the root of the site.
        site: the folder that its files are in.
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


def print_book(page: Page) -> bytes:
    """Print a document that is laid out, with bookmarks and with tags for screen readers.

    The numbers in its table of contents are those of the sheets of a first print.
    """
    numbers = sheets(page.pdf(prefer_css_page_size=True))
    page.evaluate(_NUMBER, numbers)
    return page.pdf(prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
