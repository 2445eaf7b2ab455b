"""The register of claims in Chromium: by mouse, by keyboard, on a phone, without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bookkit.figures import LiveOutput
from bookkit.playables.register import claims_register
from bookkit.records.register import register
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

ENTRIES = register({"bottleneck": "history/bottleneck.ipynb", "scores": "mathematics/scores.ipynb"})
NUMBER = len(ENTRIES)


def table() -> LiveOutput:
    return claims_register(ENTRIES)


def claims_shown(page: Page) -> int:
    return page.locator("tbody tr:visible").count()


def count(**wanted: Any) -> int:
    return sum(all(getattr(one, key) == value for key, value in wanted.items()) for one in ENTRIES)


def test_without_scripts_the_table_is_whole(browser: Browser) -> None:
    with playable.alone(browser, table(), java_script_enabled=False) as page:
        assert claims_shown(page) == NUMBER
        assert page.locator("button, input, select").count() == 0


def test_rows_are_chosen_by_verdict_page_and_words(browser: Browser) -> None:
    with playable.alone(browser, table()) as page:
        assert playable.said(page) == f"{NUMBER} of {NUMBER} claims are shown."
        fails = count(verdict="fails")
        assert 0 < fails < NUMBER
        page.get_by_label("Verdict").select_option("○ does not hold")
        assert claims_shown(page) == fails
        assert playable.said(page) == f"{fails} of {NUMBER} claims are shown."

        page.get_by_label("Page").select_option("The bottleneck")
        both = count(verdict="fails", page="history/bottleneck.ipynb")
        assert claims_shown(page) == both
        page.get_by_role("button", name="Show all").click()
        assert claims_shown(page) == NUMBER
        assert page.get_by_label("Verdict").input_value() == "0"

        page.get_by_label("Words").fill("SCALE width")
        sentences = [one.claim.claim.lower() for one in ENTRIES]
        wanted = [one for one in sentences if "scale" in one and "width" in one]
        assert 0 < len(wanted) < NUMBER
        assert claims_shown(page) == len(wanted)
        page.get_by_label("Words").fill("no such claim")
        assert playable.said(page) == f"0 of {NUMBER} claims are shown."


def test_the_keyboard_is_enough(browser: Browser) -> None:
    with playable.alone(browser, table()) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")
        assert claims_shown(page) < NUMBER
        for _ in range(page.locator("select").count()):
            page.keyboard.press("Tab")
        page.keyboard.type("scale")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert claims_shown(page) == NUMBER


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_shows_every_claim_whole(browser: Browser, theme: str) -> None:
    options = {"viewport": playable.SCREENS["phone"], "color_scheme": theme, "has_touch": True}
    with playable.alone(browser, table(), **options) as page:
        playable.fits_a_phone(page, "button, input, select")
        for sentence in page.locator(".am-register-claim").all():
            box = playable.box_of(sentence)
            assert box["x"] + box["width"] <= playable.SCREENS["phone"]["width"]


@playable.EVERY_VIEW
def test_axe_finds_nothing(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, table(), **view) as page:
        page.get_by_label("Verdict").select_option("○ does not hold")
        playable.axe_finds_nothing(page)
