"""Every playable of the pages in Chromium, with the page's own data: each control to both ends.

Whatever a page loads beyond the site, and whatever the console says, is a failure.
"""

from __future__ import annotations

import io
import json
import mimetypes
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from book_site.play import draw
from PIL import Image

from bookkit.figures import online_softmax_steps
from bookkit.playables.playable import FOLDER, KIT, STORED, script_of, style_of
from tests.book.built import Site
from tests.book.playable import (
    LEAST_TARGET,
    PATIENCE,
    SCREENS,
    box_of,
    broken_rules,
    letters_are_large,
)
from tests.book.test_notebooks import ROOT, outputs, pages, text

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Route

pytestmark = pytest.mark.browser

SITE = "http://book.test/"
NAMES = sorted(
    path.stem
    for path in FOLDER.glob("*.js")
    if re.search("export (?:const|function) controls", path.read_text(encoding="utf-8"))
)
# What one look at a figure and a target sees, as one call: a browser takes longer to be asked than
# to answer. What the figure shows is numbered; of a target that is gone there is nothing.
LOOK = """targets => {
  const {scrollWidth, clientWidth} = document.documentElement;
  const figure = document.querySelector("figure"), {height, y} = figure.getBoundingClientRect();
  const shown = window.alreadyShown ??= [], html = figure.querySelector(".am-play-body").innerHTML;
  if (!shown.includes(html)) shown.push(html);
  const stands = targets
    .filter(e => e.checkVisibility({visibilityProperty: true}) && e.getBoundingClientRect().width)
    .map(e => ({y: e.getBoundingClientRect().y - y, kind: e.type || e.tagName,
      used: !e.disabled && e.ariaDisabled !== "true", cell: e.dataset.cell !== undefined,
      grows: e.closest("[data-grows]") !== null}))[0];
  return {shows: shown.indexOf(html), height, stands, overflow: scrollWidth - clientWidth};
}"""
SMALL = """(targets, least) => targets.filter(e => e.checkVisibility({visibilityProperty: true}))
  .filter(e => Math.min(e.getBoundingClientRect().width, e.getBoundingClientRect().height) < least)
  .map(e => e.outerHTML)"""
WITHOUT_CONTROLS = ".am-play .am-play-controls { visibility: hidden !important; }"
MOST = 16  # controls and cells of a playable; the others are like them
MOST_HANDLES = 4
TARGETS = ".am-play-controls :is(button, input, select), .am-play-body [data-cell]"

EVERY_VIEW = pytest.mark.parametrize(
    ("screen", "theme"),
    [
        pytest.param("desk", "light", id="desk-light"),
        pytest.param("phone", "dark", id="phone-dark", marks=pytest.mark.slow),
    ],
)


@cache
def figures() -> dict[str, str]:
    """Return the first figure of every playable, as a page stores it."""
    found: dict[str, str] = {}
    for name in pages():
        for output in outputs(json.loads((ROOT / name).read_text(encoding="utf-8"))):
            html = text(output.get("data", {}).get("text/html", ""))
            if 'data-play="' in html:
                found.setdefault(html.partition('data-play="')[2].partition('"')[0], html)
    return found


def document(name: str, *, scripts: bool = True) -> str:
    """Return a page that holds a playable, as the site has it."""
    path = Path("page.html")
    body = draw({path: figures()[name]})[path]
    script = f"<script>{script_of(KIT)}\n{script_of(name)}</script>" if scripts else ""
    return (
        '<!doctype html><html lang="en" data-content_root="./"><head><meta charset="utf-8">'
        '<title>A playable</title><meta name="viewport" content="width=device-width">'
        "<style>:root{color-scheme:light dark;font-family:'Atkinson Hyperlegible Next',sans-serif}"
        f"</style><style>{style_of(name)}</style></head>"
        f"<body><main><h1>A playable</h1>{body}</main>{script}</body></html>"
    )


