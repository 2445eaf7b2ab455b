"""The book on paper: one document of all pages, nothing cut, every link led to its target."""

from __future__ import annotations

import doctest
import importlib
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from book_print import __main__ as command
from book_print.browser import laid_out, print_book
from book_print.document import BrokenLinkError, assemble, full_id
from book_print.offer import NAME, offer
from book_print.sheets import sheets
from book_site.contents import Chapter, chapters, read_contents
from bs4 import BeautifulSoup

from tests.book.built import ROOT, Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGE = """<html><head>
<link rel="stylesheet" href="../_static/am.css"><noscript><style>a{{}}</style></noscript>
</head><body><nav id="menu"></nav><article class="bd-article"><section id="top">
<h1>{title}<a class="headerlink" href="#top">#</a></h1>{body}</section></article></body></html>"""
TOC = [
    Chapter("start/start", ""),
    Chapter("parts/one", "Part <1>"),
    Chapter("parts/two", "Part <1>"),
]


def write_site(folder: Path, **bodies: str) -> Path:
    """Write pages of the names `start`, `one`, `two`; return the folder."""
    for chapter in TOC:
        name = chapter.name.rpartition("/")[2]
        path = folder / f"{chapter.name}.html"
        path.parent.mkdir(exist_ok=True)
        text = PAGE.format(title=name.title(), body=bodies.get(name, "<p>Text.</p>"))
        path.write_text(text, encoding="utf-8")
    return folder


def printed(folder: Path, address: str = "", **bodies: str) -> BeautifulSoup:
    """Assemble a small site with these bodies."""
    document = assemble(write_site(folder, **bodies), TOC, address=address)
    return BeautifulSoup(document, "html.parser")


@pytest.mark.parametrize("name", ["document", "sheets"])
def test_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"book_print.{name}"))
    assert result.attempted > 0
    assert result.failed == 0


def test_pages_made_by_the_build_are_no_chapters() -> None:
    listed = [
        {"file": "api", "sections": [{"glob": "api/*"}]},
        {"file": "a", "sections": [{"file": "b"}]},
    ]
    read = chapters({"root": "start", "parts": [{"caption": "End", "chapters": listed}]})
    assert list(read) == [Chapter("start", ""), Chapter("a", "End"), Chapter("b", "End")]
    names = [chapter.name for chapter in read_contents(ROOT / "_toc.yml")]
    assert names[0] == "start/start"
    assert "appendices/bibliography" in names
    assert not [name for name in names if name.startswith("appendices/api")]


def test_links_between_pages_stay_within_the_document(tmp_path: Path) -> None:
    page = printed(
        tmp_path,
        start='<p id="a"><a href="../parts/one.html#a">1</a><a href="../parts/two.html">2</a></p>',
        one='<p id="a"><a href="#a">3</a><a href="two.html#top">4</a></p>',
    )
    links = [str(link["href"]) for link in page.select(".am-chapter a")]
    assert links == ["#parts-one--a", "#parts-two", "#parts-one--a", "#parts-two--top"]
    ids = {str(tag["id"]) for tag in page.find_all(id=True)}
    assert {link[1:] for link in links} <= ids


def test_a_link_without_a_place_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BrokenLinkError, match=r"start/start\.html: .*'#nowhere'"):
        printed(tmp_path, start='<a href="#nowhere">no</a>')


def test_links_to_pages_left_out_lead_to_the_site_or_are_words(tmp_path: Path) -> None:
    body = '<p><a href="../api/masks.html#m" title="m">masks</a> <a href="https://a.example/">a</a></p>'
    (one, other) = printed(tmp_path, "https://book.example/", start=body).select(".am-chapter p a")
    assert one["href"] == "https://book.example/api/masks.html#m"
    assert other["href"] == "https://a.example/"
    (other,) = printed(tmp_path, start=body).select(".am-chapter p a")
    assert other["href"] == "https://a.example/"


