"""The built book in Chromium, which reaches the site alone: wide, narrow, light and dark."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import pytest

from tests.book import built
from tests.book.built import EXTENSIONS, Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page

pytestmark = pytest.mark.browser

Theme = Literal["light", "dark"]
WIDE, NARROW = 1280, 390
PATIENCE = 120_000  # milliseconds, for a busy machine

# Every visible formula has a box; every image, when asked for, arrives.
EMPTY_FORMULAS = """() => [...document.querySelectorAll("article math")]
  .filter(e => e.checkVisibility() && !(e.getBoundingClientRect().width > 0
    && e.getBoundingClientRect().height > 0)).map(e => e.outerHTML)"""
MISSING_IMAGES = """async () => {
  const images = [...document.images];
  for (const image of images) image.loading = "eager";
  const loaded = await Promise.allSettled(images.map(image => image.decode()));
  return images.filter((image, i) => loaded[i].status === "rejected" || !image.naturalWidth)
    .map(image => image.src);
}"""
UNREACHABLE = """() => [...document.querySelectorAll("article *")]
  .filter(e => e.checkVisibility() && /auto|scroll/.test(getComputedStyle(e).overflowX)
    && e.scrollWidth > e.clientWidth && e.tabIndex < 0
    && !e.querySelector("a, button, [tabindex]")).map(e => e.outerHTML.slice(0, 200))"""
BROKEN_RULES = """async () => {
  const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const result = await axe.run(document, {runOnly: rules, resultTypes: ["violations"]});
  return result.violations.map(({id, nodes}) =>
    `${id}: ${nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(" ")}`);
}"""
# In the first of two frames, what has come near the screen takes its place.
FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@contextmanager
def visit(
    browser: Browser, server: str, faults: list[str], **options: Any
) -> Iterator[BrowserContext]:
    """Open a context that reaches the server alone, and notes everything that goes wrong."""
    context = browser.new_context(service_workers="block", **options)
    context.set_default_timeout(PATIENCE)

    def guard(route: Any) -> None:
        if route.request.url.startswith((server, "data:", "blob:")):
            route.continue_()
        else:
            faults.append(f"asked for {route.request.url}")
            route.abort()

    context.route("**/*", guard)
    context.on(
        "console",
        lambda message: (
            faults.append(f"{message.page.url if message.page else ''}: {message.text}")
            if message.type in ("error", "warning")
            else None
        ),
    )
    context.on("weberror", lambda error: faults.append(f"{error.page}: {error.error}"))
    context.on(
        "response",
        lambda response: (
            faults.append(f"{response.status} {response.url}") if response.status >= 400 else None
        ),
    )
    yield context
    context.close()


def screen(width: int, theme: Theme) -> dict[str, Any]:
    """Return the options of a context of some width, on a system of some colours."""
    return {"viewport": {"width": width, "height": 844}, "color_scheme": theme}


def corner(page: Page, part: Locator) -> tuple[int, ...]:
    """Return the colour of a pixel near the upper left corner, as it is painted."""
    from PIL import Image

    part.scroll_into_view_if_needed()
    page.evaluate(FRAMES)
    box = part.bounding_box()
    assert box is not None
    dot = page.screenshot(clip={"x": box["x"] + 2, "y": box["y"] + 2, "width": 1, "height": 1})
    picture = Image.open(io.BytesIO(dot)).convert("RGB")
    pixel = picture.getpixel((0, 0))
    assert isinstance(pixel, tuple)
    return pixel


def background(page: Page) -> tuple[int, ...]:
    """Return the colour that the page has behind everything."""
    style = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return tuple(map(int, re.findall(r"\d+", style)[:3]))


def look(page: Page, name: str) -> Iterator[str]:
    """Say what a reader of a page as it stands would miss."""
    page.evaluate(FRAMES)
    page.keyboard.press("Tab")  # who does wants to reach what is far from the screen, too
    for what, script in (
        ("formulas without a box", EMPTY_FORMULAS),
        ("images that do not come", MISSING_IMAGES),
        ("out of the keyboard's reach", UNREACHABLE),
    ):
        if fault := page.evaluate(script):
            yield f"{name}: {what}: {fault}"
    if (pixels := page.evaluate(OVERFLOW)) > 0:
        yield f"{name}: {pixels} px wider than the screen"
    wanted = background(page)
    for figure in page.locator("article img:not(.photo, .toggler)").all():
        painted = corner(page, figure)
        if max(abs(a - b) for a, b in zip(painted, wanted, strict=True)) > 2:
            yield f"{name}: a white figure is {painted} on a page of {wanted}"


@pytest.mark.parametrize(("width", "theme"), [(WIDE, "light"), (NARROW, "dark")])
def test_pages_load_from_here_and_fit(
    some: list[built.Page], server: str, browser: Browser, width: int, theme: Theme
) -> None:
    """White figures take the colour of the page, too."""
    faults: list[str] = []
    with visit(browser, server, faults, **screen(width, theme)) as context:
        page = context.new_page()
        for one in some:
            page.goto(server + one.name)
            page.evaluate("document.fonts.ready")
            assert page.evaluate("document.documentElement.dataset.theme") == theme
            faults += look(page, one.name)
            # The other width, with the same colours.
            page.set_viewport_size({"width": WIDE + NARROW - width, "height": 844})
            faults += look(page, one.name)
            page.set_viewport_size({"width": width, "height": 844})
    assert not faults


def test_the_address_of_the_site_opens_the_start_page(server: str, browser: Browser) -> None:
    faults: list[str] = []
    with visit(browser, server, faults) as context:
        page = context.new_page()
        page.goto(server)
        page.wait_for_url(f"{server}start/start.html")
    assert not faults


def test_formulas_are_set_in_the_font_that_comes_along(
    site: Site, server: str, browser: Browser
) -> None:
    formula = next(page for page in site.chapters if "<math" in page.text)
    faults: list[str] = []
    with visit(browser, server, faults) as context:
        page = context.new_page()
        page.goto(server + formula.name, wait_until="networkidle")
        family = "getComputedStyle(document.querySelector('article math')).fontFamily"
        assert page.evaluate(family).startswith('"STIX Two Math"')
        assert page.evaluate("document.fonts.check('16px \"STIX Two Math\"')")
    assert not faults


def test_the_theme_switch_works_and_is_remembered(server: str, browser: Browser) -> None:
    faults: list[str] = []
    with visit(browser, server, faults, **screen(WIDE, "light")) as context:
        page = context.new_page()
        page.goto(server + "start/start.html", wait_until="networkidle")
        light = background(page)
        page.locator(".bd-header-article .theme-switch-button").click()
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        dark = background(page)
        assert max(dark) < 64 < min(light)
        page.reload(wait_until="networkidle")
        assert background(page) == dark
    assert not faults


def test_the_search_finds_a_word(site: Site, server: str, browser: Browser) -> None:
    faults: list[str] = []
    with visit(browser, server, faults, **screen(WIDE, "light")) as context:
        page = context.new_page()
        page.goto(server + "start/start.html", wait_until="networkidle")
        page.locator(".bd-sidebar-primary .search-button-field").click()
        page.locator("dialog#pst-search-dialog input").fill("softmax")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"search\.html\?q=softmax"))
        hit = page.locator("#search-results li a").first
        hit.wait_for()
        target = str(hit.get_attribute("href"))
        hit.click()
        page.wait_for_load_state("networkidle")
        assert page.url.startswith(server)
        assert "softmax" in page.locator("article").inner_text().lower(), target
    assert not faults


def test_without_scripts_the_text_is_there(site: Site, server: str, browser: Browser) -> None:
    faults: list[str] = []
    with visit(browser, server, faults, java_script_enabled=False) as context:
        page = context.new_page()
        for one in site.chapters:
            page.goto(server + one.name)
            for folded in page.locator("article .admonition.dropdown").all():
                assert folded.locator("p").last.is_visible(), one.name
            assert page.locator("article h1").first.is_visible(), one.name
    assert not faults


@pytest.mark.parametrize(("width", "theme"), [(WIDE, "light"), (NARROW, "dark")])
def test_nothing_stands_in_the_way_of_a_reader(
    some: list[built.Page], server: str, browser: Browser, width: int, theme: Theme
) -> None:
    """No rule of axe-core is broken: names, contrast, landmarks, order of headings."""
    axe = EXTENSIONS / "node_modules" / "axe-core" / "axe.min.js"
    if not axe.exists():
        pytest.skip("axe-core is not installed: npm ci --prefix book/_ext")
    faults: list[str] = []
    with visit(browser, server, faults, **screen(width, theme)) as context:
        page = context.new_page()
        for one in some:
            page.goto(server + one.name)
            page.add_script_tag(path=axe)
            # Over a gradient, as that of a cut line of code, axe does not judge the contrast.
            page.add_style_tag(content="article * { background-image: none !important }")
            page.keyboard.press("Tab")
            faults += [f"{one.name}: {broken}" for broken in page.evaluate(BROKEN_RULES)]
    assert not faults