class Window:
    """A page for documents, which serves what they load, and notes what goes wrong."""

    def __init__(self, browser: Browser, screen: str, theme: str, **options: Any) -> None:
        given: dict[str, Any] = {"viewport": SCREENS[screen], "color_scheme": theme} | options
        given.setdefault("reduced_motion", "reduce")
        given["has_touch"] = screen == "phone"
        context = browser.new_context(service_workers="block", **given)
        context.set_default_timeout(PATIENCE)
        context.route("**/*", self.serve)
        self.html = ""
        self.faults: list[str] = []
        context.on("console", lambda message: self.faults.append(message.text))
        context.on("weberror", lambda error: self.faults.append(str(error.error)))
        self.page = context.new_page()

    def serve(self, route: Route) -> None:
        address = route.request.url.removeprefix(SITE).partition("?")[0]
        file = FOLDER / "static" / address.removeprefix("_static/")
        if not address:
            route.fulfill(body=self.html, content_type="text/html")
        elif address.startswith("_static/") and file.is_file():
            route.fulfill(body=file.read_bytes(), content_type=mimetypes.guess_type(file)[0] or "")
        else:
            self.faults.append(route.request.url)
            route.abort()


window_of = cache(Window)  # a new one takes longer than a document in it


@contextmanager
def opened(browser: Browser, html: str, screen: str, theme: str, **options: Any) -> Iterator[Page]:
    """Open a document in the window of its screen and theme; with options, in one of its own."""
    window = (Window if options else window_of)(browser, screen, theme, **options)
    window.html = html
    window.faults.clear()
    window.page.mouse.move(0, 0)
    window.page.goto(SITE)
    yield window.page
    if options:
        window.page.context.close()
    else:
        window.page.goto("about:blank")
    assert not window.faults


def test_every_playable_stands_on_a_page() -> None:
    assert sorted(figures()) == NAMES


@EVERY_VIEW
@pytest.mark.parametrize("name", NAMES)
def test_the_first_drawing_is_that_of_the_script(
    browser: Browser, name: str, screen: str, theme: str
) -> None:
    seen = []
    for scripts in (False, True):
        with opened(browser, document(name, scripts=scripts), screen, theme) as page:
            assert (page.locator("figure[data-on]").count() == 1) == scripts
            page.add_style_tag(content=WITHOUT_CONTROLS)
            box = box_of(page.locator("figure"))  # before a picture of it scrolls the page
            shown = Image.open(io.BytesIO(page.locator("figure").screenshot())).convert("RGB")
            seen.append((box, np.asarray(shown, dtype=int)))
    assert seen[0][0] == seen[1][0], "the page jumps when the script comes"
    script = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
    if "export const still" not in script and "export function still" not in script:
        different = np.abs(seen[0][1] - seen[1][1]).max(-1) > 24
        assert different.mean() < 1e-4, np.argwhere(different)[[0, -1]]


@pytest.mark.parametrize("name", NAMES)
def test_without_scripts_there_is_nothing_to_press(browser: Browser, name: str) -> None:
    html = document(name, scripts=False)
    with opened(browser, html, "phone", "light", java_script_enabled=False) as page:
        controls = page.locator(
            ":is(button, input, select):visible, [tabindex]:not(.am-scroll), [role=slider]"
        )  # a drawing wider than a phone scrolls, and the keyboard must reach it
        assert controls.count() == 0
        assert page.locator(".am-play-said").inner_text()
        assert page.locator(".am-play-body :is(svg, table, ol, ul, p):visible").count() > 1


@pytest.mark.slow
@EVERY_VIEW
@pytest.mark.parametrize("name", NAMES)
def test_every_control_goes_to_both_ends(
    browser: Browser, name: str, screen: str, theme: str
) -> None:
    """At a desk by the keyboard, on a phone by the finger: nothing may jump on either."""
    with opened(browser, document(name), screen, theme) as page:
        letters = page.locator("figure svg text:visible")
        if letters.count():
            letters_are_large(letters)
        assert not page.locator(TARGETS).evaluate_all(SMALL, LEAST_TARGET)
        move: Any = by_keyboard if screen == "desk" else by_pointer
        count = page.locator(TARGETS).count()  # what a click brings has a test of its own
        done = set()
        for place in [*range(min(count, MOST))] * 2:  # Back can be pressed once Next was
            target = page.locator(TARGETS).nth(place)
            if place not in done and (stands := look(target)["stands"]) and stands["used"]:
                move(target, stands)
                done.add(place)
        for handle in page.locator(".am-handle").all()[:MOST_HANDLES]:
            pull(page, handle)
        assert not broken_rules(page)


