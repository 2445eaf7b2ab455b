"""The growing cache in Chromium: its numbers are the package's, by mouse, keyboard and touch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bookkit.figures import LiveOutput, growing_cache
from companion import (
    attention_with_weights,
    causal_mask,
    scaled_dot_product_attention,
    sliding_window_mask,
)
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

WORDS = ["she", "works", "in", "the", "new", "house"]
VECTORS = np.random.default_rng(8).normal(size=(6, 2)) * 1.5
PROMPT, WINDOW = 3, 2
RULES = ["causal", "window of 2", "window and first word", "both ways", "offset forgotten"]
Numbers = NDArray[np.float64]


def output(**options: Any) -> LiveOutput:
    return growing_cache(WORDS, VECTORS, prompt=PROMPT, window=WINDOW, **options)


def whole(rule: str, n: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return the second layer's memory, weights and output of n words that are read at once."""
    near = sliding_window_mask(n, left=WINDOW - 1)
    mask = {
        "causal": causal_mask(n),
        "window of 2": near,
        "window and first word": near | (np.arange(n) == 0),
        "both ways": np.ones((n, n), dtype=bool),
        "offset forgotten": causal_mask(n),
    }[rule]
    x = VECTORS[:n]
    memory = scaled_dot_product_attention(x, x, x, mask, scale=1.0)
    blend, weights = attention_with_weights(memory, memory, memory, mask, scale=1.0)
    return memory, weights, blend


def stepped(rule: str, n: int) -> Numbers:
    """Return the second layer's memory as it was when each word was read."""
    if rule == "both ways":
        memories = [whole(rule, end)[0] for end in range(PROMPT, n + 1)]
        return np.concatenate([memories[0], *(memory[-1:] for memory in memories[1:])])
    if rule == "offset forgotten":
        return np.concatenate([whole(rule, PROMPT)[0], np.tile(VECTORS[:1], (n - PROMPT, 1))])
    return whole(rule, n)[0]


def output_with_cache(rule: str, n: int) -> Numbers:
    memory = stepped(rule, n)
    last: Numbers = memory[0]
    if n == PROMPT or rule not in ("both ways", "offset forgotten"):
        last = whole(rule, n)[2][-1]
    elif rule == "both ways":
        last = scaled_dot_product_attention(memory[-1:], memory, memory, scale=1.0)[0]
    return last


def numbers(page: Page, where: str) -> Numbers:
    return np.reshape(playable.exact_all(page.locator(f"{where} .am-growing-number")), (-1, 2))


def shows(page: Page, rule: str, n: int, *, cached: bool = True) -> None:
    memory, weights, blend = whole(rule, n)
    slots = ".am-growing-table tbody:first-of-type tr:nth-child({})"
    layers = [numbers(page, slots.format(layer)) for layer in (1, 2)]
    np.testing.assert_allclose(layers[0], VECTORS[:n], atol=1e-6)
    np.testing.assert_allclose(layers[1], stepped(rule, n) if cached else memory, atol=1e-6)
    results = [output_with_cache(rule, n), blend[-1]]
    np.testing.assert_allclose(numbers(page, ".am-growing-output"), results, atol=1e-6)
    if rule in RULES[:3] or not cached:
        first = (n if n == PROMPT else 1) if cached else n
        found = playable.exact_all(page.locator(".am-growing-now"))
        rows = weights[n - first :]
        np.testing.assert_allclose(found, rows[rows > 0], atol=1e-6)
    steps = range(PROMPT, n + 1)
    counts = page.locator(".am-growing-count").all_inner_texts()
    here = PROMPT if n == PROMPT else 1
    assert counts == [str(count) for count in (here, n, n, sum(steps))]


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_without_a_script_the_cache_is_drawn(browser: Browser) -> None:
    with playable.alone(browser, output(), java_script_enabled=False) as page:
        assert page.locator("button, input").count() == 0
        shows(page, "causal", 4)
        state = page.locator(".am-live-state:visible").inner_text()
        assert state.startswith("Reading “the”, causal: this step computes 1 word, and 4 without")


@pytest.mark.parametrize("rule", RULES)
def test_every_step_of_every_rule_is_the_packages(browser: Browser, rule: str) -> None:
    with playable.alone(browser, output()) as page:
        press(page, rule)
        for n, name in ((3, "the prompt"), (4, "+ the"), (5, "+ new"), (6, "+ house")):
            press(page, name)
            shows(page, rule, n)
            press(page, "none")
            shows(page, rule, n, cached=False)
            press(page, "kept")


def test_keyboard_words_and_reset(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        for _ in range(4):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        shows(page, "causal", 6)
        begin = "Reading “house”, causal: this step computes 1 word, and 6 without a cache"
        assert playable.said(page).startswith(begin)
        assert "Out of date" not in playable.said(page)
        press(page, "both ways")
        assert playable.said(page).endswith(
            "Out of date in layer 2: 5 of the vectors that were kept."
        )
        assert page.locator(".am-growing-stale").count() == 5
        press(page, "window and first word")
        assert page.locator(".am-growing-dropped").count() == 2 * 3
        press(page, "Reset")
        shows(page, "causal", 4)


def test_the_drawing_of_the_script_is_that_of_python(browser: Browser) -> None:
    """Every start, drawn by Python, is what the script draws when it is clicked there."""
    classes = """() => [...document.querySelectorAll(".am-growing-slot, .am-growing-cell")].map(
        e => [...e.classList].filter(c => !c.startsWith("am-ink")).sort().join(" ")
            + " " + e.textContent)"""
    for rule, name in (("window and first word", RULES[2]), ("both ways", "both ways")):
        drawn = output(rule=rule, step=3)
        with playable.alone(browser, drawn, java_script_enabled=False) as page:
            wanted = page.evaluate(classes)
        with playable.alone(browser, output()) as page:
            press(page, name)
            press(page, "+ house")
            assert page.evaluate(classes) == wanted
            assert playable.said(page) == drawn.state


@playable.EVERY_VIEW
def test_axe_finds_nothing(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(rule="both ways", step=3), **view) as page:
        playable.axe_finds_nothing(page)


def test_a_phone_shows_all_and_its_targets_can_be_hit(browser: Browser) -> None:
    with playable.alone(
        browser, output(), viewport=playable.SCREENS["phone"], has_touch=True
    ) as page:
        playable.fits_a_phone(page, "button")
        page.get_by_role("button", name="+ new").tap()
        shows(page, "causal", 5)


@playable.EVERY_SCREEN
def test_nothing_jumps(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(), reduced_motion="reduce", **view) as page:
        playable.nothing_has_shifted(page)
        tall, wide = set(), set[int]()
        for rule in RULES:
            press(page, rule)
            for name in ("the prompt", "+ the", "+ house"):
                press(page, name)
                box = playable.box_of(page.locator("figure"))
                tall.add(round(box["height"]))
                cells = page.locator(".am-growing-table thead th").all()
                wide |= {round((cell.bounding_box() or {"width": 0})["width"]) for cell in cells}
        assert len(tall) == 1
        assert max(wide) - min(wide) <= 1
