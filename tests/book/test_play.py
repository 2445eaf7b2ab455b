"""The softmax explorer and the online softmax in Chromium: by mouse, by keyboard, by touch.

What they show is compared with the package to 1e-6.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from companion import masked_softmax, online_softmax, scaled_dot_product_attention
from companion.pages.plot import LiveOutput, online_softmax_steps, softmax_explorer
from companion.pages.plot.live.softmax import TEMPERATURES, WIDTHS
from tests.book.alone import (
    EVERY_SCREEN,
    EVERY_VIEW,
    SCREENS,
    alone,
    axe_finds_nothing,
    box_of,
    exact,
    exact_all,
    fits_a_phone,
    letters_are_large,
    nothing_has_shifted,
    said,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.browser


NAMES = ["The", "cat", "<b>sat</b>", "on", "a", "mat"]
UNIT = np.array([-0.2, 1.4, 0.2, -1.0, -1.4, 1.0])
ROW = np.array([0.4, 1.0, -0.5, 0.8, 2.0, 1.2, 3.2, 0.3, 1.9, 2.4, 0.9, 1.5])


def explorer(**options: Any) -> LiveOutput:
    return softmax_explorer(NAMES, UNIT, **options)


def steps(**options: Any) -> LiveOutput:
    return online_softmax_steps(ROW, **options)


# Both


def test_without_scripts_the_drawings_make_their_point(browser: Browser) -> None:
    with alone(browser, explorer(), steps(), java_script_enabled=False) as page:
        assert page.locator("button, input, select").count() == 0
        assert all(drawing.is_visible() for drawing in page.locator("svg").all())
        readings = page.locator(".am-softmax-readings tbody tr").all_inner_texts()
        assert readings[2].split("\t")[1:] == ["0.038", "0.245"]
        assert all(row.is_visible() for row in page.locator(".am-tiles-table td").all())
        assert page.locator(".am-tiles-table tfoot td").last.inner_text() == "2.78"


def test_where_controls_are_missing_a_line_says_what_they_are_set_to(browser: Browser) -> None:
    given = (explorer(), steps())
    begin = [
        "Width d = 64, scores not divided by √d, temperature 1.",
        "At tile 3 the maximum m rises from 2.0 to 3.2 and the bars before it shrink to 0.30 of "
        "their height.",
    ]
    with alone(browser, *given, java_script_enabled=False) as page:
        assert page.locator(".am-live-state:visible").all_inner_texts() == begin
    with alone(browser, *given) as page:
        lines = page.locator(".am-live-state")
        assert not any(line.is_visible() for line in lines.all())
        sliders(page)[0].press("End")
        sliders(page)[2].check()
        page.get_by_role("button", name="Next").click()
        tile = said(page.locator(".am-tiles"))
        page.emulate_media(media="print")
        assert lines.all_inner_texts() == [
            "Width d = 512, scores divided by √d, temperature 1.",
            tile,
        ]


def test_scripts_begin_with_the_numbers_that_python_wrote(browser: Browser) -> None:
    shown: list[list[list[float]]] = []
    for scripts in (False, True):
        given = (explorer(divided=True, temperature=0.5), steps(tile=5))
        with alone(browser, *given, java_script_enabled=scripts) as page:
            parts = ("softmax-weight", "softmax-derivative", "softmax-score", "softmax-reading")
            table = page.locator(".am-tiles-table td[data-am-value]")
            shown.append([*(exact_all(page.locator(f".am-{p}")) for p in parts), exact_all(table)])
            if scripts:
                page.get_by_role("button", name="Next").click()  # what is drawn without a script
            for part in ("bar", "before", "score"):
                shown[-1].append(exact_all(page.locator(f".am-tiles-{part}")))
    for static, live in zip(*shown, strict=True):
        np.testing.assert_allclose(live, static, rtol=0, atol=1e-6)


def test_two_of_each_stay_apart(browser: Browser) -> None:
    with alone(browser, *(make() for make in (explorer, steps, explorer, steps))) as page:
        first, second = page.locator(".am-softmax").all()
        before = exact_all(second.locator(".am-softmax-weight"))
        sliders(first)[0].press("Home")
        assert exact_all(first.locator(".am-softmax-weight")) != before
        assert exact_all(second.locator(".am-softmax-weight")) == before

        first, second = page.locator(".am-tiles").all()
        second.get_by_role("button", name="Reshuffle").click()
        second.get_by_role("button", name="Next").click()
        assert said(first).startswith("Tile 1 of 4.")
        assert said(second).startswith("Tile 2 of 4.")
        assert exact_all(first.locator(".am-tiles-score")) == ROW.tolist()
        assert page.locator("[data-am-live] [id]").count() == 0


@EVERY_VIEW
def test_axe_finds_nothing(browser: Browser, view: dict[str, Any]) -> None:
    with alone(browser, explorer(), steps(), steps(), **view) as page:
        page.locator(".am-tiles").first.get_by_role("button", name="Back").press("End")
        page.locator(".am-tiles").last.get_by_role("button", name="Next").click()
        axe_finds_nothing(page)


def test_a_phone_shows_all_and_its_targets_can_be_hit(browser: Browser) -> None:
    options = {"viewport": SCREENS["phone"], "has_touch": True}
    with alone(browser, explorer(width=512), steps(tile=1), **options) as page:
        fits_a_phone(page, "button, input, select")
        letters_are_large(page.locator("svg text:visible"))
        page.get_by_role("button", name="Next").tap()
        assert said(page.locator(".am-tiles")).startswith("Tile 2 of 12.")
        page.get_by_text("divide by the").tap()
        assert exact(page.locator(".am-softmax-reading").first) == pytest.approx(1)


@EVERY_SCREEN
def test_nothing_jumps(browser: Browser, view: dict[str, Any]) -> None:
    with alone(browser, explorer(), steps(), reduced_motion="reduce", **view) as page:
        nothing_has_shifted(page)
        heights = []
        for root in page.locator("[data-am-live]").all():
            for key in ("ArrowRight",) * 6:
                root.locator("button, input").nth(1).press(key)
                heights.append(box_of(root)["height"])
            assert len(set(heights[-6:])) == 1, heights


# Softmax by width and temperature


def weights_of(width: int, temperature: float, divided: bool) -> NDArray[np.float64]:
    """Attend with real vectors of a width, whose scores over sqrt(width) are UNIT."""
    query, key = np.ones((1, width)), UNIT[:, None] * np.ones(width) / math.sqrt(width)
    scale = (1 / math.sqrt(width) if divided else 1) / temperature
    weights = scaled_dot_product_attention(query, key, np.eye(len(UNIT)), scale=scale)[0]
    return np.asarray(weights)


def shows(root: Page | Locator, width: int, temperature: float, divided: bool) -> None:
    weights = weights_of(width, temperature, divided)
    jacobian = np.diag(weights) - np.outer(weights, weights)
    scores = UNIT * (1 if divided else math.sqrt(width)) / temperature
    logarithms = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    for part, wanted in (
        ("weight", weights),
        ("derivative", np.diag(jacobian)),
        ("score", scores),
        (
            "reading",
            [scores.var(), -weights @ logarithms, abs(jacobian).max(), jacobian.trace()],
        ),
    ):
        shown = exact_all(root.locator(f".am-softmax-{part}"))
        np.testing.assert_allclose(shown, wanted, rtol=1e-9, atol=1e-6)


def sliders(root: Page | Locator) -> tuple[Locator, Locator, Locator]:
    width, temperature, divide = root.locator("input").all()
    return width, temperature, divide


def setting(root: Page | Locator) -> tuple[int, float, bool]:
    """Return what the controls say that they are set to."""
    width, temperature, divide = sliders(root)
    said = [str(one.get_attribute("aria-valuetext")) for one in (width, temperature)]
    assert [one.inner_text() for one in root.locator("output").all()] == said
    return int(said[0]), float(said[1]), divide.is_checked()


def test_softmax_by_mouse(browser: Browser) -> None:
    with alone(browser, explorer()) as page:
        width, temperature, divide = sliders(page)
        assert setting(page) == (64, 1.0, False)
        shows(page, *setting(page))
        seen = set()
        for slider in (width, temperature):
            box = box_of(slider)
            for share in (0.02, 0.3, 0.55, 0.98):
                slider.click(position={"x": share * box["width"], "y": box["height"] / 2})
                shows(page, *setting(page))
                seen.add(setting(page))
                divide.click()
                shows(page, *setting(page))
        assert len(seen) == 8
        assert setting(page)[:2] == (512, 10.0)
        page.get_by_role("button", name="Reset").click()
        assert setting(page) == (64, 1.0, False)
        shows(page, *setting(page))


def test_softmax_by_keyboard(browser: Browser) -> None:
    with alone(browser, explorer(width=1)) as page:
        page.keyboard.press("Tab")
        for width in WIDTHS:
            shows(page, width, 1.0, False)
            assert setting(page) == (width, 1.0, False)
            page.keyboard.press("ArrowRight")
        assert "Width 512, not divided, temperature 1: most weight on cat, 1.000." in said(page)
        assert said(page).endswith("largest derivative 0.00012.")
        page.keyboard.press("Tab")
        page.keyboard.press("Home")
        for temperature in TEMPERATURES:
            shows(page, 512, temperature, False)
            assert setting(page) == (512, temperature, False)
            page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowLeft")
        assert setting(page)[1] == 9.0
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        assert setting(page) == (512, 9.0, True)
        shows(page, 512, 9.0, True)
        assert "divided by its square root, temperature 9" in said(page)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert setting(page) == (1, 1.0, False)
        shows(page, 1, 1.0, False)


def test_a_reader_finds_out_what_the_root_is_for(browser: Browser) -> None:
    """Saturated at width 64; as at width 1 once divided, or at a temperature of 8."""
    with alone(browser, explorer()) as page:
        _, temperature, divide = sliders(page)
        divided = weights_of(1, 1.0, divided=True)
        largest = page.locator(".am-softmax-reading").nth(2)
        assert exact(largest) < 0.04
        divide.check()
        assert exact(largest) > 0.24
        np.testing.assert_allclose(
            exact_all(page.locator(".am-softmax-weight")), divided, atol=1e-6
        )
        divide.uncheck()
        while setting(page)[1] < 8:
            temperature.press("ArrowRight")
        np.testing.assert_allclose(
            exact_all(page.locator(".am-softmax-weight")), divided, atol=1e-6
        )
        bars = page.locator(".am-softmax-weight-bar, .am-softmax-derivative-bar")
        outlines = page.locator(".am-softmax-outline")
        widths = "all => all.map(e => e.getBBox().width)"
        np.testing.assert_allclose(
            bars.evaluate_all(widths), outlines.evaluate_all(widths), atol=0.01
        )


def test_words_come_on_release(browser: Browser) -> None:
    with alone(browser, explorer()) as page:
        box = box_of(sliders(page)[0])
        middle = box["y"] + box["height"] / 2
        before, label = said(page), page.locator("svg").get_attribute("aria-label")
        page.mouse.move(box["x"] + 0.68 * box["width"], middle)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.1 * box["width"], middle, steps=5)
        shows(page, *setting(page))
        assert setting(page)[0] == 2
        assert said(page) == before
        page.mouse.up()
        assert said(page).startswith("Width 2, not divided, temperature 1: most weight on cat, 0.5")
        assert page.locator("svg").get_attribute("aria-label") != label


# The online softmax


def row_of(root: Page | Locator) -> NDArray[np.float64]:
    return np.array(exact_all(root.locator(".am-tiles-score")))


def shows_step(root: Page | Locator, row: NDArray[np.float64], tile: int, position: int) -> None:
    """Compare the drawing and the table at a tile, counted from 0, with the package."""
    blocks = [row[None, first : first + tile] for first in range(0, len(row), tile)]
    states = [online_softmax(blocks[:count]) for count in range(1, len(blocks) + 1)]
    maxima, sums = (
        np.array([float(cells[0]) for cells in kind]) for kind in zip(*states, strict=True)
    )
    lines = root.locator("tbody tr")
    assert lines.count() == len(blocks)
    shown = np.array([exact_all(line.locator("td")) for line in lines.all()])
    factors = np.exp(np.array([-np.inf, *maxima[:-1]]) - maxima)
    olds = factors * np.array([0, *sums[:-1]])
    wanted = np.column_stack([maxima, factors, olds, sums - olds, sums])
    np.testing.assert_allclose(shown, wanted, rtol=0, atol=1e-6)
    whole = exact_all(root.locator("tfoot td[data-am-value]"))
    np.testing.assert_allclose(whole, [maxima[-1], sums[-1]], rtol=0, atol=1e-6)

    done = position == len(blocks)
    last = min(position, len(blocks) - 1)
    first, stop = tile * last, min(tile * last + tile, len(row))
    keys = np.arange(len(row))
    bars = np.where(keys < stop, np.exp(row - maxima[last]), 0)
    before = np.zeros(len(row))
    if done:
        bars, before = masked_softmax(row[None])[0], bars
    elif factors[last] < 1:
        before = np.where(keys < first, np.exp(row - maxima[last - 1]), 0)
    for part, numbers in (("bar", bars), ("before", before)):
        shown = np.array(exact_all(root.locator(f".am-tiles-{part}")))
        np.testing.assert_allclose(shown, numbers, rtol=0, atol=1e-6)
    marks = root.locator(".am-tiles-whole")
    shown = marks.evaluate_all("all => all.map(e => e.getAttribute('visibility') === 'visible')")
    assert shown == [done] * len(row)
    np.testing.assert_allclose(exact_all(marks), masked_softmax(row[None])[0], atol=1e-6)
    new = root.locator(".am-tiles-bar").evaluate_all(
        "all => all.map(e => e.classList.contains('am-tiles-new'))"
    )
    np.testing.assert_array_equal(new, (keys >= first) & (keys < stop) & (not done))
    seen = [line.is_visible() for line in root.locator("tr td:first-of-type").all()]
    assert seen == [number <= position for number in range(len(blocks) + 1)]


@pytest.mark.parametrize("tile", [1, 3, 5, 12])
def test_tiles_by_mouse(browser: Browser, tile: int) -> None:
    with alone(browser, steps()) as page:
        page.get_by_label("scores a tile").select_option(str(tile))
        tiles = math.ceil(len(ROW) / tile)
        back, following = (page.get_by_role("button", name=name) for name in ("Back", "Next"))
        assert back.get_attribute("aria-disabled") == "true"
        for position in range(tiles):
            shows_step(page, ROW, tile, position)
            assert said(page).startswith(f"Tile {position + 1} of {tiles}. ")
            following.click()
        shows_step(page, ROW, tile, tiles)
        assert following.get_attribute("aria-disabled") == "true"
        following.click(force=True)
        shows_step(page, ROW, tile, tiles)
        assert said(page).endswith("the softmax of the whole row, with m = 3.2: the same.")
        back.click()
        shows_step(page, ROW, tile, tiles - 1)


def test_tiles_by_keyboard(browser: Browser) -> None:
    with alone(browser, steps()) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        shows_step(page, ROW, 3, 0)
        for position in range(1, 5):
            page.keyboard.press(("Enter", "Space", "ArrowRight")[position % 3])
            shows_step(page, ROW, 3, position)
        page.keyboard.press("ArrowRight")
        shows_step(page, ROW, 3, 4)
        page.keyboard.press("ArrowLeft")
        shows_step(page, ROW, 3, 3)
        page.keyboard.press("Home")
        shows_step(page, ROW, 3, 0)
        page.keyboard.press("End")
        shows_step(page, ROW, 3, 4)
        page.keyboard.press("Tab")
        page.keyboard.press("Home")  # the list of sizes keeps its own keys
        shows_step(page, ROW, 1, 0)
        for _ in range(3):
            page.keyboard.press("ArrowDown")
        shows_step(page, ROW, 4, 0)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        row = row_of(page)
        assert sorted(row) == sorted(ROW)
        assert list(row) != list(ROW)
        shows_step(page, row, 4, 0)
        page.keyboard.press("End")
        shows_step(page, row, 4, 3)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        shows_step(page, ROW, 3, 0)


def test_a_step_is_told_with_its_numbers(browser: Browser) -> None:
    with alone(browser, steps()) as page:
        following = page.get_by_role("button", name="Next")
        told = []
        for _ in range(4):
            told.append(said(page))
            assert page.locator("svg").get_attribute("aria-label") == told[-1]
            following.click()
        assert told == [
            "Tile 1 of 4. Its largest score is m = 1.0, its sum ℓ = 1.77.",
            "Tile 2 of 4. m rises from 1.0 to 2.0, and all bars before it shrink to"
            " exp(1.0 − 2.0) = 0.37 of their height. ℓ = 1.77 × 0.37 + 1.75 = 2.40.",
            "Tile 3 of 4. m rises from 2.0 to 3.2, and all bars before it shrink to"
            " exp(2.0 − 3.2) = 0.30 of their height. ℓ = 2.40 × 0.30 + 1.33 = 2.05.",
            "Tile 4 of 4. No score above m = 3.2: the factor is 1. ℓ = 2.05 × 1.00 + 0.73 = 2.78.",
        ]


def test_every_order_ends_alike(browser: Browser) -> None:
    seen = set()
    with alone(browser, steps()) as page:
        for _ in range(4):
            page.get_by_role("button", name="Reshuffle").click()
            row = row_of(page)
            seen.add(tuple(row))
            assert sorted(row) == sorted(ROW)
            for position in range(5):
                shows_step(page, row, 3, position)
                page.get_by_role("button", name="Back").press("ArrowRight")
            assert "the same" in said(page)
        page.get_by_role("button", name="Reset").click()
        shows_step(page, ROW, 3, 0)
        again = [row_of(page)]
        page.get_by_role("button", name="Reshuffle").click()
        again.append(row_of(page))
    assert len(seen) == 4
    assert tuple(again[1]) in seen


def test_scores_far_below_zero(browser: Browser) -> None:
    row = np.array([-900.0, -1000.0, -899.5, -899.0])
    with alone(browser, online_softmax_steps(row, tile=2)) as page:
        page.get_by_role("button", name="Next").click()
        shows_step(page, row, 2, 1)
        assert "exp(−900.0 − (−899.0)) = 0.37" in said(page)
        page.get_by_role("button", name="Next").press("End")
        shows_step(page, row, 2, 2)
