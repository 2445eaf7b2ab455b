"""What others see of a page before they open it: descriptions, meta tags and cards."""

import os
import re
from pathlib import Path

from book_site.cards import SIZE, draw
from book_site.repository import find_address
from book_site.sharing import describe
from PIL import Image

from tests.book.built import ROOT, Page, Site

LARGEST_CARD = 40_000  # bytes


def meta(page: Page) -> dict[str, str]:
    found = page.soup.find_all("meta", content=True)
    return {str(tag.get("name") or tag.get("property")): str(tag["content"]) for tag in found}


def test_a_description_is_a_sentence_in_plain_words() -> None:
    first = "Scores grow with <em>width</em>, as <math><msqrt><mi>d</mi></msqrt></math> &amp; more"
    body = f'<h1>Scores</h1><p class="admonition-title">Question</p><p>{first}. Second.</p>'
    assert describe(body) == "Scores grow with width, as √d & more. Second."
    long = describe(f"<p>{'word ' * 100}.</p>")
    assert len(long) <= 200
    assert long.endswith("word…")
    assert describe('<div class="citation" id="a"><p>A. Author. A title.</p></div>') == ""
    assert describe("<h1>Index</h1>") == ""


def test_cards_are_small_and_the_same_every_time(tmp_path: Path) -> None:
    title, words = "A title of many words " * 6, "Weights are drawn as if they said why, √d " * 9
    for name in ("one.png", "two.png"):
        draw(tmp_path / name, title, words, "Trade-offs · 13", "Attention, Measured")
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
    assert (tmp_path / "one.png").stat().st_size < LARGEST_CARD
    card = Image.open(tmp_path / "one.png").convert("RGB")
    assert card.size == SIZE
    # The words end before the mark, and before the edges.
    for box in ((0, 40, 70, 600), (SIZE[0] - 70, 40, *SIZE)):
        assert card.crop(box).getextrema() == ((255, 255),) * 3, box


def test_every_page_says_what_it_is_about_and_has_a_card_where_it_is_published(site: Site) -> None:
    address = find_address(os.environ, ROOT)
    texts = [meta(page)["description"] for page in site.chapters]
    assert len(set(texts)) == len(texts)
    for page in site.chapters:
        said = meta(page)
        assert 20 <= len(said["description"]) <= 200, page.name
        assert not re.search(r"[\\{}<>]", said["description"]), page.name
        assert said["og:description"] == said["description"], page.name
        assert said["og:title"] in page.article().get_text(), page.name
        if not address:
            assert "og:image" not in said, page.name
            continue
        card = site.folder / said["og:image"].removeprefix(address)
        assert said["og:url"] == address + page.name
        assert card.stat().st_size < LARGEST_CARD
        assert Image.open(card).size == SIZE
