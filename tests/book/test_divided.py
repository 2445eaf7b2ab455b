"""The divided head in Chromium: its numbers are those of the package, by mouse, key and touch."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bookkit.figures import LiveOutput, divided_head
from companion import masked_softmax
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

WORDS = ["she", "works", "in", "the", "new", "house"]
QUESTIONS = ["Who: one or several?", "In what: one or several?"]


def output(**options: Any) -> LiveOutput:
    return divided_head(WORDS, {0: "they", 5: "houses"}, 2, QUESTIONS, **options)


def handed_over(share: float) -> NDArray[np.float64]:
    """Return what a head hands over in the four sentences, by the package's softmax."""
    with np.errstate(divide="ignore"):
        scores = np.log([[share, 1 - share]])  # minus infinity takes no weight
    values = np.array(list(product((0.0, 1.0), repeat=2)))
    found: NDArray[np.float64] = values @ masked_softmax(scores)[0]
    return found


def apart(points: NDArray[np.float64], question: int) -> float:
    """Return the smallest distance of two sentences that answer a question differently."""
    pairs = product(range(4), repeat=2)
    bit = (1, 0)[question]  # the number of a sentence has the second answer in its lowest bit
    far = [abs(points[a] - points[b]) for a, b in pairs if (a ^ b) >> bit & 1]
    return float(min(np.hypot(*one) for one in far))


def shows(page: Page, heads: int, *shares: float) -> None:
    """Compare weights, points and distances with those of the package."""
    weights = playable.exact_all(page.locator(".am-divided-weight"))
    wanted = [part for share in shares for part in (share, 1 - share)]
    np.testing.assert_allclose(weights, wanted, atol=1e-6)
    points = np.stack([handed_over(share) for share in shares], axis=1)
    points[:, heads:] = 0
    marks = page.locator(".am-divided-point")
    seconds = marks.evaluate_all("all => all.map(e => Number(e.dataset.amSecond))")
    np.testing.assert_allclose(playable.exact_all(marks), points[:, 0], atol=1e-6)
    np.testing.assert_allclose(seconds, points[:, 1], atol=1e-6)
    gaps = playable.exact_all(page.locator(".am-divided-gap"))
    np.testing.assert_allclose(gaps, [apart(points, 0), apart(points, 1)], atol=1e-6)
    across = page.locator(".am-divided-dot").evaluate_all(
        "all => all.map(e => (+e.getAttribute('cx') - 175) / 210)"
    )
    np.testing.assert_allclose(across, points[:, 0], atol=1e-4)


def verdicts(page: Page) -> list[str]:
    return page.locator(".am-divided-verdict").all_inner_texts()


def test_without_a_script_the_head_is_drawn(browser: Browser) -> None:
    with playable.alone(browser, output(shares=(40, 0)), java_script_enabled=False) as page:
        assert page.locator("button, input").count() == 0
        shows(page, 1, 2 / 3, 0)
        assert verdicts(page) == ["can be read", "can be read"]
        state = page.locator(".am-live-state:visible").inner_text()
        assert state == "One head: she has 0.67 of its weight and house 0.33."


def test_every_control_moves_the_numbers(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        first, second = page.locator("input").all()
        shows(page, 1, 1 / 2, 0)
        assert verdicts(page) == ["lost", "lost"]
        assert page.locator(".am-divided-clash").count() == 2
        assert second.is_disabled()
        for _ in range(10):
            first.press("ArrowRight")
        shows(page, 1, 2 / 3, 0)
        assert page.locator(".am-divided-clash").count() == 0
        first.press("End")
        shows(page, 1, 1, 0)
        assert verdicts(page) == ["whole", "lost"]
        first.press("Home")
        shows(page, 1, 0, 0)
        assert verdicts(page) == ["lost", "whole"]
        page.get_by_role("button", name="two heads").click()
        shows(page, 2, 0, 0)
        first.press("End")
        shows(page, 2, 1, 0)
        assert verdicts(page) == ["whole", "whole"]
        for _ in range(7):
            second.press("ArrowRight")
        shows(page, 2, 1, 7 / 60)
        assert playable.said(page).startswith(
            "Two heads: in the first, she has 1.00 of its weight and house 0.00; in the second,"
        )
        assert page.locator("svg").get_attribute("aria-label") == playable.said(page)
        page.get_by_role("button", name="one head").click()
        shows(page, 1, 1, 7 / 60)


def test_two_heads_that_look_alike_are_one(browser: Browser) -> None:
    with playable.alone(browser, output(heads=2, shares=(30, 30))) as page:
        shows(page, 2, 1 / 2, 1 / 2)
        assert verdicts(page) == ["lost", "lost"]


@playable.EVERY_VIEW
def test_axe_finds_nothing(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(heads=2), **view) as page:
        playable.axe_finds_nothing(page)


def test_a_phone_shows_all_and_its_targets_can_be_hit(browser: Browser) -> None:
    with playable.alone(
        browser, output(heads=2), viewport=playable.SCREENS["phone"], has_touch=True
    ) as page:
        playable.fits_a_phone(page)
        playable.letters_are_large(page.locator("svg text"))
        page.get_by_role("button", name="one head").tap()
        shows(page, 1, 1 / 2, 0)


@playable.EVERY_SCREEN
def test_nothing_jumps(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(), reduced_motion="reduce", **view) as page:
        playable.nothing_has_shifted(page)
        tall = set()
        for name in ("two heads", "one head"):
            page.get_by_role("button", name=name).click()
            for key in ("Home", "PageUp", "End"):
                page.locator("input").first.press(key)
                tall.add(playable.height(page))
        assert len(tall) == 1