def look(target: Locator) -> dict[str, Any]:
    """Return the number of what the figure shows, how high it is, and how a target stands in it."""
    seen: dict[str, Any] = target.evaluate_all(LOOK)
    assert seen["overflow"] <= 0, "wider than the screen"
    return seen


def settles(target: Locator, act: Any) -> int:
    """Act on a control; return the number of what is shown then. Nothing may jump."""
    before = look(target)
    act()
    after, stood = look(target), before["stands"]
    if stands := after["stands"]:
        assert stands["y"] == pytest.approx(stood["y"], abs=1), f"{target} moves itself"
    may = stood["grows"] or after["height"] == pytest.approx(before["height"], abs=1)
    assert may, f"{target} makes the page jump"
    return int(after["shows"])


def by_keyboard(target: Locator, stands: dict[str, Any]) -> None:
    tag = stands["kind"]
    if tag in ("range", "select-one"):
        ends = [settles(target, lambda key=key: target.press(key)) for key in ("End", "Home")]
        assert ends[0] != ends[1], "a control without an effect"
    elif tag == "checkbox":
        ends = [settles(target, lambda: target.press("Space")) for _ in range(2)]
        assert ends[0] != ends[1], "a box without an effect"
    elif tag == "text":
        settles(target, lambda: target.press("End"))
    elif stands["cell"]:
        for key in ("Enter", "Enter", "End", "Home"):
            settles(target, lambda key=key: target.press(key))
    else:
        settles(target, lambda: target.press("Enter"))


def by_pointer(target: Locator, stands: dict[str, Any]) -> None:
    tag = stands["kind"]
    if tag == "range":
        box = box_of(target)
        for share in (0.98, 0.02):
            at = {"x": share * box["width"], "y": box["height"] / 2}
            settles(target, lambda at=at: target.click(position=at))
    elif tag == "select-one":
        count = target.locator("option").count()
        for place in (count - 1, 0):
            settles(target, lambda place=place: target.select_option(index=place))
    elif tag != "text":
        for _ in range(2 if tag == "checkbox" else 1):
            settles(target, target.click)


def pull(page: Page, handle: Locator) -> None:
    """Drag a handle to the corners of its drawing, and beyond; then move it by keys."""
    svg = box_of(handle.locator("xpath=ancestor::*[name()='svg'][1]"))
    seen = set()
    for x, y in product((0.02, 0.98), repeat=2):
        box = box_of(handle)
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(svg["x"] + x * svg["width"], svg["y"] + y * svg["height"], steps=2)
        page.mouse.up()
        seen.add(look(handle)["shows"])
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        handle.press(key)
        seen.add(look(handle)["shows"])
    on_a_line = handle.get_attribute("aria-valuenow") is not None
    assert len(seen) > (2 if on_a_line else 3), "a handle that does not move"


def test_an_output_of_a_live_notebook_brings_all_along(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(STORED, raising=False)
    made = online_softmax_steps([0.0, 2.0, 1.0], [1, 0, 0], list("abc"))
    html = f"<!doctype html><title>Two outputs</title>{made._repr_html_() * 2}"
    with opened(browser, html, "desk", "light") as page:
        one, other = page.locator("figure[data-on]").all()
        one.get_by_role("button", name="Next").click()
        told = [figure.locator(".am-play-said").inner_text() for figure in (one, other)]
        assert [words[:12] for words in told] == ["Block 2 of 2", "Block 1 of 2"]


def test_a_page_loads_the_scripts_of_its_playables_alone(site: Site) -> None:
    for one in site.chapters:
        if names := {str(part["data-play"]) for part in one.soup.select("[data-play]")}:
            loaded = {Path(str(tag["src"])).name for tag in one.soup.select("script[src]")}
            loaded = {name.partition(".js?v=")[0] for name in loaded if ".js?v=" in name}
            assert loaded & {KIT, *NAMES} == {KIT, *names}
