"""The built book in Chromium, which reaches the site alone: wide, narrow, light and dark."""

import io
import re
from collections.abc import Iterator
from typing import Any

import pytest
from book_site.glossary import terms_of_pages
from PIL import Image
from playwright.sync_api import FloatRect, Locator, Page

from tests.book import built
from tests.book.built import ROOT, Site
from tests.book.conftest import NARROW, WIDE, Open
from tests.book.playable import COLOURS, RULES, broken_rules
from tests.book.test_notebooks import LINE_LENGTH

pytestmark = pytest.mark.browser

# What a reader of a page as it stands would miss: every visible formula has a box; every image,
# when asked for, arrives; what scrolls can be reached by the keyboard; the page is not too wide.
UNREACHABLE = """() => [...document.querySelectorAll("article *")]
  .filter(e => e.checkVisibility() && /auto|scroll/.test(getComputedStyle(e).overflowX)
    && e.scrollWidth > e.clientWidth && e.tabIndex < 0
    && !e.querySelector("a, button, [tabindex]")).map(e => e.outerHTML.slice(0, 200))"""
MISSED = {
    "formulas without a box": """() => [...document.querySelectorAll("article math")]
      .filter(e => e.checkVisibility() && !(e.getBoundingClientRect().width > 0
        && e.getBoundingClientRect().height > 0)).map(e => e.outerHTML)""",
    "images that do not come": """async () => {
      const images = [...document.images];
      for (const image of images) image.loading = "eager";
      const loaded = await Promise.allSettled(images.map(image => image.decode()));
      return images.filter((image, i) => loaded[i].status === "rejected" || !image.naturalWidth)
        .map(image => image.src);
    }""",
    "out of the keyboard's reach": UNREACHABLE,
    "drawings with letters below 11 px": """() => [...document.images]
      .filter(e => e.matches("figure > [src$='.svg']") && e.width < 440).map(e => e.src)""",
    "pixels wider than the screen": """() => {
      const {scrollWidth, clientWidth} = document.documentElement;
      return Math.max(0, scrollWidth - clientWidth);
    }""",
}
TEXT_IS_THERE = """() => {
  const told = [...document.querySelectorAll(
    "article h1, article .admonition.dropdown p:last-of-type")];
  return told.length > 0 && told.every(e => e.checkVisibility({visibilityProperty: true}));
}"""
START = "start/start.html"
# In the first of two frames, what has come near the screen takes its place.
FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def pixels(page: Page, part: Locator, top: float) -> Image.Image:
    """Return a line of pixels of a part, from its upper end or, if negative, from its lower one.

    The line stands in the middle of the window, since a figure may be higher than that.
    """
    part.evaluate(
        """(e, top) => {
          const {top: upper, bottom} = e.getBoundingClientRect();
          scrollBy({top: (top < 0 ? bottom : upper) - innerHeight / 2, behavior: "instant"});
        }""",
        top,
    )
    page.evaluate(FRAMES)
    box = part.bounding_box()
    assert box is not None
    start = box["y"] + top + (box["height"] if top < 0 else 0)
    clip: FloatRect = {"x": box["x"], "y": start, "width": box["width"], "height": 1}
    return Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")


def background(page: Page) -> tuple[int, ...]:
    style = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return tuple(map(int, re.findall(r"\d+", style)[:3]))


def apart(one: Any, other: Any) -> Any:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def look(page: Page, theme: str, rules: tuple[str, ...]) -> Iterator[str]:
    """Say what a reader would miss, and which rules of axe-core a page breaks."""
    page.evaluate("document.fonts.ready")
    page.wait_for_function("!document.querySelector('[data-play]:not([data-on])')")
    page.evaluate(FRAMES)
    page.keyboard.press("Tab")
    for what, script in MISSED.items():
        if fault := page.evaluate(script):
            yield f"{what}: {fault}"
    if theme == "dark":  # a white figure takes the colour of the page
        wanted = background(page)
        for figure in page.locator("article img:not(.photo, .toggler)").all():
            painted = pixels(page, figure, 2).getpixel((2, 0))
            if apart(painted, wanted) > 2:
                yield f"a white figure is {painted} on a page of {wanted}"
    # Over a gradient, as that of a cut line of code, axe does not judge the contrast.
    page.add_style_tag(content="article * { background-image: none !important }")
    yield from broken_rules(page, rules)


@pytest.mark.parametrize(
    ("width", "theme"),
    [
        (NARROW, "light"),
        pytest.param(NARROW, "dark", marks=pytest.mark.slow),
        pytest.param(WIDE, "light", marks=pytest.mark.slow),
        pytest.param(WIDE, "dark", marks=pytest.mark.slow),
    ],
)
def test_pages_load_from_here_fit_and_are_open_to_all(
    some: list[built.Page], few: list[built.Page], open_page: Open, width: int, theme: str
) -> None:
    """Every page is seen in both widths and in both themes; few in every width with every theme.

    Of the API reference, which one program writes, few pages are seen in more than the first pair.
    In the second pair axe judges few pages by all of its rules, and the others by their colours.
    """
    page = open_page(START, width, theme)
    faults: list[str] = []
    first = (width, theme) == (NARROW, "light")
    crossed = (width == NARROW) != (theme == "light")
    for one in some:
        if one not in few and (crossed or (not first and "/api/" in one.name)):
            continue
        page.goto(one.name)
        assert page.evaluate("document.documentElement.dataset.theme") == theme
        rules = RULES if first or one in few else COLOURS
        faults += [f"{one.name}: {fault}" for fault in look(page, theme, rules)]
    assert not faults


