"""The reading map as HTML: real links, words for what colour says, and what it refuses."""

from bs4 import BeautifulSoup, Tag

from bookkit.contents import PARTS, Part, Stop, stops
from bookkit.figures.reading import reading_map

SMALL = (
    Part("One & all", "the <first>.", (
        Stop("a/one.ipynb", "One", "Why?", 20, True, True, True),
        Stop("b/two.md", "Two", "How?"),
    )),
)  # fmt: skip


def drawn(*, parts: tuple[Part, ...] = SMALL, here: str = "a/here.ipynb") -> Tag:
    page = BeautifulSoup(reading_map(parts, here=here)._repr_html_(), "html.parser")
    assert page.nav is not None
    return page.nav


def test_every_page_is_a_link_from_where_the_map_stands() -> None:
    links = {str(link["href"]): link.get_text() for link in drawn().find_all("a")}
    assert links == {
        "one.ipynb": "One",
        "one_evidence.ipynb": "how we measured it: One",
        "../b/two.md": "Two",
    }


def test_the_book_is_on_it_whole() -> None:
    found = [str(link["href"]) for link in drawn(parts=PARTS, here="start/start.ipynb").select("a")]
    wanted = [page for stop in stops() for page in (stop.page, stop.evidence_page) if page]
    near = [f"../{page}".replace("../start/", "") for page in wanted]
    assert found == near


def test_what_colour_says_is_said_in_words_too() -> None:
    one, two = drawn().select(".am-map-line > li")
    assert one["class"] == ["am-map-stop", "am-map-core"]
    assert two["class"] == ["am-map-stop"]
    assert "core path" in one.get_text()
    assert "first hour" in one.get_text()
    assert "20 min" in one.get_text()
    assert "core path" not in two.get_text()
    assert "min" not in two.get_text()
