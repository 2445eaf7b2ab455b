"""The board of mistakes in Chromium: weights, outputs and checks are those of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bookkit.data.plane import plane_words
from bookkit.exercises.silent import MISTAKES, differences, layer_with
from bookkit.figures import LiveOutput, switchboard
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

WORDS, X = plane_words()
OTHER = np.array([-1.0, -1.0])
W = {
    "query": np.array([[-1.0, 0, 1, 0], [2, -1, 0, 1]]),
    "key": np.array([[1.0, 0, 1, -1], [1, 1, 0, 1]]),
    "value": np.array([[1.0, 0, 1, 0], [0, 1, 0, 1]]),
    "output": np.array([[1.0, 0], [0, 1], [0, 0.5], [-0.5, 0]]),
}
RIGHT = layer_with("", X, W, 2)[0]


def output(**changes: Any) -> LiveOutput:
    given: dict[str, Any] = {"x": X, "weights": W, "heads": 2, "other": OTHER, "wanted": RIGHT}
    given |= changes
    return switchboard(WORDS, given.pop("x"), given.pop("weights"), **given)


def shows(page: Page, mistake: str, x: Any = X, w: Any = W, heads: int = 2) -> None:
    """Compare everything on show with the layer of the package that has the mistake."""
    right = layer_with("", x, w, heads)[0]
    becomes, weights = layer_with(mistake, x, w, heads)
    other = OTHER if x is X else x[0]
    sizes = differences(mistake, x, w, heads, other=other, wanted=right)
    for part, wanted in (
        ("weight", weights.ravel()),
        ("sum-of", weights.sum(-1).ravel()),
        ("output-of", becomes.ravel()),
        ("off-of", abs(becomes - right).max(-1)),
        ("difference-of", list(sizes.values())),
    ):
        found = playable.exact_all(page.locator(f".am-switchboard-{part}"))
        np.testing.assert_allclose(found, wanted, atol=1e-6)
    verdicts = page.locator(".am-switchboard-verdict").all_inner_texts()
    assert verdicts == ["finds it" if size > 1e-9 else "passes" for size in sizes.values()]


def switch(page: Page, mistake: str) -> Any:
    return page.get_by_role("button", name=mistake, exact=True)


def test_without_a_script_the_right_layer_stands_there(browser: Browser) -> None:
    with playable.alone(browser, output(), java_script_enabled=False) as page:
        assert page.locator("button, input").count() == 0
        shows(page, "")
        assert page.locator(".am-live-state:visible").inner_text().startswith("No mistake")
        shades = page.locator(".am-switchboard-cell").evaluate_all(
            "all => all.map(e => getComputedStyle(e).backgroundColor)"
        )
        assert len(set(shades)) > 4


def test_every_mistake_breaks_what_it_breaks_in_the_package(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        shows(page, "")
        for mistake in MISTAKES:
            switch(page, mistake).click()
            assert page.locator("[aria-pressed=true]").all_inner_texts() == [mistake]
            shows(page, mistake)
        switch(page, MISTAKES[-1]).click()
        assert page.locator("[aria-pressed=true]").count() == 0
        shows(page, "")


def test_other_numbers_break_alike(browser: Browser) -> None:
    dice = np.random.default_rng(3)
    x = dice.normal(size=(6, 3))
    w = {name: dice.normal(size=(3, 6)) for name in ("query", "key", "value")}
    w["output"] = dice.normal(size=(6, 3))
    given = {"x": x, "weights": w, "heads": 3, "other": x[0]}
    right = layer_with("", x, w, 3)[0]
    with playable.alone(browser, output(**given, wanted=right)) as page:
        for mistake in MISTAKES:
            switch(page, mistake).click()
            shows(page, mistake, x, w, 3)


def test_what_a_mistake_changes_is_marked(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        assert page.locator("[data-am-changed], [data-am-wrong], [data-am-finds]").count() == 0
        switch(page, "softmax over queries").click()
        changed = abs(layer_with("softmax over queries", X, W, 2)[1] - layer_with("", X, W, 2)[1])
        assert page.locator("[data-am-changed]").count() == int((changed > 1e-9).sum())
        assert page.locator("[data-am-finds]").count() == 4
        assert playable.said(page) == (
            "Softmax over queries. The columns sum to 1 instead of the rows. 4 checks find it: "
            "rows, future, cache, loops."
        )


def test_by_keyboard(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        shows(page, MISTAKES[0])
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        shows(page, MISTAKES[1])
        page.keyboard.press("Space")
        shows(page, "")


@playable.EVERY_VIEW
def test_axe_finds_nothing(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(), **view) as page:
        switch(page, "mask upside down").click()
        playable.axe_finds_nothing(page)


@playable.EVERY_SCREEN
def test_it_fits_the_screen_and_nothing_jumps(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(), reduced_motion="reduce", **view) as page:
        playable.fits_a_phone(page, "button")
        tall = set()
        for mistake in MISTAKES:
            switch(page, mistake).click()
            tall.add(playable.height(page))
        assert len(tall) == 1
        playable.nothing_has_shifted(page)
