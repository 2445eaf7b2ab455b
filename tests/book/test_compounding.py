"""The chance of a word in Chromium: by mouse, by keyboard, by touch, and without a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bookkit.figures import LiveOutput, compounding
from bookkit.playables.compounding import CHANCES
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

BINS = [(1, 5), (6, 10), (11, 15), (16, 20), (26, 30), (36, 40)]
MIDDLES = np.array([3, 8, 13, 18, 28, 38])
EXACT: dict[str, list[float]] = {
    "with attention": [100, 99, 98, 97, 90, 69],
    "without": [99.7, 79.7, 20.3, 1.5, 0, 0],
}
BLEU: dict[str, list[float]] = {
    "with attention": [100, 99.6, 99.6, 99.3, 97, 89],
    "without": [99.6, 89, 58, 36, 19, 14],
}


def output(**options: Any) -> LiveOutput:
    return compounding(BINS, EXACT, BLEU, longest=30, **options)


def heights(page: Page, part: str) -> Any:
    """Read the percentages that the paths of a part are drawn at, off the drawing's own axis."""
    paths = page.locator(f".am-compounding-{part}").evaluate_all(
        "all => all.map(e => e.getAttribute('d').slice(1).split('L').map(p => +p.split(' ')[1]))"
    )
    zero, _, hundred = page.locator(".am-compounding-level").evaluate_all(
        "all => all.map(e => +e.getAttribute('y1'))"
    )
    return [[100 * (zero - y) / (zero - hundred) for y in path] for path in paths]


def shows(page: Page, chance: float) -> None:
    """Compare the curve and its column with the chance that so many words are right."""
    wanted = [100 * np.prod(np.full(words, chance / 100)) for words in MIDDLES]
    np.testing.assert_allclose(
        playable.exact_all(page.locator(".am-compounding-whole")), wanted, rtol=1e-6
    )
    (curve,) = heights(page, "curve")
    np.testing.assert_allclose(np.array(curve)[2 * MIDDLES], wanted, atol=0.05)
    head = page.locator(".am-compounding-head").inner_text()
    assert " ".join(str(head).split()) == f"at {chance:g} % a word"
    assert page.locator(".am-compounding-chance").text_content() == f"{chance:g} % a word"


def test_without_a_script_the_point_is_made(browser: Browser) -> None:
    with playable.alone(browser, output(), java_script_enabled=False) as page:
        assert page.locator("button, input").count() == 0
        shows(page, 95)
        state = page.locator(".am-live-state:visible").inner_text()
        assert state.startswith("If each word is right in 95 of 100 cases, whatever the others")
        rows = page.locator("tbody tr").all_inner_texts()
        assert rows[2].split("\t") == ["11–15", "51", "98", "20", "100", "58"]


def test_the_slider_by_keyboard(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        page.keyboard.press("Tab")
        shows(page, 95)
        page.keyboard.press("ArrowRight")
        shows(page, 95.5)
        page.keyboard.press("End")
        shows(page, 100)
        page.keyboard.press("ArrowLeft")
        shows(page, 99.9)
        page.keyboard.press("Home")
        for chance in CHANCES[:5]:
            shows(page, chance)
            page.keyboard.press("ArrowUp")
        assert playable.said(page).startswith("If each word is right in 55 of 100 cases")
        assert page.locator("svg").get_attribute("aria-label") == playable.said(page)


def test_no_chance_fits_the_crosses_and_one_fits_the_discs(browser: Browser) -> None:
    """What the lesson asks a reader to find out."""
    with playable.alone(browser, output()) as page:
        slider = page.locator("input")
        slider.focus()
        slider.press("Home")
        misses: dict[str, list[float]] = {name: [] for name in EXACT}
        for _ in CHANCES:
            found = np.array(playable.exact_all(page.locator(".am-compounding-whole")))
            for name, values in EXACT.items():
                misses[name].append(float(np.abs(found - values)[:5].max()))
            slider.press("ArrowRight")
        assert min(misses["with attention"]) < 4
        assert min(misses["without"]) > 15


def test_bleu_by_mouse(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        whole, other = (page.get_by_role("button", name=n) for n in ("whole sentences", "BLEU"))
        np.testing.assert_allclose(heights(page, "line"), list(EXACT.values()), atol=0.05)
        assert whole.get_attribute("aria-pressed") == "true"
        other.click()
        np.testing.assert_allclose(heights(page, "line"), list(BLEU.values()), atol=0.05)
        assert page.locator(".am-compounding-title").text_content() == "BLEU"
        assert page.locator(".am-compounding-curve").get_attribute("visibility") == "hidden"
        assert page.locator("input").is_disabled()
        assert "right stretch" in playable.said(page)
        page.get_by_role("button", name="Reset").click()
        np.testing.assert_allclose(heights(page, "line"), list(EXACT.values()), atol=0.05)
        assert page.locator(".am-compounding-curve").get_attribute("visibility") == "visible"
        shows(page, 95)


def test_reset_takes_the_first_chance_back(browser: Browser) -> None:
    with playable.alone(browser, output(chance=80.0)) as page:
        shows(page, 80)
        page.locator("input").press("End")
        shows(page, 100)
        page.get_by_role("button", name="Reset").click()
        shows(page, 80)


test_axe_finds_nothing = playable.axe_test(output)


def test_a_phone_shows_all_and_its_targets_can_be_hit(browser: Browser) -> None:
    with playable.alone(
        browser, output(), viewport=playable.SCREENS["phone"], has_touch=True
    ) as page:
        playable.fits_a_phone(page)
        playable.letters_are_large(page.locator("svg text:visible"))
        page.get_by_role("button", name="BLEU").tap()
        np.testing.assert_allclose(heights(page, "line"), list(BLEU.values()), atol=0.05)


@playable.EVERY_SCREEN
def test_nothing_jumps_and_no_name_leaves_the_drawing(
    browser: Browser, view: dict[str, Any]
) -> None:
    with playable.alone(browser, output(), reduced_motion="reduce", **view) as page:
        playable.nothing_has_shifted(page)
        tall = set()
        for key in ("Home", *["PageUp"] * 11, "End"):
            page.locator("input").press(key)
            tall.add(playable.height(page))
            frame = playable.box_of(page.locator("svg"))
            for name in page.locator(".am-compounding-name").all():
                place = playable.box_of(name)
                assert place["x"] + place["width"] <= frame["x"] + frame["width"] + 1
                assert place["y"] >= frame["y"] - 1
        page.get_by_role("button", name="BLEU").click()
        tall.add(playable.height(page))
        assert len(tall) == 1


def test_two_stay_apart(browser: Browser) -> None:
    with playable.alone(browser, output(), output(chance=80.0)) as page:
        first, second = page.locator(".am-compounding").all()
        first.locator("input").press("End")
        assert playable.exact_all(first.locator(".am-compounding-whole")) == [100] * len(BINS)
        assert playable.exact_all(second.locator(".am-compounding-whole"))[0] == pytest.approx(51.2)
        assert page.locator("[data-am-live] [id]").count() == 0
