"""The poster: a card for every architecture of the page, on one sheet, linked once it is there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from book_print.poster import FILE, PAGE, cards_of, document, make_poster, offer_poster
from book_print.sheets import sheet_numbers
from bs4 import BeautifulSoup

from bookkit.atlas.rows import load_atlas
from bookkit.playables.atlas import atlas_table

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ATLAS = load_atlas()


def page_of_the_atlas(folder: Path) -> Path:
    """Write a site that has a page with the table, and return its folder."""
    page = folder / PAGE
    page.parent.mkdir(parents=True)
    link = '<div class="book-poster"></div>'
    page.write_text(f"<main>{atlas_table(caption='Numbers.')._repr_html_()}{link}</main>", "utf-8")
    return folder


def test_every_architecture_has_a_card(tmp_path: Path) -> None:
    source = (page_of_the_atlas(tmp_path) / PAGE).read_text("utf-8")
    cards = list(cards_of(BeautifulSoup(source, "html.parser")))
    assert [card.name for card in cards] == [row.name for row in ATLAS.rows]
    sheet = BeautifulSoup(document(cards, 9, "Numbers."), "html.parser")
    assert len(sheet.select("section > svg")) == len(cards)
    assert "64 query heads" in sheet.get_text()


def test_a_site_without_the_atlas_has_no_poster(tmp_path: Path) -> None:
    never: Browser = None  # type: ignore[assignment]
    assert make_poster(never, tmp_path, tmp_path) is None


def test_the_page_links_the_poster_once_it_is_there(tmp_path: Path) -> None:
    site = page_of_the_atlas(tmp_path / "site")
    pdf = tmp_path / FILE
    pdf.write_bytes(b"%PDF" + bytes(1000))
    for _ in range(2):
        offer_poster(pdf, site)
        page = BeautifulSoup((site / PAGE).read_text("utf-8"), "html.parser")
        assert [str(link["href"]) for link in page.select(".book-poster a")] == [f"../{FILE}"]
    assert (site / FILE).is_file()


@pytest.mark.browser
def test_all_of_it_fits_one_sheet(browser: Browser, tmp_path: Path) -> None:
    pdf = make_poster(browser, page_of_the_atlas(tmp_path / "site"), tmp_path)
    assert pdf is not None
    assert len(list(sheet_numbers(pdf.read_bytes()))) == 1
