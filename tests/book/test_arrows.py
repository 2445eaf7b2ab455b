"""The arrows in Chromium: their numbers are the package's, by mouse, keyboard and touch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bookkit.data.plane import plane_words
from bookkit.figures import LiveOutput, arrow_lookup
from bookkit.playables.arrows import TEMPERATURES
from companion import attend, dot_score, masked_softmax
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

WORDS, VECTORS = plane_words()


def output(**options: Any) -> LiveOutput:
    return arrow_lookup(WORDS, VECTORS, stretched="house", length=2.0, **options)


def shows(
    page: Page,
    query: tuple[float, float] = (1.0, 1.0),
    temperature: float = 1,
    length: float = 2.0,
    *,
    gaussian: bool = False,
) -> None:
    """Compare scores, weights and blend with the package, and the drawing with them."""
    key, asked = VECTORS.copy(), np.array([query])
    key[5] *= length / 2
    scores = dot_score(asked, key)
    if gaussian:
        scores = -((asked[:, None] - key[None]) ** 2).sum(-1) / 2
    weights = masked_softmax(scores / temperature)
    blend = attend(weights, VECTORS)[0]
    for part, wanted in (("score", scores[0]), ("weight", weights[0]), ("found", blend)):
        numbers = playable.exact_all(page.locator(f".am-arrow-lookup-{part}"))
        np.testing.assert_allclose(numbers, wanted, atol=1e-6)
    bars = page.locator(".am-arrow-lookup-bar").evaluate_all(
        "all => all.map(e => +e.getAttribute('width') / 100)"
    )
    np.testing.assert_allclose(bars, weights[0], atol=1e-4)
    for part, tips in (("key", key), ("query", asked), ("blend", blend[None])):
        shafts = page.locator(f"path.am-arrow-lookup-{part}").evaluate_all(
            r"all => all.map(e => e.getAttribute('d').match(/L(\S+) ([-\d.]+)/))"
        )
        drawn = np.array([[50 * (x + 2.2), 50 * (2.5 - y)] for x, y in tips])
        tips_drawn = [[float(x), float(y)] for _, x, y in shafts]
        np.testing.assert_allclose(tips_drawn, drawn, atol=0.06)


def at(page: Page, x: float, y: float) -> tuple[float, float]:
    """Return where a point of the plane is on the screen."""
    box = playable.box_of(page.locator(".am-arrow-lookup-plane"))
    scale = box["width"] / 350
    return box["x"] + 50 * (x + 2.2) * scale, box["y"] + 50 * (2.5 - y) * scale


def test_without_a_script_the_arrows_are_drawn(browser: Browser) -> None:
    with playable.alone(browser, output(), java_script_enabled=False) as page:
        assert page.locator("button, input, [role=slider]").count() == 0
        shows(page)
        state = page.locator(".am-live-state:visible").inner_text()
        assert state == "Query (1.0, 1.0), dot product, temperature 1, house has length 2.0."


def test_the_mouse_drags_the_query_and_puts_it_where_it_clicks(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        shows(page)
        page.mouse.move(*at(page, 1, 1))
        page.mouse.down()
        page.mouse.move(*at(page, 0.5, 0.2), steps=4)
        page.mouse.move(*at(page, -1.32, 0.48), steps=4)
        page.mouse.up()
        shows(page, (-1.3, 0.5))
        assert playable.said(page).startswith("Query (\u22121.3, 0.5), dot product")
        page.mouse.move(*at(page, 2, 2))
        shows(page, (-1.3, 0.5))  # it was let go
        page.mouse.click(*at(page, 2.4, -1.6))
        shows(page, (2.4, -1.6))
        page.mouse.click(*at(page, 4.7, 2.4))
        shows(page, (4.0, 2.0))  # as far as it goes


def test_every_control_moves_the_numbers(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        handle, heat, long = page.get_by_role("slider").all()
        for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "ArrowUp"):
            handle.press(key)
        shows(page, (1.1, 1.1))
        assert handle.get_attribute("aria-valuetext") == "1.1, 1.1"
        long.press("End")
        shows(page, (1.1, 1.1), length=3.5)
        assert "house has the largest weight" in playable.said(page)
        page.get_by_role("button", name="Gaussian").click()
        shows(page, (1.1, 1.1), length=3.5, gaussian=True)
        assert ": new has the largest weight" in playable.said(page)
        heat.press("Home")
        shows(page, (1.1, 1.1), TEMPERATURES[0], 3.5, gaussian=True)
        heat.press("End")
        long.press("Home")
        shows(page, (1.1, 1.1), TEMPERATURES[-1], 0.5, gaussian=True)
        page.get_by_role("button", name="dot product").click()
        shows(page, (1.1, 1.1), TEMPERATURES[-1], 0.5)
        page.get_by_role("button", name="Reset").click()
        shows(page)
        assert ": new and house have the largest weight, 0.39." in playable.said(page)
        assert page.locator(".am-arrow-lookup-plane").get_attribute("aria-label") == playable.said(
            page
        )


def test_a_finger_drags_the_query_on_a_phone(browser: Browser) -> None:
    with playable.alone(
        browser, output(), viewport=playable.SCREENS["phone"], has_touch=True
    ) as page:
        playable.fits_a_phone(page, "button, input, [role=slider]")
        playable.letters_are_large(page.locator(".am-arrow-lookup-plane text"))
        finger = page.context.new_cdp_session(page)
        for kind, x, y in (("Start", 1, 1), ("Move", 0.4, 0.3), ("Move", 0, -1.5)):
            across, down = at(page, x, y)
            points = [{"x": across, "y": down}]
            finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        shows(page, (0.0, -1.5))
        assert page.evaluate("scrollY") == 0


test_axe_finds_nothing = playable.axe_test(output)


@playable.EVERY_SCREEN
def test_nothing_jumps(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(), reduced_motion="reduce", **view) as page:
        playable.nothing_has_shifted(page)
        tall = set()
        for name in ("Gaussian", "dot product"):
            page.get_by_role("button", name=name).click()
            for key in ("Home", "End"):
                page.get_by_role("slider", name="temperature").press(key)
                tall.add(playable.height(page))
        assert len(tall) == 1
