"""The softmax in narrow numbers in Chromium: every step is that of Python and torch, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bookkit.figures import LiveOutput, narrow_softmax
from bookkit.playables.narrow import SHIFTS, TYPES, softmax_steps
from companion import masked_softmax
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

WORDS = ["she", "works", "in", "the", "new", "house"]
SCORES = [0.0, -2.0, -1.0, 1.0, 2.0, 2.0]
NAMES = [one.name for one in TYPES]


def output(**options: Any) -> LiveOutput:
    return narrow_softmax(WORDS, SCORES, **options)


def shows(page: Page, name: str, shift: int, *, safe: bool) -> None:
    """Compare every step, and the words, with those of Python, bit for bit."""
    found = softmax_steps(np.array(SCORES) + shift, TYPES[NAMES.index(name)], safe=safe)
    for part, wanted in (
        ("score", found.stored), ("exponent", found.exponents), ("power", found.powers),
        ("total", [found.total]), ("weight", found.weights),
    ):  # fmt: skip
        shown = playable.exact_all(page.locator(f".am-narrow-{part}"))
        np.testing.assert_array_equal(shown, wanted, err_msg=f"{part}, {name}, {shift}")
    assert (
        page.locator("svg").get_attribute("aria-label")
        == output(kind=name, shift=shift, safe=safe).alt
    )


def go(page: Page, shift: int) -> None:
    slider = page.locator("input[type=range]")
    slider.fill(str(SHIFTS.index(shift)))
    slider.dispatch_event("change")


def test_without_a_script_the_steps_are_drawn(browser: Browser) -> None:
    with playable.alone(browser, output(shift=9), java_script_enabled=False) as page:
        assert page.locator("button, input").count() == 0
        shows(page, "float16", 9, safe=False)
        assert page.locator(".am-live-state:visible").inner_text() == output(shift=9).state


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("safe", [False, True])
def test_every_stop_of_the_slider_gives_the_numbers_of_python(
    browser: Browser, name: str, safe: bool
) -> None:
    with playable.alone(browser, output(safe=safe)) as page:
        page.get_by_role("button", name=name, exact=True).click()
        for shift in SHIFTS:
            go(page, shift)
            shows(page, name, shift, safe=safe)


def test_with_the_largest_subtracted_the_weights_are_those_of_the_package(
    browser: Browser,
) -> None:
    with playable.alone(browser, output(kind="float32", safe=True)) as page:
        for shift in (-120, 0, 12, 300):
            go(page, shift)
            wanted = masked_softmax(np.array([SCORES], dtype=np.float32) + np.float32(shift))
            weights = playable.exact_all(page.locator(".am-narrow-weight"))
            np.testing.assert_allclose(weights, wanted[0], atol=1e-6)


def test_keys_and_the_box_move_the_numbers(browser: Browser) -> None:
    with playable.alone(browser, output(shift=10)) as page:
        shows(page, "float16", 10, safe=False)
        slider = page.locator("input[type=range]")
        slider.press("ArrowLeft")
        shows(page, "float16", 9, safe=False)
        assert "nothing warns" in playable.said(page)
        page.get_by_role("checkbox").press("Space")
        shows(page, "float16", 9, safe=True)
        assert playable.said(page).startswith(
            "float16, +9 on every score, the largest score subtracted"
        )
        slider.press("End")
        shows(page, "float16", 300, safe=True)
        page.get_by_role("button", name="bfloat16").click()
        shows(page, "bfloat16", 300, safe=True)


@playable.EVERY_VIEW
def test_axe_finds_nothing(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(shift=10), **view) as page:
        playable.axe_finds_nothing(page)


def test_a_phone_shows_all_and_its_targets_can_be_hit(browser: Browser) -> None:
    with playable.alone(
        browser, output(shift=80), viewport=playable.SCREENS["phone"], has_touch=True
    ) as page:
        playable.fits_a_phone(page)
        playable.letters_are_large(page.locator("svg text"))
        page.get_by_role("button", name="bfloat16").tap()
        shows(page, "bfloat16", 80, safe=False)


@playable.EVERY_SCREEN
def test_nothing_jumps(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(shift=10), reduced_motion="reduce", **view) as page:
        playable.nothing_has_shifted(page)
        tall = set()
        for name in NAMES:
            page.get_by_role("button", name=name, exact=True).click()
            for shift in (-120, 0, 9, 86, 300):
                go(page, shift)
                tall.add(playable.height(page))
        assert len(tall) == 1
