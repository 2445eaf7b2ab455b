"""Code is whole on a wide screen, its cut is seen on a narrow one, and prose keeps its measure."""

from __future__ import annotations

import io
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

from tests.book.built import Page as BuiltPage
from tests.book.built import Site
from tests.book.test_browser import FRAMES, NARROW, WIDE, background, screen, visit
from tests.book.test_notebooks import LINE_LENGTH

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WIDEST = 1680
MEASURE = (60, 72)  # letters of a line of prose
COLOURS_APART = 12  # of 255: a shade that a reader can see

# What a line holds: letters by lines, the last of which is half full on the average.
LETTERS = """() => [...document.querySelectorAll("article section > p")]
  .filter(e => e.textContent.length > 400 && !e.querySelector("math, img"))
  .map(e => e.textContent.length
    / (Math.round(e.getBoundingClientRect().height / parseFloat(getComputedStyle(e).lineHeight))
      - .5))"""
# A cell whose only line has as many letters as a page's code may have.
WRITE = """length => {
  const cell = document.querySelector("article section > .cell > .cell_input:first-child");
  cell.querySelector("pre").textContent = "x".repeat(length);
  cell.querySelector("pre").id = "longest-line";
}"""


def page_with_code(site: Site) -> BuiltPage:
    """Return the first page that shows a cell of code."""
    shown = "section > .cell > .cell_input:first-child pre"
    return next(page for page in site.chapters if page.article().select(shown))


def wide(page: Page, part: Locator) -> bool:
    """Tell whether a part is wider than its box."""
    return bool(part.evaluate("e => e.scrollWidth > e.clientWidth"))


def edges(page: Page, part: Locator) -> list[Any]:
    """Return the colours of a box at its left and right edge, near its lower end."""
    from PIL import Image

    page.evaluate(FRAMES)
    box = part.bounding_box()
    assert box is not None
    low = box["y"] + box["height"] - 6
    shot = page.screenshot(clip={"x": box["x"], "y": low, "width": box["width"], "height": 1})
    picture = Image.open(io.BytesIO(shot)).convert("RGB")
    return [picture.getpixel((x, 0)) for x in (1, picture.width // 2, picture.width - 2)]


def apart(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Return by how much two colours differ."""
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("width", [WIDE, WIDEST])
def test_the_longest_line_of_code_is_whole(
    site: Site, server: str, browser: Browser, width: int
) -> None:
    faults: list[str] = []
    with visit(browser, server, faults, **screen(width, "light")) as context:
        page = context.new_page()
        page.goto(server + page_with_code(site).name)
        page.evaluate(WRITE, LINE_LENGTH)
        line = page.locator("#longest-line")
        line.scroll_into_view_if_needed()
        assert not wide(page, line)
        page.evaluate(WRITE, LINE_LENGTH + 20)
        assert wide(page, line)
    assert not faults


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone_code_scrolls_and_its_cut_is_seen(
    site: Site, server: str, browser: Browser, theme: Any
) -> None:
    faults: list[str] = []
    with visit(browser, server, faults, **screen(NARROW, theme)) as context:
        page = context.new_page()
        page.goto(server + page_with_code(site).name, wait_until="networkidle")
        page.evaluate(WRITE, LINE_LENGTH)
        line = page.locator("#longest-line")
        line.scroll_into_view_if_needed()
        assert wide(page, line)
        left, ground, right = edges(page, line)
        assert apart(left, ground) <= 2 < COLOURS_APART < apart(right, ground)
        line.evaluate("e => e.scrollLeft = e.scrollWidth")
        left, ground, right = edges(page, line)
        assert apart(right, ground) <= 2 < COLOURS_APART < apart(left, ground)
        assert apart(background(page), ground) < 64
        page.evaluate(WRITE, 10)
        left, ground, right = edges(page, line)
        assert max(apart(left, ground), apart(right, ground)) <= 2
    assert not faults


@pytest.mark.parametrize("width", [WIDE, WIDEST])
def test_prose_keeps_its_measure(site: Site, server: str, browser: Browser, width: int) -> None:
    faults: list[str] = []
    letters: list[float] = []
    with visit(browser, server, faults, **screen(width, "light")) as context:
        page = context.new_page()
        for one in [page for page in site.chapters if "/api/" not in page.name][::3]:
            page.goto(server + one.name)
            page.evaluate("document.fonts.ready")
            letters += page.evaluate(LETTERS)
    assert len(letters) > 20
    assert MEASURE[0] <= median(letters) <= MEASURE[1]
    assert not faults
