"""The map to move in Chromium: by mouse, by keyboard, on a phone, and without a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bookkit.figures import LiveOutput, shifted_map
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

SPANISH = ["ella", "trabaja", "en", "la", "casa", "nueva"]
ENGLISH = ["she", "works", "in", "the", "new", "house"]
GLOSSES = ["she", "works", "in", "the", "house", "new"]
LINKS = [(0, 0), (1, 1), (2, 2), (3, 3), (4, 5), (5, 4)]
WEIGHTS = np.round(np.eye(6)[[0, 1, 2, 3, 5, 4, 5]] * 0.8 + 0.2 / 6, 4)


def output(**options: Any) -> LiveOutput:
    given: dict[str, Any] = {"wrong": (4.6, 97.7), "sentences": 150, "glosses": GLOSSES} | options
    return shifted_map(WEIGHTS, SPANISH, ENGLISH, LINKS, **given)


def weights(page: Page) -> Any:
    return np.reshape(playable.exact_all(page.locator(".am-shifted-ink > span")), (6, 6))


def dots(page: Page) -> list[str]:
    found: list[str] = page.locator(".am-shifted-right").evaluate_all(
        "all => all.map(e => getComputedStyle(e, '::after').content)"
    )
    return found


def test_without_a_script_the_map_stands_as_it_is(browser: Browser) -> None:
    with playable.alone(browser, output(), java_script_enabled=False) as page:
        assert page.locator("button, input").count() == 0
        assert page.locator(".am-live-state:visible").inner_text().startswith("As it is")
        colours = page.locator(".am-shifted-ink").evaluate_all(
            "all => all.map(e => getComputedStyle(e).backgroundColor)"
        )
        assert len(set(colours)) == 2  # what is looked at most, and the rest


def test_a_click_moves_every_row_up_by_one(browser: Browser) -> None:
    with playable.alone(browser, output(), reduced_motion="reduce") as page:
        np.testing.assert_array_equal(weights(page), WEIGHTS[:-1])
        assert playable.said(page) == (
            "As it is: the largest weight is right in 6 of 6 rows. Over 150 sentences, 5 of 100 "
            "links are wrong."
        )
        page.get_by_role("button", name="one row up").click()
        np.testing.assert_array_equal(weights(page), WEIGHTS[1:])
        np.testing.assert_allclose(weights(page).sum(-1), 1, atol=1e-3)
        assert playable.said(page) == (
            "Moved up by one row: the largest weight is right in 0 of 6 rows. Over 150 sentences, "
            "98 of 100 links are wrong."
        )
        page.get_by_role("button", name="as it is").click()
        np.testing.assert_array_equal(weights(page), WEIGHTS[:-1])


def test_by_keyboard_and_with_the_right_words_marked(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        assert set(dots(page)) == {"none"}
        for _ in range(2):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        np.testing.assert_array_equal(weights(page), WEIGHTS[1:])
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        assert set(dots(page)) == {'""'}
        page.keyboard.press("Space")
        assert set(dots(page)) == {"none"}


@playable.EVERY_SCREEN
def test_it_fits_the_screen_and_nothing_jumps(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(), **view) as page:
        playable.fits_a_phone(page)
        page.get_by_role("button", name="one row up").click()
        playable.nothing_has_shifted(page)


test_axe_finds_nothing = playable.axe_test(output)
