"""Live outputs on a page of their own, in a browser that reaches nothing: no book is built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from bookkit.figures import LiveOutput
from tests.book.built import EXTENSIONS
from tests.book.letters import FAMILY

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FloatRect, Locator, Page, Route

PATIENCE = 60_000  # milliseconds, for a busy machine
AXE = EXTENSIONS / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
SCREENS = {"phone": {"width": 390, "height": 844}, "desk": {"width": 1280, "height": 900}}
LEAST_TARGET = 24  # pixels on either side of what a finger is to hit
LEAST_LETTER = 10  # pixels of a letter's size on the screen

EVERY_SCREEN = pytest.mark.parametrize(
    "view", [{"viewport": size} for size in SCREENS.values()], ids=[*SCREENS]
)
EVERY_VIEW = pytest.mark.parametrize(  # with what `axe_finds_nothing` needs
    "view",
    [
        pytest.param(
            {"viewport": size, "color_scheme": theme, "bypass_csp": True}, id=f"{theme}-{name}"
        )
        for theme in ("light", "dark")
        for name, size in SCREENS.items()
    ],
)

# Text may stand upright, so that the first number of its matrix alone is 0.
_LETTERS = """all => all.map(e => {
  const {a, b} = e.getScreenCTM();
  return parseFloat(getComputedStyle(e).fontSize) * Math.hypot(a, b);
})"""
_OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
_SHIFTS = """() => new Promise(done => {
  let sum = 0;
  new PerformanceObserver(list => list.getEntries().forEach(one => { sum += one.value; }))
    .observe({type: "layout-shift", buffered: true});
  setTimeout(() => done(sum), 300);
})"""

# Nothing is fetched, no string is run, and no element has a style of its own.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline';"
    " style-src-elem 'unsafe-inline'; style-src-attr 'none'"
)


def document_of(*outputs: LiveOutput) -> str:
    """Return a page that holds live outputs and nothing else."""
    body = "".join(output._repr_html_() for output in outputs)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Live outputs</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width"><style>:root{color-scheme:light dark;'
        f'font-family:"{FAMILY}",sans-serif}}</style></head>'
        f"<body><main><h1>Live outputs</h1>{body}</main></body></html>"
    )


@contextmanager
def alone(browser: Browser, *outputs: LiveOutput, **options: Any) -> Iterator[Page]:
    """Open live outputs alone; whatever they ask for, and whatever goes wrong, is a failure.

    Args:
        browser: where.
        outputs: what the page holds.
        options: of the browser's context: viewport, color_scheme, java_script_enabled, has_touch.
    """
    context = browser.new_context(service_workers="block", **options)
    context.set_default_timeout(PATIENCE)
    faults: list[str] = []

    def refuse(route: Route) -> None:
        faults.append(route.request.url)
        route.abort()

    context.route("**/*", refuse)
    context.on("console", lambda message: faults.append(message.text))
    context.on("weberror", lambda error: faults.append(str(error.error)))
    page = context.new_page()
    page.set_content(document_of(*outputs))
    yield page
    context.close()
    assert not faults


def exact(part: Locator) -> float:
    """Return the number that an element shows, with all its digits."""
    return float(str(part.get_attribute("data-am-value")))


def exact_all(parts: Locator) -> list[float]:
    """Return the numbers that elements show, with all their digits."""
    numbers = parts.evaluate_all("all => all.map(e => Number(e.dataset.amValue))")
    return [float(number) for number in numbers]


def said(root: Page | Locator) -> str:
    """Return what a screen reader is told."""
    return root.locator("[aria-live=polite]").inner_text()


def box_of(part: Locator) -> FloatRect:
    """Return where a part stands on the screen, which it must."""
    box = part.bounding_box()
    assert box is not None, f"{part} is not drawn"
    return box


def height(page: Page) -> float:
    """Return the height of the only figure of a page."""
    return box_of(page.locator("figure"))["height"]


def axe_finds_nothing(page: Page) -> None:
    """Assert that a page, opened with `bypass_csp`, breaks no rule of axe; skip without axe."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed: npm ci --prefix book/_ext")
    page.add_script_tag(path=AXE)
    report = page.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)
    assert [(one["id"], one["nodes"][0]["html"]) for one in report["violations"]] == []
    assert len(report["passes"]) > 10


def nothing_has_shifted(page: Page) -> None:
    """Assert that nothing has moved on a page but what a reader moved."""
    assert page.evaluate(_SHIFTS) <= 0.01


def targets_can_be_hit(targets: Locator) -> None:
    """Assert that every target, of which there are some, is large enough for a finger."""
    assert targets.count() > 0
    for target in targets.all():
        box = box_of(target)
        assert min(box["width"], box["height"]) >= LEAST_TARGET, target.evaluate("e => e.outerHTML")


def fits_a_phone(page: Page, targets: str = "button, input") -> None:
    """Assert that a page does not scroll sideways, and that a finger can hit its targets."""
    assert page.evaluate(_OVERFLOW) <= 0
    targets_can_be_hit(page.locator(targets))


@contextmanager
def on_a_phone(
    browser: Browser, *outputs: LiveOutput, targets: str = "button, input", **options: Any
) -> Iterator[Page]:
    """Open live outputs alone on a phone, where they must fit."""
    with alone(browser, *outputs, viewport=SCREENS["phone"], has_touch=True, **options) as page:
        fits_a_phone(page, targets)
        yield page


def axe_test(make: Callable[[], LiveOutput]) -> Callable[..., None]:
    """Return the test that axe finds nothing in a live output, in every view."""

    @EVERY_VIEW
    def test(browser: Browser, view: dict[str, Any]) -> None:
        with alone(browser, make(), **view) as page:
            axe_finds_nothing(page)

    return test  # type: ignore[no-any-return]


def letters_are_large(texts: Locator, least: float = LEAST_LETTER) -> None:
    """Assert that the letters of a drawing can be read, however it is scaled or they are turned."""
    assert min(texts.evaluate_all(_LETTERS)) > least
