"""Width and scale in Chromium: weights and gradients are the package's, by mouse, keyboard, touch.

Everything shown is compared to 1e-6 with the package, run in float64 on the same vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bookkit.figures import LiveOutput, width_explorer
from tests.book import playable
from tests.bookkit.playables.test_live_widths import MARKED, QUERIES, WIDTHS, made, reached, weights

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


def output(**options: Any) -> LiveOutput:
    scores, lengths = made()
    return width_explorer(WIDTHS, scores, lengths, marked=MARKED, **{"width": 16} | options)


def shows(page: Page, width: int, *, divided: bool) -> None:
    """Compare all that is drawn and said with the package and autograd."""
    bars = playable.exact_all(page.locator(".am-width-scale-bar"))
    expected, lengths = weights(width, divided=divided), reached(width, divided=divided)
    np.testing.assert_allclose(bars, expected, atol=1e-6)
    heights = page.locator(".am-width-scale-bar").evaluate_all(
        "all => all.map(e => +e.getAttribute('height') / 94)"
    )
    np.testing.assert_allclose(heights, expected, atol=1e-4)
    np.testing.assert_allclose(
        playable.exact_all(page.locator(".am-width-scale-dot")), lengths, rtol=1e-6, atol=1e-6
    )
    scaled = np.median(reached(width, divided=True))
    readings = [expected.max(), np.median(lengths), scaled]
    found = playable.exact_all(page.locator(".am-width-scale-reading"))
    np.testing.assert_allclose(found[:3], readings, atol=1e-6)
    assert found[3] == (lengths < scaled).sum()
    places = page.locator(".am-width-scale-dot").evaluate_all(
        "all => all.map(e => +e.getAttribute('cx'))"
    )
    on_axis = np.clip(np.log10(lengths), -4, 1)
    np.testing.assert_allclose(places, 30 + (on_axis + 4) / 5 * 436, atol=0.01)
    for name, value in (("typical", readings[1]), ("scaled", scaled)):
        x = float(str(page.locator(f".am-width-scale-{name}").get_attribute("x1")))
        assert x == pytest.approx(30 + (np.log10(value) + 4) / 5 * 436, abs=0.02)


def test_without_a_script_it_is_drawn(browser: Browser) -> None:
    with playable.alone(browser, output(), java_script_enabled=False) as page:
        assert page.locator("button, input").count() == 0
        shows(page, 16, divided=False)
        state = page.locator(".am-live-state:visible").inner_text()
        assert state == "Width d = 16, scores not divided by √d."


def test_every_position_of_the_controls_shows_the_package(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        wide, divide = page.locator("input").all()
        wide.press("Home")
        for width in WIDTHS:
            shows(page, width, divided=False)
            divide.press("Space")
            shows(page, width, divided=True)
            divide.press("Space")
            wide.press("ArrowRight")
        page.get_by_role("button", name="Reset").click()
        shows(page, 16, divided=False)


def test_what_is_said_is_what_is_drawn(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        page.get_by_label("divide by the square root of d").check()
        page.locator("input").first.press("End")
        largest, typical = weights(64, divided=True).max(), np.median(reached(64, divided=True))
        assert playable.said(page) == (
            f"Width 64, divided: largest weight of the marked query {largest:.3f}, gradient at the "
            f"typical query {typical:.3f}, with scores divided by √d {typical:.3f}."
        )
        assert page.locator("svg").get_attribute("aria-label") == playable.said(page)


test_axe_finds_nothing = playable.axe_test(output)


def test_a_phone_shows_all_and_its_targets_can_be_hit(browser: Browser) -> None:
    with playable.alone(
        browser, output(), viewport=playable.SCREENS["phone"], has_touch=True
    ) as page:
        playable.fits_a_phone(page)
        playable.letters_are_large(page.locator("svg text"))
        page.get_by_label("divide by the square root of d").tap()
        shows(page, 16, divided=True)
        assert page.locator(".am-width-scale-dot").count() == QUERIES


@playable.EVERY_SCREEN
def test_nothing_jumps(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(), reduced_motion="reduce", **view) as page:
        playable.nothing_has_shifted(page)
        tall = set()
        for key in ("Home", "ArrowRight", "ArrowRight", "End"):
            page.locator("input").first.press(key)
            tall.add(playable.height(page))
        assert len(tall) == 1
