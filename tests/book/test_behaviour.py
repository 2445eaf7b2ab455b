"""What can be clicked, tapped and typed on a page works, and all of it from the keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.book.built import Page as BuiltPage
from tests.book.built import Site
from tests.book.test_browser import FRAMES, NARROW, WIDE, screen, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

FOCUSED = """() => {
  const e = document.activeElement;
  if (e === document.body) return null;
  // Some have no size of their own: a card's link covers the card, a part of the contents a sign.
  const face = e.querySelector(".toctree-toggle") ?? e.closest(".sd-card") ?? e;
  const outlines = [getComputedStyle(e), getComputedStyle(face), getComputedStyle(e, "::after")];
  const box = face.getBoundingClientRect();
  let opacity = 1;
  for (let p = face; p; p = p.parentElement) opacity *= getComputedStyle(p).opacity;
  e.dataset.reached = "";
  return {
    what: e.outerHTML.slice(0, 120),
    marked: outlines.some(s => parseFloat(s.outlineWidth) >= 2 && s.outlineStyle !== "none"),
    shown: opacity > .9 && face.checkVisibility({visibilityProperty: true})
      && box.width > 0 && box.height > 0
      && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
  };
}"""
NOT_REACHED = """() => [...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex='0']")]
  .filter(e => e.checkVisibility({visibilityProperty: true}) && !e.disabled && e.tabIndex >= 0
    && !("reached" in e.dataset)).map(e => e.outerHTML.slice(0, 120))"""


def page_with(site: Site, selector: str) -> BuiltPage:
    """Return the first chapter whose article has something."""
    return next(page for page in site.chapters if page.article().select(selector))


@pytest.fixture
def open_page(server: str, browser: Browser) -> Iterator[Page]:
    """A page that has no faults at the end of the test."""
    faults: list[str] = []
    options = screen(WIDE, "light") | {"permissions": ["clipboard-read", "clipboard-write"]}
    with visit(browser, server, faults, **options) as context:
        yield context.new_page()
        assert not faults


def test_a_folded_part_opens_and_closes_by_mouse_and_keyboard(
    site: Site, server: str, open_page: Page
) -> None:
    name = page_with(site, ".admonition.dropdown").name
    open_page.goto(server + name)
    box = open_page.locator("article .admonition.dropdown").first
    inside = box.locator(":scope > :not(.admonition-title)").first
    button = box.locator("button.toggle-button").first
    inside.wait_for(state="hidden")
    box.locator(".admonition-title").first.click()
    inside.wait_for(state="visible")
    assert button.get_attribute("aria-expanded") == "true"
    button.focus()
    open_page.keyboard.press("Enter")
    inside.wait_for(state="hidden")
    assert button.get_attribute("aria-expanded") == "false"


def test_hidden_code_opens(site: Site, server: str, open_page: Page) -> None:
    open_page.goto(server + page_with(site, "details.hide").name)
    details = open_page.locator("article details.hide").first
    assert not details.locator("pre").first.is_visible()
    details.locator("summary").focus()
    open_page.keyboard.press("Enter")
    assert details.locator("pre").first.is_visible()


def test_code_is_copied(site: Site, server: str, open_page: Page) -> None:
    open_page.goto(server + page_with(site, ".cell_input .highlight").name)
    cell = open_page.locator(".cell_input .highlight >> visible=true").first
    cell.hover()
    cell.locator("button.copybtn").click()
    copied = open_page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == cell.locator("pre").inner_text().strip()


def test_the_menu_opens_walks_and_closes_by_keyboard(server: str, open_page: Page) -> None:
    open_page.goto(server + "start/start.html")
    button = open_page.locator(".dropdown-download-buttons > button")
    menu = open_page.locator(".dropdown-download-buttons .dropdown-menu")
    button.click()
    menu.wait_for(state="visible")
    box = menu.bounding_box()
    assert box is not None
    assert 0 <= box["x"] <= WIDE - box["width"]
    open_page.mouse.click(5, 5)
    menu.wait_for(state="hidden")
    button.focus()
    open_page.keyboard.press("ArrowDown")
    menu.wait_for(state="visible")
    open_page.keyboard.press("ArrowDown")
    assert open_page.evaluate("document.activeElement.classList.contains('dropdown-item')")
    open_page.keyboard.press("Escape")
    menu.wait_for(state="hidden")
    assert button.evaluate("e => e === document.activeElement")


def test_a_button_tells_what_it_does(server: str, open_page: Page) -> None:
    open_page.goto(server + "start/start.html")
    open_page.locator(".bd-header-article .primary-toggle").hover()
    tip = open_page.locator(".tooltip.show")
    tip.wait_for()
    assert tip.inner_text() == "Toggle primary sidebar"
    open_page.keyboard.press("Escape")


def test_the_sidebar_goes_and_comes(server: str, open_page: Page) -> None:
    open_page.goto(server + "start/start.html")
    sidebar = open_page.locator("#pst-primary-sidebar")
    toggle = open_page.locator(".bd-header-article .primary-toggle")
    toggle.click()
    sidebar.wait_for(state="hidden")
    toggle.click()
    sidebar.wait_for(state="visible")


@pytest.mark.parametrize("side", ["primary", "secondary"])
def test_a_phone_has_both_sidebars(side: str, server: str, browser: Browser) -> None:
    faults: list[str] = []
    options = screen(NARROW, "light") | {"is_mobile": True, "has_touch": True}
    with visit(browser, server, faults, **options) as context:
        page = context.new_page()
        page.goto(server + "start/start.html")
        page.locator(f".bd-header-article .{side}-toggle").tap()
        dialog = page.locator(f"#pst-{side}-sidebar-modal")
        dialog.wait_for()
        assert dialog.locator("a").first.is_visible()
        page.keyboard.press("Escape")
        dialog.wait_for(state="hidden")
    assert not faults


def test_a_reference_leads_to_its_equation(site: Site, server: str, open_page: Page) -> None:
    name = page_with(site, 'a[href^="#equation-"]:not(.headerlink)').name
    open_page.goto(server + name)
    link = open_page.locator('article a[href^="#equation-"]:not(.headerlink)').first
    target = str(link.get_attribute("href"))
    link.click()
    assert open_page.evaluate("location.hash") == target
    assert open_page.locator(target).first.is_visible()


def test_icons_have_glyphs(server: str, open_page: Page) -> None:
    """Every icon is drawn by a font that came along."""
    open_page.goto(server + "start/start.html", wait_until="networkidle")
    bare = open_page.evaluate(
        """() => [...document.querySelectorAll("i[class*=fa-], span[class*=fa-]")]
          .filter(e => e.checkVisibility()).filter(e => {
            const style = getComputedStyle(e, "::before");
            return !/^".+"$/.test(style.content)
              || !document.fonts.check(`${style.fontWeight} 16px ${style.fontFamily}`);
          }).map(e => e.className)"""
    )
    assert not bare


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_tab_reaches_everything_and_shows_where_it_is(
    site: Site, server: str, browser: Browser, theme: str
) -> None:
    page_name = page_with(site, "details.hide, .admonition.dropdown").name
    faults: list[str] = []
    with visit(
        browser,
        server,
        faults,
        viewport={"width": WIDE, "height": 844},
        color_scheme=theme,
        reduced_motion="reduce",
    ) as context:
        page = context.new_page()
        page.goto(server + page_name, wait_until="networkidle")
        page.add_style_tag(content="* { transition: none !important }")  # no change in between
        stops = []
        for _ in range(600):
            page.keyboard.press("Tab")
            page.evaluate(FRAMES)
            stop = page.evaluate(FOCUSED)
            if stop is None:
                break
            stops.append(stop)
        else:
            faults.append("no end")
        assert "Skip to main content" in stops[0]["what"]
        faults += [f"cannot be seen: {stop['what']}" for stop in stops if not stop["shown"]]
        faults += [f"has no mark: {stop['what']}" for stop in stops if not stop["marked"]]
        faults += [f"not reached: {what}" for what in page.evaluate(NOT_REACHED)]
    assert not faults


def test_the_skip_link_skips(server: str, open_page: Page) -> None:
    open_page.goto(server + "start/start.html")
    open_page.keyboard.press("Tab")
    open_page.keyboard.press("Enter")
    open_page.keyboard.press("Tab")
    assert open_page.evaluate("!!document.activeElement.closest('#main-content')")


@pytest.mark.parametrize("button", [".theme-switch-button", ".primary-toggle"])
def test_a_button_keeps_the_place_of_the_keyboard(
    button: str, server: str, open_page: Page
) -> None:
    open_page.goto(server + "start/start.html")
    control = open_page.locator(f".bd-header-article {button}")
    control.focus()
    open_page.keyboard.press("Enter")
    open_page.wait_for_function(f"document.activeElement.matches('{button}')")