def test_names_are_unique_wherever_they_are_used(tmp_path: Path) -> None:
    drawing = (
        '<style>#clip rect{fill:url("#ink")}</style><svg aria-labelledby="title other">'
        '<title id="title">A</title><clipPath id="clip"></clipPath>'
        '<g id="ink" clip-path="url(#clip)" fill="#fff">'
        '<use xlink:href="#ink"/></g></svg><p id="title">twice</p>'
    )
    page = printed(tmp_path, one=drawing, two=drawing)
    ids = Counter(str(tag["id"]) for tag in page.find_all(id=True))
    assert set(ids.values()) == {1}
    text = str(page.find(id="parts-two"))
    assert '#parts-two--clip rect{fill:url("#parts-two--ink")}' in text
    assert 'aria-labelledby="parts-two--title other"' in text
    assert 'clip-path="url(#parts-two--clip)"' in text
    assert 'xlink:href="#parts-two--ink"' in text
    assert 'fill="#fff"' in text


def test_what_folds_is_open_and_what_moves_has_its_picture(tmp_path: Path) -> None:
    body = (
        '<details class="hide"><summary>Show</summary><pre>code</pre></details>'
        "<details><summary>Hint</summary><p>Look.</p></details>"
        '<div class="admonition dropdown solution"><p>Solved.</p></div>'
        "<div><script>draw()</script>"
        '<noscript><img src="../_images/a.svg" loading="lazy"></noscript></div>'
        "<button>Copy</button>"
    )
    page = printed(tmp_path, start=body)
    start = page.find(id="start-start")
    assert start is not None
    assert "code" in str(start)
    assert "Hint" in str(start)
    assert "Show" not in str(start)
    assert not page.select("details, summary, noscript, script, button, .dropdown, .headerlink")
    assert '<img src="_images/a.svg"/>' in str(start)


def test_the_contents_name_parts_pages_and_sections(tmp_path: Path) -> None:
    page = printed(
        tmp_path, one='<section id="deep"><h2>Deep <a href="#top">d<em>own</em></a></h2></section>'
    )
    assert [part.get_text() for part in page.select(".am-part")] == ["Part <1>"]
    entries = {str(e["href"]): e.get_text() for e in page.select(".am-entry")}
    assert entries == {
        "#start-start": "Start",
        "#parts-one": "One",
        "#parts-one--deep": "Deep down",
        "#parts-two": "Two",
    }
    assert not page.select(".am-entry a"), "links in links are none"
    assert [link["href"] for link in page.select("head link")] == ["_static/am.css"]


@pytest.fixture(scope="module")
def whole(site: Site) -> str:
    """The document of the whole book."""
    return assemble(site.folder, read_contents(ROOT / "_toc.yml"))


def test_the_whole_book_is_in_it(site: Site, whole: str) -> None:
    names = [chapter.name for chapter in read_contents(ROOT / "_toc.yml")]
    articles = [site.page(f"{name}.html").article() for name in names]
    for selector, pattern in (
        (".eqno", r'<span class="eqno">\(([\d.]+)\)'),
        ("figure", r"<figure\b"),
        ("math", r"<math\b"),
        (".measured", r'class="(?:[^"]* )?measured[ "]'),
        (".solution", r'class="(?:[^"]* )?solution[ "]'),
    ):
        wanted = sum(len(article.select(selector)) for article in articles)
        assert len(re.findall(pattern, whole)) == wanted > 10, selector
    numbers = [tag.get_text().rstrip("#") for a in articles for tag in a.select(".eqno")]
    assert re.findall(r'<span class="eqno">(\([\d.]+\))', whole) == numbers


def test_every_link_of_the_whole_book_has_its_target(whole: str) -> None:
    ids = re.findall(r'\sid="([^"]+)"', whole)
    links = set(re.findall(r'href="#([^"]*)"', whole))
    assert len(ids) == len(set(ids))
    assert len(links) > 300
    assert links <= set(ids)
    assert not re.findall(r'<a\b[^>]*href="(?!#|https?://|mailto:)[^"]*"', whole)


