"""What playables are held to in a browser: rules of axe, and sizes of letters and targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.book.built import EXTENSIONS

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Locator, Page

PATIENCE = 60_000  # milliseconds, for a busy machine
AXE = EXTENSIONS / "node_modules" / "axe-core" / "axe.min.js"
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
COLOURS = ("color-contrast", "link-in-text-block")  # the rules that a theme can break
SCREENS = {"phone": {"width": 390, "height": 844}, "desk": {"width": 1280, "height": 900}}
LEAST_TARGET = 24  # pixels on either side of what a finger is to hit
LEAST_LETTER = 10  # pixels of a letter's size on the screen

# Text may stand upright, so that the first number of its matrix alone is 0.
_LETTERS = """all => all.map(e => {
  const {a, b} = e.getScreenCTM();
  return parseFloat(getComputedStyle(e).fontSize) * Math.hypot(a, b);
})"""

# The rules that hold are only counted: sending every element that keeps them to Python takes
# longer than judging the page.
_JUDGED = """async rules => {
  const found = await axe.run({runOnly: rules, resultTypes: ["violations"]});
  return [found.passes.length, found.violations];
}"""


def box_of(part: Locator) -> FloatRect:
    """Return where a part stands on the screen, which it must."""
    box = part.bounding_box()
    assert box is not None, f"{part} is not drawn"
    return box


def broken_rules(page: Page, rules: tuple[str, ...] = RULES) -> list[str]:
    """Return the rules of axe that a page breaks, and where."""
    page.evaluate(AXE.read_text(encoding="utf-8"))  # as a script of the page it would come later
    kept, broken = page.evaluate(_JUDGED, rules)
    assert kept > (10 if rules == RULES else 0)
    return [
        f"{one['id']}: {' '.join(node['html'][:160] for node in one['nodes'][:3])}"
        for one in broken
    ]


def letters_are_large(texts: Locator) -> None:
    """Assert that the letters of a drawing can be read, however it is scaled or they are turned."""
    assert min(texts.evaluate_all(_LETTERS)) > LEAST_LETTER
