"""The softmax explorer in Chromium: by mouse, by keyboard, by touch.

What it shows is compared with the package to 1e-6.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bookkit.figures import LiveOutput, softmax_explorer
from bookkit.playables.softmax import TEMPERATURES, WIDTHS
from companion import scaled_dot_product_attention
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.browser


NAMES = ["The", "cat", "<b>sat</b>", "on", "a", "mat"]
UNIT = np.array([-0.2, 1.4, 0.2, -1.0, -1.4, 1.0])


def explorer(**options: Any) -> LiveOutput:
    return softmax_explorer(NAMES, UNIT, **options)


# Everywhere


def test_without_scripts_the_drawings_make_their_point(browser: Browser) -> None:
    with playable.alone(browser, explorer(), java_script_enabled=False) as page:
        assert page.locator("button, input, select").count() == 0
        assert all(drawing.is_visible() for drawing in page.locator("svg").all())
        readings = page.locator(".am-softmax-readings tbody tr").all_inner_texts()
        assert readings[2].split("\t")[1:] == ["0.038", "0.245"]


def test_where_controls_are_missing_a_line_says_what_they_are_set_to(browser: Browser) -> None:
    with playable.alone(browser, explorer(), java_script_enabled=False) as page:
        line = page.locator(".am-live-state:visible").inner_text()
        assert line == "Width d = 64, scores not divided by √d, temperature 1."
    with playable.alone(browser, explorer()) as page:
        lines = page.locator(".am-live-state")
        assert not any(line.is_visible() for line in lines.all())
        sliders(page)[0].press("End")
        sliders(page)[2].check()
        page.emulate_media(media="print")
        assert lines.all_inner_texts() == ["Width d = 512, scores divided by √d, temperature 1."]


def test_scripts_begin_with_the_numbers_that_python_wrote(browser: Browser) -> None:
    shown: list[list[list[float]]] = []
    for scripts in (False, True):
        given = explorer(divided=True, temperature=0.5)
        with playable.alone(browser, given, java_script_enabled=scripts) as page:
            parts = ("softmax-weight", "softmax-derivative", "softmax-score", "softmax-reading")
            shown.append([playable.exact_all(page.locator(f".am-{part}")) for part in parts])
    for static, live in zip(*shown, strict=True):
        np.testing.assert_allclose(live, static, rtol=0, atol=1e-6)


def test_two_of_each_stay_apart(browser: Browser) -> None:
    with playable.alone(browser, explorer(), explorer()) as page:
        first, second = page.locator(".am-softmax").all()
        before = playable.exact_all(second.locator(".am-softmax-weight"))
        sliders(first)[0].press("Home")
        assert playable.exact_all(first.locator(".am-softmax-weight")) != before
        assert playable.exact_all(second.locator(".am-softmax-weight")) == before
        assert page.locator("[data-am-live] [id]").count() == 0


test_axe_finds_nothing = playable.axe_test(explorer)


def test_a_phone_shows_all_and_its_targets_can_be_hit(browser: Browser) -> None:
    options = {"viewport": playable.SCREENS["phone"], "has_touch": True}
    with playable.alone(browser, explorer(width=512), **options) as page:
        playable.fits_a_phone(page, "button, input, select")
        playable.letters_are_large(page.locator("svg text:visible"))
        page.get_by_text("divide by the").tap()
        assert playable.exact(page.locator(".am-softmax-reading").first) == pytest.approx(1)


@playable.EVERY_SCREEN
def test_nothing_jumps(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, explorer(), reduced_motion="reduce", **view) as page:
        playable.nothing_has_shifted(page)
        heights = []
        for root in page.locator("[data-am-live]").all():
            for key in ("ArrowRight",) * 6:
                root.locator("button, input").nth(1).press(key)
                heights.append(playable.box_of(root)["height"])
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
        shown = playable.exact_all(root.locator(f".am-softmax-{part}"))
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
    with playable.alone(browser, explorer()) as page:
        width, temperature, divide = sliders(page)
        assert setting(page) == (64, 1.0, False)
        shows(page, *setting(page))
        seen = set()
        for slider in (width, temperature):
            box = playable.box_of(slider)
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
    with playable.alone(browser, explorer(width=1)) as page:
        page.keyboard.press("Tab")
        for width in WIDTHS:
            shows(page, width, 1.0, False)
            assert setting(page) == (width, 1.0, False)
            page.keyboard.press("ArrowRight")
        assert "Width 512, not divided, temperature 1: most weight on cat, 1.000." in playable.said(
            page
        )
        assert playable.said(page).endswith("largest derivative 0.00012.")
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
        assert "divided by its square root, temperature 9" in playable.said(page)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert setting(page) == (1, 1.0, False)
        shows(page, 1, 1.0, False)


def test_a_reader_finds_out_what_the_root_is_for(browser: Browser) -> None:
    """Saturated at width 64; as at width 1 once divided, or at a temperature of 8."""
    with playable.alone(browser, explorer()) as page:
        _, temperature, divide = sliders(page)
        divided = weights_of(1, 1.0, divided=True)
        largest = page.locator(".am-softmax-reading").nth(2)
        assert playable.exact(largest) < 0.04
        divide.check()
        assert playable.exact(largest) > 0.24
        np.testing.assert_allclose(
            playable.exact_all(page.locator(".am-softmax-weight")), divided, atol=1e-6
        )
        divide.uncheck()
        while setting(page)[1] < 8:
            temperature.press("ArrowRight")
        np.testing.assert_allclose(
            playable.exact_all(page.locator(".am-softmax-weight")), divided, atol=1e-6
        )
        bars = page.locator(".am-softmax-weight-bar, .am-softmax-derivative-bar")
        outlines = page.locator(".am-softmax-outline")
        widths = "all => all.map(e => e.getBBox().width)"
        np.testing.assert_allclose(
            bars.evaluate_all(widths), outlines.evaluate_all(widths), atol=0.01
        )


def test_words_come_on_release(browser: Browser) -> None:
    with playable.alone(browser, explorer()) as page:
        box = playable.box_of(sliders(page)[0])
        middle = box["y"] + box["height"] / 2
        before, label = playable.said(page), page.locator("svg").get_attribute("aria-label")
        page.mouse.move(box["x"] + 0.68 * box["width"], middle)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.1 * box["width"], middle, steps=5)
        shows(page, *setting(page))
        assert setting(page)[0] == 2
        assert playable.said(page) == before
        page.mouse.up()
        assert playable.said(page).startswith(
            "Width 2, not divided, temperature 1: most weight on cat, 0.5"
        )
        assert page.locator("svg").get_attribute("aria-label") != label
