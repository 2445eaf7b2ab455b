"""What every playable must pass turns down a page that does not pass it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.book import playable

if TYPE_CHECKING:
    from typing import Any

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

WRITE = "([html, where]) => document.querySelector('main').insertAdjacentHTML(where, html)"
LARGE = '<style>button { width: 30px; height: 30px }</style><button aria-label="a"></button>'


def written(page: Page, html: str, where: str = "beforeend") -> Page:
    """Write on a page, and wait until it is drawn."""
    page.evaluate(WRITE, [html, where])
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    return page


def lettered(page: Page) -> None:
    playable.letters_are_large(page.locator("text"))


def text(size: int, turn: int, width: int) -> str:
    return (
        f'<svg viewBox="0 0 100 100" width="{width}" height="{width}">'
        f'<text x="50" y="50" font-size="{size}" transform="rotate({turn} 50 50)">a</text></svg>'
    )


@playable.EVERY_VIEW
def test_a_button_without_a_name_breaks_a_rule_of_axe(
    browser: Browser, view: dict[str, Any]
) -> None:
    with playable.alone(browser, **view) as page:
        playable.axe_finds_nothing(written(page, LARGE))
        with pytest.raises(AssertionError, match="button-name"):
            playable.axe_finds_nothing(written(page, LARGE.replace("aria-label", "class")))


def test_colours_of_too_little_contrast_break_a_rule_of_axe(browser: Browser) -> None:
    options: dict[str, Any] = {"color_scheme": "dark", "bypass_csp": True}
    with playable.alone(browser, **options) as page:
        faint = "<style>p { color: #444; background: #333 }</style><p>faint</p>"
        with pytest.raises(AssertionError, match="color-contrast"):
            playable.axe_finds_nothing(written(page, faint))


@pytest.mark.parametrize(
    ("sound", "broken", "check"),
    [
        (LARGE, LARGE.replace("width: 30px", "width: 20px"), playable.fits_a_phone),
        (LARGE, LARGE.replace("height: 30px", "height: 20px"), playable.fits_a_phone),
        (LARGE, LARGE.replace("30px }", "30px; display: none }"), playable.fits_a_phone),
        (LARGE, "nothing to hit", playable.fits_a_phone),
        (LARGE, f'{LARGE}<svg width="400" height="9"></svg>', playable.fits_a_phone),
        (text(12, 0, 100), text(12, 0, 50), lettered),
        (text(12, 90, 100), text(9, 90, 100), lettered),
    ],
    ids=["narrow", "low", "hidden", "no target", "wide", "scaled", "turned"],
)
def test_what_does_not_fit_a_phone_is_turned_down(
    browser: Browser, sound: str, broken: str, check: Callable[[Page], None]
) -> None:
    with playable.alone(browser, viewport=playable.SCREENS["phone"]) as page:
        check(written(page, sound))
    with (
        playable.alone(browser, viewport=playable.SCREENS["phone"]) as page,
        pytest.raises(AssertionError),
    ):
        check(written(page, broken))


def test_what_jumps_is_seen(browser: Browser) -> None:
    block = "<style>figure { height: 200px; margin: 0 }</style><figure>a</figure>"
    with playable.alone(browser) as page:
        playable.nothing_has_shifted(written(page, block))
        assert playable.height(page) == 200
        written(page, "<style>p { height: 300px }</style><p></p>", "afterbegin")
        assert playable.box_of(page.locator("figure"))["y"] > 300
        with pytest.raises(AssertionError):
            playable.nothing_has_shifted(page)
        written(page, "<style>main figure { height: 201px }</style>")
        assert playable.height(page) == 201
