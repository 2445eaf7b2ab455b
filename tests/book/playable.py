"""What playables are held to in a browser: rules of axe, and sizes of letters and targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.book.built import EXTENSIONS

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Locator, Page

PATIENCE = 60_000  # milliseconds, for a busy machine
AXE = EXTENSIONS / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
SCREENS = {"phone": {"width": 390, "height": 844}, "desk": {"width": 1280, "height": 900}}
LEAST_TARGET = 24  # pixels on either side of what a finger is to hit
LEAST_LETTER = 10  # pixels of a letter's size on the screen

# Text may stand upright, so that the first number of its matrix alone is 0.
_LETTERS = """all => all.map(e => {
  const {a, b} = e.getScreenCTM();
  return parseFloat(getComputedStyle(e).fontSize) * Math.hypot(a, b);
})"""


def box_of(part: Locator) -> FloatRect:
    """Return where a part stands on the screen, which it must."""
    box = part.bounding_box()
    assert box is not None, f"{part} is not drawn"
    return box


def axe_finds_nothing(page: Page) -> None:
    """Assert that a page, opened with `bypass_csp`, breaks no rule of axe; skip without axe."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed: npm ci --prefix book/_ext")
    page.add_script_tag(path=AXE)
    report = page.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)
    assert [(one["id"], one["nodes"][0]["html"]) for one in report["violations"]] == []
    assert len(report["passes"]) > 10


def letters_are_large(texts: Locator, least: float = LEAST_LETTER) -> None:
    """Assert that the letters of a drawing can be read, however it is scaled or they are turned."""
    assert min(texts.evaluate_all(_LETTERS)) > least
