"""The next word in Chromium: what it is drawn from is what the package would draw from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
import torch

from bookkit.figures import LiveOutput, next_word
from bookkit.playables.next_word import MIN_PS, ROWS, TEMPERATURES, TOP_KS, TOP_PS
from companion.decoding import keep_min_p, keep_top_k, keep_top_p
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

WORDS = [f"word{n}" for n in range(60)]
LOGITS = np.random.default_rng(8).normal(size=(2, 60)) * np.array([[3.0], [1.0]])
POSSIBLE = np.random.default_rng(9).random((2, 60)) > 0.4
BEGINNINGS = ["she works in", "she works in the new"]


def output() -> LiveOutput:
    return next_word(WORDS, BEGINNINGS, LOGITS, POSSIBLE)


def drawn_from(
    row: int, temperature: float, k: int | None, p: float | None, share: float | None
) -> Any:
    """Return the probabilities, by the package."""
    logits = torch.tensor(LOGITS[row]) / temperature
    logits = logits if k is None else keep_top_k(logits, k)
    logits = logits if p is None else keep_top_p(logits, p)
    return (logits if share is None else keep_min_p(logits, share)).softmax(-1).numpy()


def shows(
    page: Page, row: int = 0, temperature: float = 1.0, k: int | None = None,
    p: float | None = None, share: float | None = None,
) -> None:  # fmt: skip
    chances = drawn_from(row, temperature, k, p, share)
    own = drawn_from(row, 1.0, None, None, None)
    order = np.argsort(-LOGITS[row])
    for part, numbers in (("bar", chances), ("own", own)):
        wanted = [*numbers[order[:ROWS]], numbers[order[ROWS:]].sum()]
        if part == "bar":
            found = playable.exact_all(page.locator(".am-next-word-chance"))
            np.testing.assert_allclose(found, wanted, atol=1e-6)
        widths = page.locator(f".am-next-word-{part}").evaluate_all(
            "all => all.map(e => +e.getAttribute('width') / 250)"
        )
        np.testing.assert_allclose(widths, wanted, atol=1e-4)
    positive = chances[chances > 0]
    variety = np.exp(-(positive * np.log(positive)).sum())
    readings = [positive.size, 100 * chances[~POSSIBLE[row]].sum(), variety]
    found = playable.exact_all(page.locator(".am-next-word-reading"))
    np.testing.assert_allclose(found, readings, atol=1e-6)
    assert page.locator(".am-next-word-cut").count() == sum(
        [*(chances[order[:ROWS]] == 0), chances[order[ROWS:]].sum() == 0]
    )


def test_without_a_script_the_probabilities_are_drawn(browser: Browser) -> None:
    with playable.alone(browser, output(), java_script_enabled=False) as page:
        assert page.locator("button, input").count() == 0
        shows(page)
        state = page.locator(".am-live-state:visible").inner_text()
        assert state == "After she works in, temperature 1, nothing cut."


def test_every_slider_at_every_step(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        heat, *cuts = page.locator("input").all()
        for place, temperature in enumerate(TEMPERATURES):
            heat.fill(str(place))
            shows(page, temperature=temperature)
        page.get_by_role("button", name="Reset").click()
        for name, slider, steps in zip(
            ("k", "p", "share"), cuts, (TOP_KS, TOP_PS, MIN_PS), strict=True
        ):
            for place, step in enumerate(steps):
                slider.fill(str(place))
                shows(page, **cast(Any, {name: step}))


def test_all_together_by_keyboard(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        heat, k, p, share = page.locator("input").all()
        page.get_by_role("button", name="she works in the new").click()
        shows(page, row=1)
        heat.press("End")
        for _ in range(3):
            k.press("ArrowLeft")
        shows(page, row=1, temperature=2.0, k=10)
        p.press("ArrowLeft")
        p.press("ArrowLeft")
        share.press("ArrowLeft")
        share.press("ArrowLeft")
        shows(page, row=1, temperature=2.0, k=10, p=0.9, share=0.02)
        share.press("Home")
        shows(page, row=1, temperature=2.0, k=10, p=0.9, share=0.5)
        assert playable.said(page).startswith(
            "After she works in the new, temperature 2, top-k 10, top-p 0.9, min-p 0.5: "
        )
        assert page.locator("svg").get_attribute("aria-label") == playable.said(page)
        page.get_by_role("button", name="Reset").click()
        shows(page)


@playable.EVERY_VIEW
def test_axe_finds_nothing(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(), **view) as page:
        page.locator("input").nth(1).press("Home")
        playable.axe_finds_nothing(page)


def test_a_phone_shows_all_and_its_targets_can_be_hit(browser: Browser) -> None:
    with playable.alone(
        browser, output(), viewport=playable.SCREENS["phone"], has_touch=True
    ) as page:
        playable.fits_a_phone(page)
        playable.letters_are_large(page.locator("svg text"))
        page.get_by_role("button", name="she works in the new").tap()
        shows(page, row=1)


@playable.EVERY_SCREEN
def test_nothing_jumps(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(), reduced_motion="reduce", **view) as page:
        playable.nothing_has_shifted(page)
        tall = set()
        for name in BEGINNINGS:
            page.get_by_role("button", name=name, exact=True).click()
            for slider in page.locator("input").all():
                for key in ("Home", "End"):
                    slider.press(key)
                    tall.add(playable.height(page))
        assert len(tall) == 1
