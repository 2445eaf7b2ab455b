"""The heads that copy in Chromium: their numbers are those of the package on the same weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from bookkit.figures import LiveOutput, copier_view, heads_that_copy
from bookkit.playables.copying import LETTERS, repeated
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

BLOCK = "kitchen"


def output() -> LiveOutput:
    return heads_that_copy(BLOCK)


def shows(page: Page, text: str, picked: int, on: tuple[bool, bool] = (True, True)) -> None:
    """Compare every number with the package's model."""
    view = copier_view(text, on)
    looks = np.reshape(playable.exact_all(page.locator(".am-copying-ink > span")), (2, 14))
    np.testing.assert_allclose(looks, view.weights[:, picked], atol=1e-6)
    chances = playable.exact_all(page.locator(".am-copying-said"))
    np.testing.assert_allclose(chances, view.probabilities.max(-1), atol=1e-6)
    guesses = page.locator(".am-copying-said").all_inner_texts()
    assert guesses == [LETTERS[i] for i in view.probabilities.argmax(-1)]


def test_without_a_script_the_text_and_both_heads_stand_there(browser: Browser) -> None:
    with playable.alone(browser, output(), java_script_enabled=False) as page:
        assert page.locator("button, input").count() == 0
        assert page.locator(".am-copying-letter").all_inner_texts() == list(BLOCK + BLOCK)
        assert page.locator(".am-live-state:visible").inner_text().startswith("Picked: letter 10")
        shows(page, BLOCK + BLOCK, 9)


def test_every_control_moves_the_numbers(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        text = BLOCK + BLOCK
        shows(page, text, 9)
        page.get_by_role("button", name="letter 13, e").click()
        shows(page, text, 12)
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Enter")
        shows(page, text, 11)
        first, second = page.locator("input[type=checkbox]").all()
        first.click()
        shows(page, text, 11, (False, True))
        assert "The first head is off." in playable.said(page)
        second.press("Space")
        shows(page, text, 11, (False, False))
        first.click()
        shows(page, text, 11, (True, False))
        second.click()
        page.locator("input[type=range]").press("Home")
        shows(page, repeated(BLOCK, 4), 11)
        page.get_by_role("button", name="letter 3, t").click()
        page.get_by_role("button", name="Change the picked letter").click()
        shows(page, "kiuckitckitcki", 2)
        page.get_by_role("button", name="letter 1, k").click()
        assert "gives nothing to the letter before" in playable.said(page)
        page.get_by_role("button", name="Reset").click()
        shows(page, text, 9)
        assert playable.said(page) == output().state


def test_without_the_first_head_hardly_anything_is_copied(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        assert page.locator(".am-copying-right").count() == 6
        page.get_by_label("first head").click()
        assert page.locator(".am-copying-right").count() <= 2


test_axe_finds_nothing = playable.axe_test(output)


def test_a_phone_shows_all_and_its_targets_can_be_hit(browser: Browser) -> None:
    with playable.alone(
        browser, output(), viewport=playable.SCREENS["phone"], has_touch=True
    ) as page:
        playable.fits_a_phone(page)
        page.get_by_role("button", name="letter 8, k").tap()
        shows(page, BLOCK + BLOCK, 7)


@pytest.mark.parametrize("screen", playable.SCREENS)
def test_nothing_jumps(browser: Browser, screen: str) -> None:
    with playable.alone(
        browser, output(), viewport=playable.SCREENS[screen], reduced_motion="reduce"
    ) as page:
        page.get_by_label("first head").click()
        page.get_by_role("button", name="letter 9, i").click()
        playable.nothing_has_shifted(page)


@pytest.mark.parametrize("width", [375, 390])
def test_a_phone_shows_the_whole_strip(browser: Browser, width: int) -> None:
    view = {"viewport": {"width": width, "height": 844}}
    with playable.alone(browser, output(), **view) as page:
        page.add_style_tag(content="main{padding:0 17.6px}body{margin:0}")
        table = playable.box_of(page.locator(".am-copying-table"))
        drawing = playable.box_of(page.locator(".am-live-drawing"))
        assert table["x"] >= drawing["x"]
        assert table["x"] + table["width"] < drawing["x"] + drawing["width"]
