"""The atlas in Chromium: by mouse, by keyboard, on a phone, without scripts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bookkit.atlas.rows import load_atlas
from bookkit.atlas.words import describe
from bookkit.playables.atlas import atlas_census, atlas_table, atlas_words
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

NAMES = ("llama", "gpt_oss", "cohere2", "gemma3_text", "smollm3", "mixtral")
ATLAS = load_atlas()
FEW = replace(ATLAS, rows=tuple(row for row in ATLAS.rows if row.model_type in NAMES))
FACTS = {row.name: describe(row.spec) for row in FEW.rows}
MARKED = {mark for facts in FACTS.values() for mark in facts.marks}


def names_shown(page: Page) -> list[str]:
    return page.locator("tbody tr:visible button").all_inner_texts()


def test_without_scripts_the_table_is_whole(browser: Browser) -> None:
    with playable.alone(browser, atlas_table(FEW), java_script_enabled=False) as page:
        assert page.locator("tbody tr:visible").count() == len(FEW.rows)
        assert page.locator("button, input, select").count() == 0


def test_rows_are_chosen_by_mark_year_and_words(browser: Browser) -> None:
    with playable.alone(browser, atlas_table(FEW)) as page:
        total = len(FEW.rows)
        assert playable.said(page).startswith(f"{total} of {total} architectures are shown.")
        page.get_by_label("Has").select_option("window")
        assert names_shown(page) == [name for name, f in FACTS.items() if "window" in f.marks]
        page.get_by_label("Has").select_option("nothing beside attention")
        assert names_shown(page) == [name for name, f in FACTS.items() if not f.marks]
        page.get_by_role("button", name="Show all").click()
        year = FEW.rows[-1].year
        page.locator("select").nth(1).select_option(str(year))
        assert names_shown(page) == [row.name for row in FEW.rows if row.year == year]
        page.get_by_role("button", name="Show all").click()
        page.get_by_label("Words").fill("YaRN window")
        assert names_shown(page) == ["GptOss"]


def test_rows_are_ordered_by_what_they_keep(browser: Browser) -> None:
    with playable.alone(browser, atlas_table(FEW)) as page:
        page.get_by_label("Order by").select_option("bytes kept, most first")
        most = sorted(FACTS, key=lambda name: -FACTS[name].bytes)
        assert names_shown(page) == most
        page.get_by_label("Order by").select_option("bytes kept, least first")
        assert names_shown(page) == most[::-1]
        page.get_by_label("Order by").select_option("year")
        assert names_shown(page) == list(FACTS)


def test_a_row_opens_into_its_drawing_and_closes(browser: Browser) -> None:
    with playable.alone(browser, atlas_table(FEW)) as page:
        button = page.get_by_role("button", name="GptOss")
        button.click()
        more = page.locator(".am-atlas-more")
        assert button.get_attribute("aria-expanded") == "true"
        assert "64 query heads of 64" in str(more.locator("svg").text_content())
        assert "1 part in" in more.inner_text()
        assert str(more.locator("a").first.get_attribute("href")).endswith("modeling_gpt_oss.py")
        page.get_by_label("Has").select_option("no positions")
        assert not more.is_visible()
        page.get_by_role("button", name="Show all").click()
        assert more.is_visible()
        button.click()
        assert more.count() == 0


def test_the_keyboard_is_enough(browser: Browser) -> None:
    with playable.alone(browser, atlas_table(FEW)) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")
        assert 0 < len(names_shown(page)) < len(FEW.rows)
        page.get_by_role("button", name="Show all").press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.locator(".am-atlas-more").count() == 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_shows_rows_and_drawings_whole(browser: Browser, theme: str) -> None:
    view = {"viewport": playable.SCREENS["phone"], "color_scheme": theme, "has_touch": True}
    with playable.alone(browser, atlas_table(FEW), **view) as page:
        page.get_by_role("button", name="Cohere2").tap()
        playable.fits_a_phone(page, "button, input, select")
        playable.letters_are_large(page.locator(".am-atlas-drawing text"))


def test_the_census_counts_by_year(browser: Browser) -> None:
    with playable.alone(browser, atlas_census(FEW)) as page:
        total = len(FEW.rows)
        assert playable.said(page).startswith(f"All {total} architectures.")
        page.get_by_role("button", name="window").click()
        having = [name for name, facts in FACTS.items() if "window" in facts.marks]
        assert page.locator(".am-census-on").all_inner_texts() == having
        assert f"{len(having)} of {total}." in playable.said(page)
        page.get_by_role("button", name="anything").click()
        assert page.locator(".am-census-on, .am-census-off").count() == 0


def test_the_census_fits_a_phone(browser: Browser) -> None:
    with playable.on_a_phone(browser, atlas_census(), targets="button") as page:
        for word in str(atlas_words()).splitlines():
            page.get_by_role("button", name=word.partition(":")[0], exact=True).click()
        playable.nothing_has_shifted(page)


test_axe_finds_nothing_in_the_census = playable.axe_test(lambda: atlas_census(FEW))


@playable.EVERY_VIEW
def test_axe_finds_nothing_in_an_open_table(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, atlas_table(FEW), **view) as page:
        page.get_by_role("button", name="Cohere2").click()
        playable.axe_finds_nothing(page)
