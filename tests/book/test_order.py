"""Words to move in Chromium: every order gives what the package computes, however it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bookkit.data.plane import plane_words
from bookkit.figures import LiveOutput, word_order
from companion import causal_mask, self_attention
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

WORDS, VECTORS = plane_words()
QUERY, KEY = np.array([[-1.0, 0.0], [2.0, -1.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])
VALUE = np.array([[0.8, 0.3], [-0.1, 1.1]])
OWN = "she works in the new house"
TIP = "e => { const [x, y] = e.getAttribute('d').split(/[MLe]/)[2].split(' '); return [+x, +y]; }"


def output(**options: Any) -> LiveOutput:
    return word_order(WORDS, VECTORS, QUERY, KEY, VALUE, **({"chosen": 3} | options))


def shows(page: Page, sentence: str, chosen: str, *, before: bool = False) -> None:
    """Compare every number with the package, computed for the words in this order."""
    order = [WORDS.index(word) for word in sentence.split()]
    mask = causal_mask(6) if before else None
    result, weights = self_attention(VECTORS[order], QUERY, KEY, VALUE, mask)
    home, _ = self_attention(VECTORS, QUERY, KEY, VALUE)
    position = sentence.split().index(chosen)
    assert page.locator("thead button").all_inner_texts() == sentence.split()
    assert page.locator("thead button[aria-pressed=true]").all_inner_texts() == [chosen]
    for part, numbers in (
        ("weight", weights[position]),
        ("x", result[:, 0]),
        ("y", result[:, 1]),
        ("change", np.hypot(*(result - home[order]).T)),
    ):
        shown = playable.exact_all(page.locator(f".am-word-order-{part}"))
        np.testing.assert_allclose(shown, numbers, rtol=0, atol=1e-6)
    tip = page.locator("path.am-word-order-result").evaluate(TIP)
    ring = page.locator(".am-word-order-home").evaluate(
        "e => [e.cx.baseVal.value, e.cy.baseVal.value]"
    )
    apart = (np.array(tip) - ring) / 84 * [1, -1]
    np.testing.assert_allclose(apart, result[position] - home[order[position]], atol=2e-3)


def test_without_a_script_the_layer_is_drawn(browser: Browser) -> None:
    with playable.alone(browser, output(), java_script_enabled=False) as page:
        assert page.locator("button, input").count() == 0
        weights = playable.exact_all(page.locator(".am-word-order-weight"))
        wanted = self_attention(VECTORS, QUERY, KEY, VALUE)[1][3]
        np.testing.assert_allclose(weights, wanted, atol=1e-6)
        assert page.locator(".am-live-state:visible").inner_text() == (
            f"Order: {OWN}. Every word sees all words. The word that looks: the."
        )


def test_no_order_changes_a_result_until_words_see_what_is_before_them(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        shows(page, OWN, "the")
        page.get_by_role("button", name="Turn round").click()
        shows(page, "house new the in works she", "the")
        assert "changed by 0.00. The largest change of any word is 0.00." in playable.said(page)
        page.get_by_label("look only back").check()
        shows(page, "house new the in works she", "the", before=True)
        assert page.locator("[data-am-changed]").count() == 5  # she, now last, sees all words
        page.get_by_role("button", name="Turn round").click()
        shows(page, OWN, "the", before=True)
        page.get_by_role("button", name="Reset").click()
        shows(page, OWN, "the")
        assert page.locator("svg").get_attribute("aria-label") == playable.said(page)


def test_by_keyboard(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        shows(page, OWN, "she")
        left, right = (
            page.get_by_role("button", name=f"Move {side}") for side in ("left", "right")
        )
        assert left.get_attribute("aria-disabled") == "true"
        left.press("Enter")
        shows(page, OWN, "she")
        for _ in range(5):
            right.press("Space")
        shows(page, "works in the new house she", "she")
        assert right.get_attribute("aria-disabled") == "true"
        page.get_by_label("look only back").press("Space")
        shows(page, "works in the new house she", "she", before=True)


def test_by_mouse_a_word_is_dragged_to_another_position(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        page.get_by_role("button", name="works", exact=True).drag_to(
            page.get_by_role("button", name="house", exact=True)
        )
        shows(page, "she in the new house works", "works")
        page.get_by_role("button", name="new", exact=True).click()
        shows(page, "she in the new house works", "new")
        page.get_by_role("button", name="house", exact=True).drag_to(
            page.get_by_role("button", name="she", exact=True)
        )
        shows(page, "house she in the new works", "house")
        assert playable.said(page).startswith("Order: house she in the new works.")


test_axe_finds_nothing = playable.axe_test(output)


def test_a_phone_shows_all_and_its_targets_can_be_hit(browser: Browser) -> None:
    with playable.alone(
        browser, output(), viewport=playable.SCREENS["phone"], has_touch=True
    ) as page:
        playable.fits_a_phone(page)
        playable.letters_are_large(page.locator("svg text"))
        page.get_by_role("button", name="house", exact=True).tap()
        shows(page, OWN, "house")
        page.get_by_role("button", name="Move left").tap()
        shows(page, "she works in the house new", "house")


@playable.EVERY_SCREEN
def test_nothing_jumps(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(), reduced_motion="reduce", **view) as page:
        playable.nothing_has_shifted(page)
        tall = set()
        for word in WORDS:
            page.get_by_role("button", name=word, exact=True).click()
            page.get_by_role("button", name="Turn round").click()
            tall.add(playable.height(page))
        assert len(tall) == 1