def test_what_has_moved_opens_where_it_is_now(open_page: Open, server: str) -> None:
    page = open_page("")
    for asked, opened in (
        ("", "start/start.html"),
        ("mathematics/numerics.html#exercises", "mathematics/floating_point.html#exercises"),
        ("history/align.html#exercises", "history/align.html#exercises"),
        ("history/align.html#results", "history/align_evidence.html#results"),
    ):
        page.goto("about:blank")  # or only the anchor would change
        page.goto(server + asked)
        page.wait_for_url(server + opened)


def test_formulas_are_set_in_the_font_that_comes_along(site: Site, open_page: Open) -> None:
    page = open_page(next(page.name for page in site.chapters if "<math" in page.text))
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.fonts.check('16px \"STIX Two Math\"')")


@pytest.mark.parametrize("words", ["saturated", "softmax gradient"])
def test_what_the_search_finds_is_marked_on_the_page(open_page: Open, words: str) -> None:
    page = open_page(START)
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "word", ["needle", "haystack", "retrieval", "MLA", "KV cache", "long context", "RoPE"]
)
def test_the_search_finds_the_page_of_a_word_among_the_first(open_page: Open, word: str) -> None:
    wanted = {page for page, terms in terms_of_pages(ROOT / "book").items() if word in terms}
    page = open_page(f"search.html?q={word}")
    page.locator("#search-results li a").first.wait_for()
    page.wait_for_function("document.querySelector('#search-results .search-summary')?.innerText")
    found = page.eval_on_selector_all("#search-results li > a", "all => all.map(a => a.href)")
    assert wanted & {re.sub(r".*?//[^/]*/|\.html.*", "", one) for one in found[:3]}, found[:5]


def test_without_scripts_the_text_is_there(site: Site, open_page: Open) -> None:
    page = open_page(START, java_script_enabled=False)
    for one in site.chapters:
        page.goto(one.name)
        assert page.evaluate(TEXT_IS_THERE), one.name


def test_what_fits_is_no_stop_for_the_keyboard(open_page: Open) -> None:
    """Nor need a key be pressed before what is too wide is one."""
    marked = """document.querySelectorAll("article pre[role=group][aria-label]").length"""
    page = open_page("today/timeline.html", NARROW)
    page.wait_for_function(f"() => {marked} > 0 && ({UNREACHABLE})().length === 0")
    before = page.evaluate(marked)
    page.set_viewport_size({"width": WIDE, "height": 844})
    page.wait_for_function(f"() => {marked} < {before}")


WIDEST = 1680
COLOURS_APART = 12  # of 255: a shade that a reader can see


def cell_of(page: Page, length: int) -> Locator:
    """Let the first cell of a page have one line of so many letters; return it."""
    line = page.locator("article section > .cell > .cell_input:first-child pre").first
    line.evaluate('(e, length) => { e.textContent = "x".repeat(length) }', length)
    line.scroll_into_view_if_needed()
    return line


def is_cut(line: Locator) -> bool:
    return bool(line.evaluate("e => e.scrollWidth > e.clientWidth"))


def page_with_code(site: Site) -> str:
    shown = "section > .cell > .cell_input:first-child pre"
    return next(page.name for page in site.chapters if page.article().select(shown))


@pytest.mark.slow
@pytest.mark.parametrize("width", [WIDE, WIDEST])
def test_the_longest_line_of_code_is_whole(site: Site, open_page: Open, width: int) -> None:
    page = open_page(page_with_code(site), width)
    assert not is_cut(cell_of(page, LINE_LENGTH))
    assert is_cut(cell_of(page, LINE_LENGTH + 20))


@pytest.mark.slow
def test_on_a_phone_code_scrolls_and_its_cut_is_seen(site: Site, open_page: Open) -> None:
    page = open_page(page_with_code(site), NARROW, "dark")
    page.wait_for_load_state("networkidle")
    line = cell_of(page, LINE_LENGTH)
    assert is_cut(line)

    def shades() -> tuple[int, int]:
        """Return how far the left and the right edge differ from the ground."""
        strip = pixels(page, line, -6)
        left, ground, right = (
            strip.getpixel((x, 0)) for x in (1, strip.width // 2, strip.width - 2)
        )
        assert apart(background(page), ground) < 64
        return apart(left, ground), apart(right, ground)

    left, right = shades()
    assert left <= 2 < COLOURS_APART < right
    line.evaluate("e => e.scrollLeft = e.scrollWidth")
    left, right = shades()
    assert right <= 2 < COLOURS_APART < left
