"""What is wider than a phone can be reached by keyboard, and has a name, without a key pressed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.book.built import Site
from tests.book.test_browser import NARROW, UNREACHABLE, WIDE, screen, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

PAGES = ("history/timeline.html", "appendices/founding.html")
NAMELESS = """() => [...document.querySelectorAll("article pre[tabindex='0']")]
  .filter(e => e.getAttribute("role") !== "group" || !e.getAttribute("aria-label")).length"""
MARKED = """document.querySelectorAll("article pre[role=group]").length"""


@pytest.mark.parametrize("name", PAGES)
def test_wide_parts_are_in_the_keyboards_reach_without_a_key(
    site: Site, server: str, browser: Browser, name: str
) -> None:
    faults: list[str] = []
    with visit(browser, server, faults, **screen(NARROW, "light")) as context:
        page = context.new_page()
        page.goto(server + name)
        page.wait_for_function(f"() => ({UNREACHABLE})().length === 0")
        assert page.evaluate(MARKED) > 0
        assert page.evaluate(NAMELESS) == 0
    assert not faults


def test_what_fits_is_no_stop_for_the_keyboard(site: Site, server: str, browser: Browser) -> None:
    faults: list[str] = []
    with visit(browser, server, faults, **screen(NARROW, "light")) as context:
        page = context.new_page()
        page.goto(server + PAGES[0])
        page.wait_for_function(f"() => {MARKED} > 0")
        before = page.evaluate(MARKED)
        page.set_viewport_size({"width": WIDE, "height": 844})
        page.wait_for_function(f"() => {MARKED} < {before}")
    assert not faults
