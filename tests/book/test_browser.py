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
AXE = EXTENSIONS / "node_modules" / "axe-core" / "axe.min.js"
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


def look(page: Page) -> Iterator[str]:
    """Say what a reader of a page as it stands would miss."""
    page.evaluate("document.fonts.ready")
    page.evaluate(FRAMES)
    page.keyboard.press("Tab")
    for what, script in (
        ("formulas without a box", EMPTY_FORMULAS),
        ("images that do not come", MISSING_IMAGES),
        ("out of the keyboard's reach", UNREACHABLE),
    ):
        if fault := page.evaluate(script):
            yield f"{what}: {fault}"
    if (pixels := page.evaluate(OVERFLOW)) > 0:
        yield f"{pixels} px wider than the screen"


def colours(page: Page) -> Iterator[str]:
    """Say which white figures do not take the colour of the page."""
    wanted = background(page)
    for figure in page.locator("article img:not(.photo, .toggler)").all():
        painted = corner(page, figure)
        if max(abs(a - b) for a, b in zip(painted, wanted, strict=True)) > 2:
            yield f"a white figure is {painted} on a page of {wanted}"


def broken_rules(page: Page) -> Iterator[str]:
    """Name the rules of axe-core that a page breaks: names, contrast, landmarks, headings."""
    page.add_script_tag(path=AXE)
    # Over a gradient, as that of a cut line of code, axe does not judge the contrast.
    page.add_style_tag(content="article * { background-image: none !important }")
    yield from page.evaluate(BROKEN_RULES)


@pytest.mark.parametrize(
    ("width", "theme"),
    [
        (NARROW, "light"),
        pytest.param(WIDE, "light", marks=pytest.mark.slow),
        pytest.param(NARROW, "dark", marks=pytest.mark.slow),
        pytest.param(WIDE, "dark", marks=pytest.mark.slow),
    ],
)
def test_pages_load_from_here_fit_and_are_open_to_all(
    some: list[built.Page], server: str, browser: Browser, width: int, theme: Theme
) -> None:
    assert AXE.exists(), "axe-core is not installed: npm ci --prefix book/_ext"
    faults: list[str] = []
    with visit(browser, server, faults, **screen(width, theme)) as context:
        page = context.new_page()
        for one in some:
            page.goto(server + one.name)
            assert page.evaluate("document.documentElement.dataset.theme") == theme
            found = [*look(page), *(colours(page) if theme == "dark" else ()), *broken_rules(page)]
            faults += [f"{one.name}: {fault}" for fault in found]
    assert not faults


def test_what_has_moved_opens_where_it_is_now(server: str, browser: Browser) -> None:
    faults: list[str] = []
    with visit(browser, server, faults) as context:
        page = context.new_page()
        for asked, opened in (
            ("", "start/start.html"),
            ("mathematics/numerics.html#exercises", "mathematics/floating_point.html#exercises"),
            ("history/align.html#exercises", "history/align.html#exercises"),
            ("history/align.html#results", "history/align_evidence.html#results"),
        ):
            page.goto("about:blank")  # or only the anchor would change
            page.goto(server + asked)
            page.wait_for_url(server + opened)
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


@pytest.mark.parametrize("words", ["saturated", "softmax gradient"])
def test_what_the_search_finds_is_marked_on_the_page(
    server: str, browser: Browser, words: str
) -> None:
    faults: list[str] = []
    with visit(browser, server, faults, **screen(WIDE, "light")) as context:
        page = context.new_page()
        page.goto(server + "start/start.html")
        page.keyboard.press("Control+k")
        field = page.locator("dialog#pst-search-dialog input")
        field.wait_for()
        page.keyboard.press("Escape")
        field.wait_for(state="hidden")
        page.locator(".bd-sidebar-primary .search-button-field").click()
        field.fill(words)
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"search\.html\?q="))
        page.locator("#search-results li a").first.click()
        marked = page.locator("article .highlighted")
        marked.first.wait_for()
        found = {re.sub(r"\W", "", text).lower() for text in marked.all_text_contents()}
        for word in words.split():
            assert any(one.startswith(word[:6]) for one in found), (word, found)
    assert not faults


@pytest.mark.slow
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


def test_what_fits_is_no_stop_for_the_keyboard(server: str, browser: Browser) -> None:
    """Nor need a key be pressed before what is too wide is one."""
    marked = """document.querySelectorAll("article pre[role=group][aria-label]").length"""
    faults: list[str] = []
    with visit(browser, server, faults, **screen(NARROW, "light")) as context:
        page = context.new_page()
        page.goto(server + "history/timeline.html")
        page.wait_for_function(f"() => {marked} > 0 && ({UNREACHABLE})().length === 0")
        before = page.evaluate(marked)
        page.set_viewport_size({"width": WIDE, "height": 844})
        page.wait_for_function(f"() => {marked} < {before}")
    assert not faults
