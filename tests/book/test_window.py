"""The window in Chromium: its numbers are those of the package, by mouse, keyboard and touch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from bookkit.figures import LiveOutput, local_window
from companion import masked_softmax
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

SOURCE = ["she", "works", "in", "the", "new", "house"]
TARGET = ["ella", "trabaja", "en", "la", "casa", "nueva"]
SCORES = np.random.default_rng(5).normal(size=(6, 6)) * 3
LINKS = [0, 1, 2, 3, 5, 4]


def output(**options: Any) -> LiveOutput:
    given: dict[str, Any] = {"row": 5, "position": 4.0, "half_width": 1}
    return local_window(SOURCE, TARGET, SCORES, LINKS, **given | options)


def shows(page: Page, row: int, position: float, half_width: int, *, soft: bool) -> None:
    """Compare all numbers with the package's softmax and torch's derivative along p."""
    p = torch.tensor(position, dtype=torch.float64, requires_grad=True)
    distance = torch.arange(6) - p
    weights = masked_softmax(torch.tensor(SCORES[row])[None], (distance.abs() <= half_width)[None])
    if soft:
        weights = weights * torch.exp(-0.5 * (distance / (half_width / 2)) ** 2)
    seen, wanted = weights[0].detach().numpy(), LINKS[row]
    np.testing.assert_allclose(
        playable.exact_all(page.locator(".am-local-window-weight")), seen, atol=1e-6
    )
    whole = masked_softmax(SCORES[row][None])[0]
    slope = float(torch.autograd.grad(weights[0, wanted], p)[0]) if soft else 0.0
    readings = playable.exact_all(page.locator(".am-local-window-reading"))
    np.testing.assert_allclose(
        readings, [seen[wanted], whole[wanted], seen.sum(), slope], atol=1e-6
    )
    for part, numbers in (("bar", seen), ("whole", whole)):
        heights = page.locator(f".am-local-window-{part}").evaluate_all(
            "all => all.map(e => +e.getAttribute('height') / 170)"
        )
        np.testing.assert_allclose(heights, numbers, atol=1e-4)
    assert page.locator(".am-local-window-wanted").text_content() == SOURCE[wanted]


def test_without_a_script_the_window_is_drawn(browser: Browser) -> None:
    with playable.alone(browser, output(), java_script_enabled=False) as page:
        assert page.locator("button, input").count() == 0
        shows(page, 5, 4.0, 1, soft=True)
        state = page.locator(".am-live-state:visible").inner_text()
        assert state == "Writing nueva with p = 4.0 and D = 1, Gaussian."


def test_every_control_moves_the_numbers(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        aim, reach = page.locator("input").all()
        shows(page, 5, 4.0, 1, soft=True)
        aim.press("ArrowLeft")
        shows(page, 5, 3.9, 1, soft=True)
        aim.press("Home")
        shows(page, 5, 0.0, 1, soft=True)
        reach.press("End")
        shows(page, 5, 0.0, 5, soft=True)
        page.get_by_role("button", name="casa").click()
        shows(page, 4, 0.0, 5, soft=True)
        page.get_by_role("button", name="hard edge").click()
        shows(page, 4, 0.0, 5, soft=False)
        reach.press("Home")
        aim.press("End")
        shows(page, 4, 5.0, 1, soft=False)
        assert playable.said(page).startswith(
            "Writing casa with p = 5.0 and D = 1, hard edge: house has"
        )
        assert page.locator("svg").get_attribute("aria-label") == playable.said(page)
        page.get_by_role("button", name="Reset").click()
        shows(page, 5, 4.0, 1, soft=True)


test_axe_finds_nothing = playable.axe_test(output)


def test_a_phone_shows_all_and_its_targets_can_be_hit(browser: Browser) -> None:
    with playable.alone(
        browser, output(), viewport=playable.SCREENS["phone"], has_touch=True
    ) as page:
        playable.fits_a_phone(page)
        playable.letters_are_large(page.locator("svg text"))
        page.get_by_role("button", name="la", exact=True).tap()
        shows(page, 3, 4.0, 1, soft=True)


@playable.EVERY_SCREEN
def test_nothing_jumps(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(), reduced_motion="reduce", **view) as page:
        playable.nothing_has_shifted(page)
        tall = set()
        for name in TARGET:
            page.get_by_role("button", name=name, exact=True).click()
            for key in ("Home", "PageUp", "PageUp", "End"):
                page.locator("input").first.press(key)
                tall.add(playable.height(page))
        assert len(tall) == 1
