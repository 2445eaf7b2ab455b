"""The poster: a card for every architecture of the page, on one sheet."""

from io import BytesIO
from pathlib import Path

import pytest
from book_print.poster import PAGE, cards_of, document, make_poster
from bs4 import BeautifulSoup
from playwright.sync_api import Browser
from pypdf import PdfReader

from bookkit.atlas.rows import load_atlas
from bookkit.playables.atlas import atlas_table

ATLAS = load_atlas()


def page_of_the_atlas(folder: Path) -> Path:
    """Write a site that has a page with the table, and return its folder."""
    page = folder / PAGE
    page.parent.mkdir(parents=True)
    page.write_text(f"<main>{atlas_table(caption='Numbers.')._repr_html_()}</main>", "utf-8")
    return folder


def test_every_architecture_has_a_card(tmp_path: Path) -> None:
    source = (page_of_the_atlas(tmp_path) / PAGE).read_text("utf-8")
    cards = list(cards_of(BeautifulSoup(source, "html.parser")))
    sheet = BeautifulSoup(document(cards, 9, "Numbers."), "html.parser")
    names = [str(heading.contents[0]).strip() for heading in sheet.select("section > h2")]
    assert names == [row.name for row in ATLAS.rows]
    assert len(sheet.select("section > svg")) == len(names)
    assert "64 query heads" in sheet.get_text()


@pytest.mark.slow
@pytest.mark.browser
def test_all_of_it_fits_one_sheet(browser: Browser, tmp_path: Path) -> None:
    assert make_poster(browser, tmp_path) == {}  # no atlas, no poster
    (pdf,) = make_poster(browser, page_of_the_atlas(tmp_path)).values()
    assert PdfReader(BytesIO(pdf)).get_num_pages() == 1
