"""Painted mask and rotary angles in Chromium: by mouse, by keyboard, by touch.

What they show is compared with the package to 1e-6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from bookkit.figures import LiveOutput, MaskPuzzle, paint_mask, rotary_angles
from companion import (
    attention_with_weights,
    causal_mask,
    document_mask,
    padding_mask,
    prefix_mask,
    rotary_frequencies,
    rotate,
    scaled_dot_score,
    sliding_window_mask,
)
from tests.book import playable
from tests.book.built import Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.browser

RNG = np.random.default_rng(3)

WORDS = ["the", "cat", "sat", "on", "it", "."]
HEAD_QUERIES, HEAD_KEYS = RNG.normal(size=(2, 6, 8))
MASKS = {
    "everything": np.ones((6, 6), bool),
    "causal": causal_mask(6),
    "window": sliding_window_mask(6, left=2),
    "padding": padding_mask(np.array(4), 6),
    "prefix": prefix_mask(np.array(3), 6),
    "documents": document_mask(np.array([0, 0, 0, 1, 1, 1])),
    "nothing": np.zeros((6, 6), bool),
}
PUZZLES = [
    MaskPuzzle("prompt", "Two words are a prompt.", "causal", prefix_mask(np.array(2), 6)),
    MaskPuzzle("texts", "Two texts.", "causal", MASKS["documents"] & MASKS["causal"]),
]
NEXT = [1, 2, 3, 4, 5, None]
QUERY, KEY = RNG.normal(size=(2, 8))
FREQUENCIES = rotary_frequencies(8, base=100.0)
LONGEST = 20


def painted() -> LiveOutput:
    return paint_mask(scaled_dot_score(HEAD_QUERIES, HEAD_KEYS), WORDS, masks=MASKS)


def turned() -> LiveOutput:
    return rotary_angles(QUERY, KEY, frequencies=FREQUENCIES, longest=LONGEST)


ALL = [painted, turned]


# Every live output


def test_all_is_as_tall_as_without_scripts_but_for_its_controls(browser: Browser) -> None:
    heights = []
    for scripts in (False, True):
        with playable.alone(
            browser, *(make() for make in ALL), java_script_enabled=scripts
        ) as page:
            parts = page.locator(".am-live-drawing").all()
            heights.append([playable.box_of(part)["height"] for part in parts])
    np.testing.assert_allclose(heights[0], heights[1], atol=6)


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_nothing_moves_by_itself(browser: Browser, motion: str) -> None:
    with playable.alone(browser, *(make() for make in ALL), reduced_motion=motion) as page:
        assert page.evaluate("document.getAnimations().length") == 0


# The mask painted by hand


def pressed(root: Locator, name: str) -> str | None:
    return root.get_by_role("button", name=name, exact=True).get_attribute("aria-pressed")


def shows(page: Page, mask: NDArray[np.bool_]) -> None:
    """Compare the table with attention under a mask."""
    value = np.eye(6)
    _, weights = attention_with_weights(
        HEAD_QUERIES, HEAD_KEYS, value, np.broadcast_to(mask, (6, 6))
    )
    shown = np.array(playable.exact_all(page.locator(".am-mask-button"))).reshape(6, 6)
    np.testing.assert_allclose(shown, weights, atol=1e-6)
    sums = playable.exact_all(page.locator("td.am-mask-sum"))
    np.testing.assert_allclose(sums, weights.sum(-1), atol=1e-6)
    states = page.locator(".am-mask-button").evaluate_all("all => all.map(e => e.ariaPressed)")
    np.testing.assert_array_equal(np.array(states).reshape(6, 6) == "true", mask | (weights < 0))


def cell(page: Page, query: int, key: int) -> Locator:
    return page.locator(".am-mask-button").nth(6 * query + key)


def test_every_mask_is_that_of_the_package(browser: Browser) -> None:
    with playable.alone(browser, painted()) as page:
        shows(page, MASKS["everything"])
        for name, mask in MASKS.items():
            page.get_by_role("button", name=name, exact=True).click()
            assert pressed(page.locator("figure"), name) == "true"
            shows(page, mask)
        assert "Nothing to look at for: the, cat, sat, on, it, .." in playable.said(page)
        assert playable.exact_all(page.locator("td.am-mask-sum")) == [0] * 6


def test_mask_by_mouse(browser: Browser) -> None:
    mask = MASKS["causal"].copy()
    with playable.alone(browser, painted()) as page:
        page.get_by_role("button", name="causal").click()
        cell(page, 2, 1).click()
        mask[2, 1] = False
        shows(page, mask)
        assert pressed(page.locator("figure"), "causal") == "false"
        cell(page, 0, 0).click()
        mask[0, 0] = False
        shows(page, mask)
        assert playable.said(page) == "the may look at nothing: all its weights are 0."

        cell(page, 3, 5).hover()  # a stroke over three cells, of which one is allowed
        page.mouse.down()
        for key in (4, 3):
            cell(page, 3, key).hover()
        page.mouse.up()
        mask[3, 3:] = True
        shows(page, mask)
        cell(page, 3, 3).click()
        mask[3, 3] = False
        shows(page, mask)


def test_mask_by_keyboard(browser: Browser) -> None:
    mask = np.ones((6, 6), bool)
    with playable.alone(browser, painted()) as page:
        tab_stops = page.locator(".am-mask-button").evaluate_all("all => all.map(e => e.tabIndex)")
        assert sorted(tab_stops) == [-1] * 35 + [0]
        for _ in range(len(MASKS) + 1):
            page.keyboard.press("Tab")
        for query, key in ((0, 1), (1, 2), (2, 3)):
            page.keyboard.press("ArrowRight")
            page.keyboard.press("Space")
            page.keyboard.press("ArrowDown")
            mask[query, key] = False
            shows(page, mask)
        page.keyboard.press("Home")
        page.keyboard.press("Enter")
        mask[3, 0] = False
        shows(page, mask)
        assert playable.said(page).startswith("on may look at 5 of 6, most at ")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement === document.body"), "one tab stop"


def test_mask_by_touch(browser: Browser) -> None:
    mask = np.ones((6, 6), bool)
    with playable.alone(
        browser, painted(), viewport=playable.SCREENS["phone"], has_touch=True
    ) as page:
        cell(page, 5, 5).tap()
        mask[5, 5] = False
        shows(page, mask)
        swipe(page, cell(page, 1, 0), cell(page, 1, 2))
        mask[1, :3] = False
        shows(page, mask)
        page.keyboard.press("Space")  # the keyboard works on after a stroke
        mask[5, 5] = True
        shows(page, mask)


def swipe(page: Page, start: Locator, end: Locator) -> None:
    """Draw a finger from the middle of one element to that of another."""
    boxes = [playable.box_of(start), playable.box_of(end)]
    ends = [(b["x"] + b["width"] / 2, b["y"] + b["height"] / 2) for b in boxes]
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        touches = [{"x": x, "y": y} for x, y in points]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    touch("touchStart", ends[0])
    for step in np.linspace(0, 1, 12)[1:]:
        (x0, y0), (x1, y1) = ends
        touch("touchMove", (x0 + step * (x1 - x0), y0 + step * (y1 - y0)))
    touch("touchEnd")


def test_a_mask_that_is_painted_is_recognized(browser: Browser) -> None:
    with playable.alone(browser, painted()) as page:
        page.get_by_role("button", name="padding").click()
        for query in range(6):
            for key in range(6):
                if MASKS["prefix"][query, key] != (key < 4):
                    cell(page, query, key).click()
        assert pressed(page.locator("figure"), "prefix") == "true"
        assert playable.said(page).endswith("This mask: prefix.")


def posed(**options: Any) -> LiveOutput:
    scores = scaled_dot_score(HEAD_QUERIES, HEAD_KEYS)
    given: dict[str, Any] = {"masks": MASKS, "answers": NEXT, "puzzles": PUZZLES, "flip": True}
    return paint_mask(scores, WORDS, **given | options)


def test_rings_tell_which_rows_see_what_comes_next(browser: Browser) -> None:
    masks = {"causal": MASKS["causal"], "everything": MASKS["everything"]}
    with playable.alone(browser, posed(masks=masks)) as page:
        seen = page.locator(".am-mask-seen")
        assert page.locator(".am-mask-answer").count() == 5
        assert seen.inner_text() == "No row sees the word that comes next."
        cell(page, 3, 4).click()
        cell(page, 1, 3).click()  # further ahead than the next word
        assert seen.inner_text() == "1 of 5 rows see the word that comes next: on."
        page.get_by_role("button", name="everything").click()
        assert seen.inner_text().startswith("5 of 5 rows")


def test_a_puzzle_counts_cells_until_it_is_solved(browser: Browser) -> None:
    with playable.alone(browser, posed(notes={"causal": "No future."})) as page:
        question = page.locator(".am-mask-question")
        assert not question.is_visible()
        page.get_by_role("button", name="prompt").click()
        shows(page, MASKS["causal"])
        assert pressed(page.locator("figure"), "causal") == "false"
        assert question.inner_text() == "Two words are a prompt. So far 0 cells changed."
        cell(page, 0, 2).click()
        assert question.inner_text().endswith("So far 1 cell changed.")
        cell(page, 0, 2).click()
        cell(page, 0, 1).click()
        assert question.inner_text().endswith("Solved, with 1 cell changed.")
        assert playable.said(page).startswith("Solved. ")
        shows(page, prefix_mask(np.array(2), 6))
        page.get_by_role("button", name="causal", exact=True).click()
        assert not question.is_visible()
        assert playable.said(page) == "Mask: causal. No future."


def test_a_puzzle_of_several_cells_by_strokes(browser: Browser) -> None:
    with playable.alone(browser, posed()) as page:
        page.get_by_role("button", name="texts").click()
        for query in (3, 4, 5):
            cell(page, query, 0).hover()
            page.mouse.down()
            cell(page, query, 1).hover()
            cell(page, query, 2).hover()
            page.mouse.up()
        question = page.locator(".am-mask-question")
        assert question.inner_text() == "Two texts. Solved, with 9 cells changed."
        shows(page, MASKS["documents"] & MASKS["causal"])


def test_a_mask_turned_upside_down(browser: Browser) -> None:
    with playable.alone(browser, posed()) as page:
        page.get_by_role("button", name="causal", exact=True).click()
        page.get_by_role("button", name="turn upside down").click()
        shows(page, ~MASKS["causal"])
        assert playable.said(page) == "Mask: causal, upside down. Nothing to look at for: .."
        page.get_by_role("button", name="turn upside down").click()
        shows(page, MASKS["causal"])


@playable.EVERY_VIEW
def test_rings_and_puzzles_fit_and_break_no_rule_of_axe(
    browser: Browser, view: dict[str, Any]
) -> None:
    with playable.alone(browser, posed(), **view) as page:
        page.get_by_role("button", name="prompt").click()
        playable.axe_finds_nothing(page)
        playable.fits_a_phone(page, "button")


# Rotary angles


def shows_rotation(page: Page, i: int, j: int) -> None:
    """Compare dials and score with the package at two positions."""
    query = rotate(QUERY[None], np.array([i]), frequencies=FREQUENCIES)
    key = rotate(KEY[None], np.array([j]), frequencies=FREQUENCIES)
    for kind, vector in (("query", query), ("key", key)):
        hands = page.locator(f".am-rotary-{kind}")
        ends = hands.evaluate_all("all => all.map(e => e.dataset.amValue.split(' ').map(Number))")
        np.testing.assert_allclose(ends, vector.reshape(2, 4).T, atol=1e-6)
    score = float(scaled_dot_score(query, key)[0, 0])
    assert playable.exact(page.locator(".am-rotary-sum")) == pytest.approx(score, abs=1e-6)
    assert sum(playable.exact_all(page.locator(".am-rotary-part"))) == pytest.approx(
        score, abs=1e-6
    )
    assert playable.exact(page.locator(".am-rotary-distance")) == j - i
    centre = page.locator(".am-rotary-here").get_attribute("cx")
    points = cast(str, page.locator("polyline").get_attribute("points")).split()
    assert float(points[LONGEST + j - i].split(",")[0]) == float(str(centre))


def sliders(page: Page) -> Locator:
    return page.get_by_role("slider")


def test_rotary_angles_by_mouse(browser: Browser) -> None:
    with playable.alone(browser, turned()) as page:
        shows_rotation(page, 3, 7)
        for position in (0, 1):
            box = playable.box_of(sliders(page).nth(position))
            page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + box["height"] / 2)
        i, j = (int(one.input_value()) for one in sliders(page).all())
        assert i > 12
        assert j > 12
        shows_rotation(page, i, j)
        page.get_by_role("button", name="Reset").click()
        shows_rotation(page, 3, 7)


def test_rotary_angles_by_keyboard_keep_the_score_at_one_distance(browser: Browser) -> None:
    with playable.alone(browser, turned()) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowLeft")
        shows_rotation(page, 2, 7)
        page.keyboard.press("Tab")
        page.keyboard.press("End")
        shows_rotation(page, 2, LONGEST)
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")  # both together
        before = playable.exact(page.locator(".am-rotary-sum"))
        page.keyboard.press("Shift+Tab")
        for _ in range(3):
            page.keyboard.press("ArrowLeft")
        shows_rotation(page, 0, LONGEST - 3)  # position 0 is the end; the key waits
        assert playable.exact(page.locator(".am-rotary-sum")) == pytest.approx(before, abs=1e-6)
        assert playable.said(page).startswith("Distance 17, score ")


def test_the_rotary_angles_of_the_lesson_start_one_step_off(browser: Browser) -> None:
    query = np.repeat([1.0, 0.0], 4)
    key = rotate(query[None], np.array([3]), frequencies=FREQUENCIES)[0]
    output = rotary_angles(query, key, frequencies=FREQUENCIES, positions=(9, 5), longest=24)

    def ends(page: Page, kind: str) -> list[list[float]]:
        hands = page.locator(f".am-rotary-{kind}")
        found: list[list[float]] = hands.evaluate_all(
            "all => all.map(e => e.dataset.amValue.split(' ').map(Number))"
        )
        return found

    with playable.alone(browser, output) as page:
        first = np.linalg.norm(np.subtract(ends(page, "query"), ends(page, "key")), axis=1)
        assert first.max() > 0.5, "at least one hand is not hidden by the other"
        parts = np.cos(FREQUENCIES) / np.sqrt(8)
        shown = playable.exact_all(page.locator(".am-rotary-part"))
        np.testing.assert_allclose(shown, parts, atol=1e-6)
        page.get_by_label("Key at position j").press("ArrowRight")
        np.testing.assert_allclose(ends(page, "query"), ends(page, "key"), atol=1e-6)
        assert playable.exact(page.locator(".am-rotary-sum")) == pytest.approx(
            4 / np.sqrt(8), abs=1e-6
        )
        page.get_by_label("Query at position i").press("Home")
        page.get_by_label("Key at position j").press("Home")
        for _ in range(3):
            page.get_by_label("Key at position j").press("ArrowRight")
        wanted = np.cos(6 * FREQUENCIES).sum() / np.sqrt(8)  # three ahead is six off the best
        assert playable.exact(page.locator(".am-rotary-sum")) == pytest.approx(wanted, abs=1e-6)


# The built book


def test_live_outputs_begin_in_the_book(site: Site, server: str, browser: Browser) -> None:
    names = {make().name for make in ALL}
    context = browser.new_context(service_workers="block")
    page = context.new_page()
    for one in site.chapters:
        if live := one.soup.select("[data-am-live]"):
            page.goto(server + one.name)
            assert page.locator("[data-am-on]").count() == len(live)
            names -= {str(part["data-am-live"]) for part in live}
    context.close()
    assert not names, "no page has these"
