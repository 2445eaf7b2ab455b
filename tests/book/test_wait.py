"""Blocks wait until they are near the screen; no link, search, key or print misses them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from book_check.lighthouse import heaviest
from book_site.blocks import rows
from docutils import nodes

from tests.book.built import Site
from tests.book.test_browser import FRAMES, NARROW, WIDE, screen, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SKIPPED = """() => [...document.querySelectorAll(".am-wait")].filter(e => e.firstElementChild
  && e.checkVisibility() && !e.firstElementChild.checkVisibility({contentVisibilityAuto: true}))"""
# Near the end of a page, a heading that is seen is as far up as it goes, but for what came later.
MISSED = """id => {
  const part = document.getElementById(id);
  const room = e => parseFloat(getComputedStyle(e).scrollMarginTop) || 0;
  const above = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
  const top = part.getBoundingClientRect().top;
  const left = document.documentElement.scrollHeight - innerHeight - scrollY;
  return left < innerHeight / 2 && top > 0 && top < innerHeight ? 0 : top - room(part) - above;
}"""


def text(letters: int) -> nodes.paragraph:
    """Return a paragraph of some length."""
    return nodes.paragraph("", "a" * letters)


def cell(*parts: nodes.Node, kind: str = "cell_output") -> nodes.container:
    """Return a cell with one output, or one input."""
    return nodes.container("", nodes.container("", *parts, classes=[kind]), classes=["cell"])


def lines(count: int) -> nodes.literal_block:
    """Return some lines of code."""
    return nodes.literal_block("", "\n".join("a" * count))


def test_blocks_know_how_high_they_are() -> None:
    assert rows(text(10)) == 1
    assert rows(text(700)) == 11
    items = [nodes.list_item("", text(90)) for _ in range(3)]
    assert rows(nodes.bullet_list("", *items)) == 6
    assert rows(nodes.math_block("", r"a \\ b")) == 4
    assert rows(cell(lines(20))) == 15
    assert rows(cell(lines(20), lines(20), kind="cell_input")) == 29
    folded = nodes.container("", nodes.Element("", lines(200)), classes=["cell"])
    assert rows(folded) is None
    assert rows(cell(nodes.raw("", "<b>one</b>\n<b>two</b>"))) == 3
    table = nodes.table("", nodes.tgroup("", nodes.tbody("", nodes.row(), nodes.row())))
    assert rows(table) == 6


def test_formulas_are_narrower_than_what_they_are_written_with() -> None:
    formula = nodes.paragraph("", "", nodes.math("", r"\mathbf{x}" * 20))
    assert rows(formula) == 2
    assert rows(text(200)) == 4


def test_images_live_outputs_and_what_is_something_else_do_not_wait() -> None:
    assert rows(nodes.paragraph("", "", nodes.image())) is None
    assert rows(cell(nodes.raw("", "<script>draw()</script>"))) is None
    assert rows(nodes.section("", text(10))) is None
    assert rows(nodes.container("", text(10))) is None
    assert rows(nodes.Text("a")) is None


def test_no_image_is_in_a_block_that_waits(site: Site) -> None:
    """It would be white on a dark page."""
    pages = [page for page in site.chapters if "am-wait" in page.text]
    assert len(pages) > 20
    closed = ".am-wait img, .am-wait script, .solution .am-wait, details .am-wait"
    assert not [page.name for page in pages if page.soup.select(closed)]


def test_what_is_on_the_first_screen_does_not_wait(site: Site) -> None:
    for page in site.chapters:
        blocks = page.article().select("section > :not(section, h1, h2, h3, span[id])")
        assert not [block for block in blocks[:3] if "am-wait" in (block.get("class") or [])]


@pytest.fixture(params=[WIDE, NARROW])
def heavy(
    request: pytest.FixtureRequest, site: Site, server: str, browser: Browser
) -> Iterator[Page]:
    """The heaviest page of mathematics, wide and narrow."""
    faults: list[str] = []
    with visit(browser, server, faults, **screen(request.param, "light")) as context:
        page = context.new_page()
        page.goto(server + heaviest(site.folder)[1])
        yield page
    assert not faults


@pytest.mark.browser
def test_most_of_a_page_waits(heavy: Page) -> None:
    heavy.evaluate(FRAMES)
    waiting = heavy.evaluate(f"({SKIPPED})().length")
    assert waiting > 0.6 * heavy.locator(".am-wait").count()


@pytest.mark.browser
def test_links_lead_to_their_headings(heavy: Page) -> None:
    address = heavy.url
    names = heavy.evaluate("[...document.querySelectorAll('section > section')].map(e => e.id)")
    assert len(names) > 5
    missed = {}
    for name in names:
        heavy.goto("about:blank")
        heavy.goto(f"{address}#{name}")
        for _ in range(3):
            heavy.evaluate(FRAMES)
        if abs(distance := heavy.evaluate(MISSED, name)) > 2:
            missed[name] = distance
    assert not missed


@pytest.mark.browser
def test_what_waits_is_found(heavy: Page) -> None:
    heavy.evaluate(FRAMES)
    words = heavy.evaluate(f"""() => {{
      const last = ({SKIPPED})().filter(e => e.matches("p")).at(-1);
      last.id = "last";
      return last.textContent.match(/[\\w ]{{20,40}}/)[0].trim();
    }}""")
    assert heavy.evaluate("words => find(words, true, true)", words)
    heavy.evaluate(FRAMES)
    assert heavy.evaluate("scrollY") > 1000


@pytest.mark.browser
def test_paper_waits_for_nothing(heavy: Page) -> None:
    waits = """() => [...new Set([...document.querySelectorAll(".am-wait")]
      .map(e => getComputedStyle(e).contentVisibility))]"""
    assert heavy.evaluate(waits) == ["auto"]
    heavy.emulate_media(media="print")
    assert heavy.evaluate(waits) == ["visible"]


@pytest.mark.browser
def test_the_keyboard_reaches_what_waits(heavy: Page) -> None:
    heavy.evaluate(FRAMES)
    heavy.add_style_tag(content=".formula > math { min-width: 3000px !important }")
    wide = f"({SKIPPED})().flatMap(e => [...e.querySelectorAll('.formula')])"
    assert heavy.evaluate(f"{wide}.length") > 2
    heavy.evaluate("dispatchEvent(new Event('resize'))")  # or nobody would look at what waits again
    heavy.keyboard.press("Tab")
    assert heavy.evaluate(f"{wide}.every(e => e.tabIndex === 0)")
