"""The online softmax in Chromium: at every step its numbers are those of the package, to 1e-6."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bookkit.figures import LiveOutput, online_softmax_steps
from companion import attend, masked_softmax, online_softmax, scaled_dot_product_attention
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.browser

Numbers = NDArray[np.float64]

WORDS = ["she", "works", "in", "the", "new", "house"]
SCORES = np.array([0.0, -2.0, -1.0, 1.0, 2.0, 2.0])
VALUES = np.array([1.0, -1.0, -1.0, 0.0, 1.0, 2.0])
ORDERS = ("as read", "backwards", "shuffled")


def output(**options: Any) -> LiveOutput:
    return online_softmax_steps(SCORES, VALUES, WORDS, **options)


def shown_row(root: Page | Locator) -> tuple[Numbers, Numbers]:
    """Return the scores and the values in the order in which they stand."""
    scores, values = (
        np.array(playable.exact_all(root.locator(f".am-tiles-{name}")))
        for name in ("score", "value")
    )
    return scores, values


def states_of(scores: Numbers, values: Numbers, size: int) -> Numbers:
    """Return maximum, factor, sum, blend and answer after each block, by the package."""
    states = []
    before = -math.inf
    for stop in range(size, len(scores) + size, size):
        row = scores[None, :stop]
        blocks = [row[:, first : first + size] for first in range(0, row.shape[1], size)]
        highest, total = (part[0] for part in online_softmax(blocks))
        answer = attend(masked_softmax(row), values[:stop, None])[0, 0]
        states.append((highest, math.exp(before - highest), total, answer * total, answer))
        before = highest
    return np.array(states)


def without_rescaling(scores: Numbers, values: Numbers, size: int) -> Numbers:
    """Return the same of a loop that forgets the factor; NumPy, and nothing of the package."""
    states = []
    total = blend = 0.0
    for first in range(0, len(scores), size):
        highest = scores[: first + size].max()
        powers = np.exp(scores[first : first + size] - highest)
        total, blend = total + powers.sum(), blend + powers @ values[first : first + size]
        states.append((highest, 1.0 if first else 0.0, total, blend, blend / total))
    return np.array(states)


def shows_step(root: Page | Locator, size: int, position: int, *, forgets: bool = False) -> None:
    """Compare the table, the bars and the marks at a block, counted from 0."""
    scores, values = shown_row(root)
    states = (without_rescaling if forgets else states_of)(scores, values, size)
    lines = root.locator("tbody tr")
    shown = np.array([playable.exact_all(line.locator("td")) for line in lines.all()])
    np.testing.assert_allclose(shown, states, rtol=0, atol=1e-6)
    whole = playable.exact_all(root.locator("tfoot td[data-am-value]"))
    one = scaled_dot_product_attention(
        np.ones((1, 1)), SCORES[:, None], VALUES[:, None], scale=1.0
    )[0, 0]
    total = np.exp(SCORES - 2.0).sum()
    np.testing.assert_allclose(whole, [2.0, total, one * total, one], rtol=0, atol=1e-6)

    count = len(states)
    last, done = min(position, count - 1), position == count
    keys, stop = np.arange(len(scores)), (last + 1) * size
    entered = np.maximum.accumulate(scores)[np.minimum(keys // size * size + size, 6) - 1]
    highest = entered if forgets else states[last, 0]
    bars = np.where(keys < stop, np.exp(scores - highest), 0.0)
    bars = bars / states[-1, 2] if done else bars
    np.testing.assert_allclose(
        playable.exact_all(root.locator(".am-tiles-bar")), bars, rtol=0, atol=1e-6
    )
    marks = root.locator(".am-tiles-whole")
    seen = marks.evaluate_all("all => all.map(e => e.getAttribute('visibility') === 'visible')")
    assert seen == [done] * len(scores)
    weights = masked_softmax(scores[None])[0]
    np.testing.assert_allclose(playable.exact_all(marks), weights, rtol=0, atol=1e-6)
    visible = [line.is_visible() for line in root.locator("tr td:first-of-type").all()]
    assert visible == [number <= position for number in range(count + 1)]


def stale(page: Page) -> list[bool]:
    found: list[bool] = page.locator(".am-tiles-bar").evaluate_all(
        "all => all.map(e => e.classList.contains('am-tiles-stale'))"
    )
    return found


def test_without_a_script_the_block_that_shrinks_most_is_drawn(browser: Browser) -> None:
    with playable.alone(browser, output(), java_script_enabled=False) as page:
        assert page.locator("button, input, select").count() == 0
        assert page.locator(".am-live-state:visible").inner_text() == (
            "At block 2 the maximum μ rises from 0.0 to 1.0, and the bars before it shrink to 0.37 "
            "of their height."
        )
        assert all(cell.is_visible() for cell in page.locator("td").all())
        assert page.locator("tfoot td").last.inner_text() == "1.19"


def test_the_script_begins_with_the_numbers_that_python_wrote(browser: Browser) -> None:
    shown: list[list[list[float]]] = []
    for scripts in (False, True):
        with playable.alone(browser, output(), java_script_enabled=scripts) as page:
            shown.append([playable.exact_all(page.locator("td[data-am-value]"))])
            if scripts:
                page.get_by_role("button", name="Next").click()  # what is drawn without a script
            for part in ("bar", "before", "score", "value"):
                shown[-1].append(playable.exact_all(page.locator(f".am-tiles-{part}")))
    for static, live in zip(*shown, strict=True):
        np.testing.assert_allclose(live, static, rtol=0, atol=1e-6)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("forgets", [False, True], ids=["right", "forgets"])
def test_every_block_size_and_order_at_every_step(
    browser: Browser, order: str, forgets: bool
) -> None:
    with playable.alone(browser, output(), reduced_motion="reduce") as page:
        page.get_by_label("order").select_option(order)
        row = [*zip(*shown_row(page), strict=True)]
        assert sorted(row) == sorted(zip(SCORES, VALUES, strict=True))
        assert (row == [*zip(SCORES, VALUES, strict=True)]) == (order == "as read")
        if forgets:
            page.get_by_label("forget to rescale").check()
        following = page.get_by_role("button", name="Next")
        for size in (1, 2, 3, 4, 6):
            page.get_by_label("words per block").select_option(str(size))
            blocks = math.ceil(6 / size)
            for position in range(blocks):
                shows_step(page, size, position, forgets=forgets)
                assert playable.said(page).startswith(f"Block {position + 1} of {blocks}. ")
                assert page.locator("svg").get_attribute("aria-label") == playable.said(page)
                following.click()
            shows_step(page, size, blocks, forgets=forgets)
            answer = playable.exact_all(page.locator("tbody tr:last-of-type td"))[-1]
            whole = playable.exact_all(page.locator("tfoot td"))[-1]
            wrong = not math.isclose(answer, whole, abs_tol=1e-6)
            assert ("wrong" in playable.said(page)) == wrong == any(stale(page))
            assert wrong == (forgets and shown_row(page)[0][:size].max() < 2.0)


def test_forgetting_is_seen_only_where_a_later_block_has_the_maximum(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        page.get_by_label("forget to rescale").check()
        page.get_by_role("button", name="Next").press("End")
        assert playable.said(page) == (
            "Block by block the answer is 0.87, and all at once 1.19: wrong, because earlier "
            "bars were not rescaled."
        )
        assert stale(page) == [True] * 4 + [False] * 2
        page.get_by_label("forget to rescale").uncheck()  # the reader stays at the end
        shows_step(page, 2, 3)
        page.get_by_label("forget to rescale").check()
        page.get_by_label("order").select_option("backwards")
        page.get_by_role("button", name="Next").press("End")
        assert "the same, because no later block had a larger score" in playable.said(page)
        page.get_by_role("button", name="Reset").click()
        shows_step(page, 2, 0)


def test_by_keyboard(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        for position in range(1, 4):
            page.keyboard.press(("Enter", "Space", "ArrowRight")[position % 3])
            shows_step(page, 2, position)
        page.keyboard.press("ArrowRight")
        shows_step(page, 2, 3)
        page.keyboard.press("ArrowLeft")
        shows_step(page, 2, 2)
        page.keyboard.press("Tab")
        page.keyboard.press("Home")  # the list of sizes keeps its own keys
        shows_step(page, 1, 0)
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.keyboard.press("End")
        shows_step(page, 1, 6, forgets=True)


def test_a_step_is_told_with_its_numbers(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        told = []
        for _ in range(3):
            told.append(playable.said(page))
            page.get_by_role("button", name="Next").click()
        assert told == [
            "Block 1 of 3. The largest score is μ = 0.0. Z = 1.14, b = 0.86.",
            "Block 2 of 3. μ rises from 0.0 to 1.0: the factor is 0.37. "
            "Z = 1.14 × 0.37 + 1.14 = 1.55, b = 0.86 × 0.37 − 0.14 = 0.18.",
            "Block 3 of 3. μ rises from 1.0 to 2.0: the factor is 0.37. "
            "Z = 1.55 × 0.37 + 2.00 = 2.57, b = 0.18 × 0.37 + 3.00 = 3.07.",
        ]


def test_two_of_them_stay_apart(browser: Browser) -> None:
    with playable.alone(browser, output(), output()) as page:
        first, second = page.locator(".am-tiles").all()
        second.get_by_label("order").select_option("backwards")
        second.get_by_role("button", name="Next").click()
        shows_step(first, 2, 0)
        shows_step(second, 2, 1)
        assert page.locator("[data-am-live] [id]").count() == 0


@playable.EVERY_VIEW
def test_axe_finds_nothing(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(), **view) as page:
        page.get_by_label("forget to rescale").check()
        page.get_by_role("button", name="Next").click()
        playable.axe_finds_nothing(page)


def test_a_phone_shows_all_and_its_targets_can_be_hit(browser: Browser) -> None:
    with playable.alone(
        browser, output(), viewport=playable.SCREENS["phone"], has_touch=True
    ) as page:
        playable.fits_a_phone(page, "button, input, select")
        playable.letters_are_large(page.locator("svg text:visible"))
        page.get_by_role("button", name="Next").tap()
        shows_step(page, 2, 1)


@playable.EVERY_SCREEN
def test_nothing_jumps(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(), reduced_motion="reduce", **view) as page:
        playable.nothing_has_shifted(page)
        heights = set()
        for forgets in (False, True):
            page.get_by_label("forget to rescale").set_checked(forgets)
            for key in ("Home", "ArrowRight", "ArrowRight", "ArrowRight"):
                page.get_by_role("button", name="Next").press(key)
                heights.add(playable.height(page))
        assert len(heights) == 1, heights


def test_scores_far_below_zero(browser: Browser) -> None:
    row = np.array([-900.0, -1000.0, -899.5, -899.0])
    made = online_softmax_steps(row, np.arange(4.0), list("abcd"))
    with playable.alone(browser, made) as page:
        page.get_by_role("button", name="Next").click()
        shown = [playable.exact_all(line.locator("td")) for line in page.locator("tbody tr").all()]
        np.testing.assert_allclose(shown, states_of(row, np.arange(4.0), 2), rtol=0, atol=1e-6)
        assert "μ rises from −900.0 to −899.0: the factor is 0.37." in playable.said(page)