@pytest.mark.browser
def test_a_page_of_the_book_fits_its_sheets(site: Site, browser: Browser) -> None:
    """All kinds of things are on these pages: wide formulas, tables, figures, code and boxes."""
    names = ("applications/summarization", "appendices/bibliography")
    listed = [one for one in read_contents(ROOT / "_toc.yml") if one.name in names]
    document = assemble(site.folder, listed)
    with laid_out(browser, document, site.folder) as (page, faults):
        assert not faults
        assert (
            page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        )
        pdf = print_book(page)
        numbers = page.locator(".am-entry .am-sheet").all_inner_texts()
    assert len(numbers) > 5
    assert all(numbers)
    assert list(map(int, numbers)) == sorted(map(int, numbers))
    for part in (b"/Outlines", b"/StructTreeRoot", b"/Lang"):
        assert part in pdf
    assert {full_id(name) for name in names} <= sheets(pdf).keys()


@pytest.mark.browser
def test_what_does_not_fit_is_told_and_what_can_shrink_does(
    tmp_path: Path, browser: Browser
) -> None:
    cells = "".join(f"<td>number{n}number</td>" for n in range(9))
    body = (
        '<p><span style="display: inline-block; width: 90em">wide</span></p>'
        '<div style="width: 9em; overflow: hidden; white-space: nowrap">'
        "words that are cut off here</div>"
        f'<div><table id="table"><tr>{cells}</tr></table></div>'
        '<p style="text-align: right">words '
        '<span style="margin-right: -3px; padding-right: 3px">kept</span></p>'
        '<img src="../_images/none.png" alt="">'
    )
    document = assemble(write_site(tmp_path, one=body), TOC[1:])
    with laid_out(browser, document, tmp_path) as (page, faults):
        size = "parseFloat(getComputedStyle(document.querySelector('table')).fontSize)"
        assert page.evaluate(size) < 12
    told = "\n".join(faults)
    assert re.search(r"parts-one: too wide: <span", told)
    assert re.search(r"parts-one: too wide: <div style=.width: 9em", told)
    assert "lacks _images/none.png" in told
    assert "table" not in told
    assert "kept" not in told, "only its padding stands in the margin"


@pytest.mark.browser
def test_places_are_found_on_their_sheets(tmp_path: Path, browser: Browser) -> None:
    long = '<div style="height: 300mm"></div>'
    body = f'{long}<section id="late"><h2>Late</h2></section>'
    document = assemble(write_site(tmp_path, one=body), TOC)
    with laid_out(browser, document, tmp_path) as (page, _faults):
        printed = sheets(print_book(page))
        numbers = page.locator(".am-entry .am-sheet").all_inner_texts()
    wanted = {"start-start": 3, "parts-one": 4, "parts-one--late": 5, "parts-two": 6}
    assert {name: printed[name] for name in wanted} == wanted
    assert numbers == ["3", "4", "5", "6"]


def test_a_file_of_another_kind_has_no_places() -> None:
    assert sheets(b"%PDF-1.7\n1 0 obj\n<</Type /Catalog>>\nendobj") == {}


def test_the_site_links_the_pdf_once_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    for name in ("one.html", "parts/two.html"):
        (tmp_path / name).write_text('<p>Book</p><div class="book-pdf"></div>', encoding="utf-8")
    (tmp_path / "three.html").write_text("<p>No room</p>", encoding="utf-8")
    pdf = tmp_path / "new.pdf"
    for size in (2_000_000, 3_000_000):
        pdf.write_bytes(bytes(size))
        assert offer(pdf, tmp_path) == 2
    assert (tmp_path / NAME).stat().st_size == 3_000_000
    for name, address in (("one.html", NAME), ("parts/two.html", f"../{NAME}")):
        soup = BeautifulSoup((tmp_path / name).read_text(encoding="utf-8"), "html.parser")
        (link,) = soup.select("nav a")
        assert link["href"] == address
        assert "3 MB" in str(soup)


def test_without_chromium_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.argv", ["book_print", "--find"])
    assert command.main() == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("Chromium prints the book, and none of chromium, ")
