"""What can be clicked, tapped and typed on a page works, and all of it from the keyboard."""

import pytest

from tests.book.built import Site
from tests.book.conftest import NARROW, WIDE, Open
from tests.book.test_browser import FRAMES, background

pytestmark = pytest.mark.browser

START = "start/start.html"
FOCUSED = """() => {
  const e = document.activeElement;
  if (e === document.body) return null;
  // A part of the contents has no size of its own, its sign has.
  const face = e.querySelector(".toctree-toggle") ?? e;
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


# Icons that no font draws which came along.
BARE_ICONS = """() => [...document.querySelectorAll("i[class*=fa-], span[class*=fa-]")]
  .filter(e => e.checkVisibility()).filter(e => {
    const style = getComputedStyle(e, "::before");
    return !/^".+"$/.test(style.content)
      || !document.fonts.check(`${style.fontWeight} 16px ${style.fontFamily}`);
  }).map(e => e.className)"""


def page_with(site: Site, selector: str) -> str:
    return next(page.name for page in site.chapters if page.article().select(selector))


def test_a_folded_part_opens_and_closes_by_mouse_and_keyboard(site: Site, open_page: Open) -> None:
    page = open_page(page_with(site, ".admonition.dropdown"))
    box = page.locator("article .admonition.dropdown").first
    inside = box.locator(":scope > :not(.admonition-title)").first
    button = box.locator("button.toggle-button").first
    inside.wait_for(state="hidden")
    box.locator(".admonition-title").first.click()
    inside.wait_for(state="visible")
    assert button.get_attribute("aria-expanded") == "true"
    button.focus()
    page.keyboard.press("Enter")
    inside.wait_for(state="hidden")
    assert button.get_attribute("aria-expanded") == "false"


def test_hidden_code_opens_and_shown_code_is_copied(site: Site, open_page: Open) -> None:
    page = open_page(page_with(site, "details.hide"))
    details = page.locator("article details.hide").first
    assert not details.locator("pre").first.is_visible()
    details.locator("summary").focus()
    page.keyboard.press("Enter")
    assert details.locator("pre").first.is_visible()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(page_with(site, ".cell_input .highlight"))
    cell = page.locator(".cell_input .highlight >> visible=true").first
    cell.hover()
    cell.locator("button.copybtn").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == cell.locator("pre").inner_text().strip()


def test_a_guess_is_answered_on_the_click(site: Site, open_page: Open) -> None:
    page = open_page(page_with(site, ".guess"))
    guess = page.locator("article .guess").first
    answer = guess.locator("details")
    assert not answer.is_visible()
    guess.locator(".guess-option:not([data-right])").first.press("Enter")
    assert answer.locator("p").first.is_visible()
    right = guess.locator(".guess-option[data-right]")
    assert guess.get_by_role("status").inner_text() == f"No: {right.inner_text()}."
    right.click()
    assert guess.get_by_role("status").inner_text() == "Yes."


def test_the_menu_opens_walks_and_closes_by_keyboard(open_page: Open) -> None:
    page = open_page(START)
    button = page.locator(".dropdown-download-buttons > button")
    menu = page.locator(".dropdown-download-buttons .dropdown-menu")
    button.click()
    menu.wait_for(state="visible")
    box = menu.bounding_box()
    assert box is not None
    assert 0 <= box["x"] <= WIDE - box["width"]
    page.mouse.click(5, 5)
    menu.wait_for(state="hidden")
    button.focus()
    page.keyboard.press("ArrowDown")
    menu.wait_for(state="visible")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.classList.contains('dropdown-item')")
    page.keyboard.press("Escape")
    menu.wait_for(state="hidden")
    assert button.evaluate("e => e === document.activeElement")


def test_the_head_of_a_page(open_page: Open) -> None:
    """Icons are drawn, a button tells what it does, and one switches the theme for good."""
    page = open_page(START)
    page.wait_for_load_state("networkidle")
    assert not page.evaluate(BARE_ICONS)
    toggle = page.locator(".bd-header-article .primary-toggle")
    toggle.hover()
    tip = page.locator(".tooltip.show")
    tip.wait_for()
    assert tip.inner_text() == "Toggle primary sidebar"
    page.keyboard.press("Escape")
    sidebar = page.locator("#pst-primary-sidebar")
    for state in ("hidden", "visible"):
        toggle.click()
        sidebar.wait_for(state=state)
    light = background(page)
    page.locator(".bd-header-article .theme-switch-button").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    dark = background(page)
    assert max(dark) < 64 < min(light)
    page.reload(wait_until="networkidle")
    assert background(page) == dark


@pytest.mark.parametrize("side", ["primary", "secondary"])
def test_a_phone_has_both_sidebars(side: str, open_page: Open) -> None:
    page = open_page(START, NARROW, is_mobile=True, has_touch=True)
    page.locator(f".bd-header-article .{side}-toggle").tap()
    dialog = page.locator(f"#pst-{side}-sidebar-modal")
    dialog.wait_for()
    assert dialog.locator("a").first.is_visible()
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")


def test_tab_reaches_everything_and_shows_where_it_is(site: Site, open_page: Open) -> None:
    name = page_with(site, "details.hide, .admonition.dropdown")
    page = open_page(name, WIDE, reduced_motion="reduce")
    page.wait_for_load_state("networkidle")
    page.add_style_tag(content="* { transition: none !important }")  # no change in between
    stops = []
    for _ in range(600):
        page.keyboard.press("Tab")
        page.evaluate(FRAMES)
        stop = page.evaluate(FOCUSED)
        if stop is None:
            break
        stops.append(stop)
    assert stop is None, "no end"
    assert "Skip to main content" in stops[0]["what"]
    assert not [stop["what"] for stop in stops if not (stop["shown"] and stop["marked"])]
    assert not page.evaluate(NOT_REACHED)


def test_the_keyboard_skips_to_the_text_and_keeps_its_place(open_page: Open) -> None:
    page = open_page(START)
    for key in ("Tab", "Enter", "Tab"):
        page.keyboard.press(key)
    assert page.evaluate("!!document.activeElement.closest('#main-content')")
    for button in (".theme-switch-button", ".primary-toggle"):
        page.locator(f".bd-header-article {button}").focus()
        page.keyboard.press("Enter")
        page.wait_for_function(f"document.activeElement.matches('{button}')")
