"""The book on paper: three documents of all pages, nothing cut, every link led to its target."""

import re
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from book_print.browser import laid_out, print_volumes, sheets
from book_print.document import assemble
from book_print.links import BrokenLinkError, full_id
from book_print.offer import offer
from book_print.volumes import EVIDENCE, LESSONS, LOOKING_UP, Volume, volumes
from book_site.contents import Chapter, read_contents
from bs4 import BeautifulSoup, Tag
from playwright.sync_api import Browser
from pypdf import PdfReader

from tests.book.built import ROOT, Site

PAGE = """<html><head>
<link rel="stylesheet" href="../_static/am.css"><noscript><style>a{{}}</style></noscript>
<style>.{title}{{}}</style>
</head><body><nav id="menu"></nav><article class="bd-article"><section id="top">
<h1>{title}<a class="headerlink" href="#top">#</a></h1>{body}</section></article></body></html>"""
TOC = (Chapter("start/start", ""), *(Chapter(f"parts/{n}", "Part <1>") for n in ("one", "two")))
ALL = replace(EVIDENCE, chapters=TOC)
READ = replace(LESSONS, chapters=TOC)


def write_site(folder: Path, **bodies: str) -> Path:
    for chapter in TOC:
        name = chapter.name.rpartition("/")[2]
        path = folder / f"{chapter.name}.html"
        path.parent.mkdir(exist_ok=True)
        text = PAGE.format(title=name.title(), body=bodies.get(name, "<p>Text.</p>"))
        path.write_text(text, encoding="utf-8")
    return folder


def printed(folder: Path, *shown: Volume, address: str = "", **bodies: str) -> BeautifulSoup:
    """Assemble a small site with these bodies: the first volume, which knows the others."""
    document = assemble(write_site(folder, **bodies), *(shown or (ALL,)), address=address)
    return BeautifulSoup(document, "html.parser")


def chapter(page: BeautifulSoup, name: str) -> Tag:
    """Return a page of the site in a document."""
    found = page.find(id=full_id(name))
    assert found is not None
    return found


def test_links_between_pages_stay_within_the_document_or_are_an_error(tmp_path: Path) -> None:
    page = printed(
        tmp_path,
        start='<p id="a"><a href="../parts/one.html#a">1</a><a href="../parts/two.html">2</a></p>',
        one='<p id="a"><a href="#a">3</a><a href="two.html#top">4</a></p>',
    )
    links = [str(link["href"]) for link in page.select(".am-chapter a")]
    assert links == ["#parts-one--a", "#parts-two", "#parts-one--a", "#parts-two--top"]
    with pytest.raises(BrokenLinkError, match=r"start/start\.html: .*'#nowhere'"):
        printed(tmp_path, start='<a href="#nowhere">no</a>')


def test_the_styles_of_all_pages_come_along_once(tmp_path: Path) -> None:
    head = printed(tmp_path).head
    assert head is not None
    assert len(head.select('link[href$="am.css"]')) == 1
    styles = [style.text for style in head.select("style")]
    assert [style for style in styles if len(style) < 9] == [".Start{}", ".One{}", ".Two{}"]


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
    for used in (
        '#parts-two--clip rect{fill:url("#parts-two--ink")}',
        'aria-labelledby="parts-two--title other"',
        'clip-path="url(#parts-two--clip)"',
        'xlink:href="#parts-two--ink"',
        'fill="#fff"',
    ):
        assert used in text


FOLDED = (
    '<details class="admonition hide above-input"><summary>Show</summary><pre>code</pre></details>'
    "<details><summary>Hint</summary><p>Look.</p></details>"
    '<div class="measured">Finding'
    '<details class="m-how"><summary>How</summary>Seeds</details></div>'
    '<div class="admonition dropdown solution"><p id="solved">Solved.</p></div>'
    "<div><script>draw()</script>"
    '<noscript><img src="../_images/a.svg" loading="lazy"></noscript></div>'
    '<button>Copy</button><p class="am-run">Last run</p>'
)


def test_what_folds_is_open_or_left_out(tmp_path: Path) -> None:
    for volume in (READ, ALL):
        page = printed(tmp_path, volume, start=FOLDED)
        start = str(chapter(page, "start/start"))
        for always in ("Hint", "Look.", "Finding", '<img src="_images/a.svg"/>'):
            assert always in start
        for behind in ("code", "How", "Seeds", "Last run"):
            assert (behind in start) == volume.everything, behind
        for never in ("Show", "Copy", "Solved."):
            assert never not in start
        assert not page.select("details, summary, noscript, script, button, .dropdown, .headerlink")


def test_solutions_stand_in_their_own_chapters(tmp_path: Path) -> None:
    page = "appendices/solutions"
    folder = write_site(tmp_path, one=FOLDED)
    (folder / f"{page}.html").parent.mkdir()
    solved = PAGE.format(title="Solutions", body='<div class="solution">Solved.</div>')
    (folder / f"{page}.html").write_text(solved, encoding="utf-8")
    listed = (Chapter("parts/one", "Part"), Chapter(page, "End"))
    soup = BeautifulSoup(assemble(folder, replace(LOOKING_UP, chapters=listed)), "html.parser")
    assert chapter(soup, page).get_text().strip() == "SolutionsSolved."
    assert "Solved" not in chapter(soup, "parts/one").get_text()


def test_the_bibliography_has_what_the_volume_cites(tmp_path: Path) -> None:
    work = '<div class="citation" id="{}"><p>{}</p><p class="am-cited">Cited in {}</p></div>'
    back = '<a href="one.html">One</a>, <a href="three.html">Three</a>'
    page = printed(
        tmp_path,
        one='<a href="two.html#a">2017</a>',
        two=work.format("a", "Here", back) + work.format("b", "Elsewhere", back),
    )
    assert chapter(page, "parts/two").get_text().strip() == "TwoHereCited in One"


# Several volumes


ONE = replace(LESSONS, chapters=(*TOC[:1], replace(TOC[1], numbered=True)))
TWO = replace(EVIDENCE, chapters=(replace(TOC[2], numbered=True),))


def test_a_link_to_the_other_volume_says_where_it_leads(tmp_path: Path) -> None:
    body = (
        '<h2><a href="two.html">Two</a></h2>'
        '<p><a href="two.html">it</a>, <a href="two.html">again</a>,'
        ' <a href="two.html#top">its top</a></p>'
        '<p><a href="two.html#top"><span class="std std-term">a word</span></a></p>'
    )
    page = printed(tmp_path, ONE, TWO, one=body)
    one = chapter(page, "parts/one")
    assert [" ".join(p.get_text().split()) for p in one.find_all("p", class_=False)] == [
        "it (evidence volume, p. ), again, its top (evidence volume, p. )",
        "a word",
    ]
    places = [str(part["data-am-sheet"]) for part in one.select("[data-am-sheet]")]
    assert places == ["parts-two", "parts-two--top"]
    assert not one.select("h2 .am-elsewhere, a[href]")
    online = printed(tmp_path, ONE, TWO, address="https://book.example/", one=body)
    (link, *_) = chapter(online, "parts/one").select("p a[href]")
    assert link["href"] == "https://book.example/parts/two.html"


def test_the_contents_list_numbered_chapters_of_the_other_volume(tmp_path: Path) -> None:
    page = printed(tmp_path, ONE, TWO)
    assert [part.get_text() for part in page.select(".am-part")] == [
        "Part <1>",
        "In the evidence volume",
    ]
    (away,) = page.select(".am-away")
    assert away.get_text() == "Twop. "
    below = replace(TWO, chapters=(replace(TWO.chapters[0], above="parts/one"),))
    assert not printed(tmp_path, ONE, below).select(".am-away"), "evidence is no chapter"


@pytest.mark.browser
def test_the_sheets_of_the_other_volume_are_filled_in(tmp_path: Path, browser: Browser) -> None:
    far = '<div style="height: 300mm"></div><p id="far">There.</p>'
    link = (
        '<p>See <a href="two.html#far">there</a> and <a href="../start/start.html">start</a>.</p>'
    )
    folder = write_site(tmp_path, one=link, two=far.replace("There.", '<a href="one.html">1</a>'))
    documents = {"lessons": assemble(folder, ONE, TWO), "evidence": assemble(folder, TWO, ONE)}
    with ExitStack() as stack:
        both = {n: stack.enter_context(laid_out(browser, d, folder)) for n, d in documents.items()}
        for _, faults in both.values():
            assert not [fault for fault in faults if not fault.startswith("lacks _static/")]
        laid = {name: page for name, (page, _) in both.items()}
        files = print_volumes(laid)
        said = laid["lessons"].locator("#parts-one p").inner_text()
        assert said == "See there (evidence volume, p. 4) and start."
        assert "(book of lessons, p. 4)" in laid["evidence"].locator("#parts-two").inner_text()
        assert laid["lessons"].locator(".am-away").inner_text().split() == ["Two", "p.", "3"]
        assert sheets(files["evidence"])["parts-two"] == 3
        for page in laid.values():
            assert page.locator("#am-asked").count() == 0


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


# The book itself


@pytest.fixture(scope="module")
def shown(site: Site) -> list[Volume]:
    """The volumes of the book."""
    return volumes(site.folder, read_contents(ROOT / "_toc.yml"))


def test_every_page_is_in_a_volume(shown: list[Volume]) -> None:
    in_volumes = Counter(one.name for volume in shown for one in volume.chapters)
    assert set(in_volumes) == {one.name for one in read_contents(ROOT / "_toc.yml")}
    several = {name: count for name, count in in_volumes.items() if count > 1}
    assert several == {"start/measure": 2, "appendices/bibliography": 3}
    for volume, pages in zip(
        shown,
        (
            ("start/start", "start/before", "history/bottleneck"),
            ("start/register", "appendices/solutions", "appendices/glossary"),
            ("history/bottleneck_evidence",),
        ),
        strict=True,
    ):
        assert all(map(volume.holds, pages)), volume.name


@pytest.mark.slow
@pytest.mark.parametrize("number", range(3), ids=["lessons", "looking-up", "evidence"])
def test_the_whole_book_is_in_it_and_every_link_has_its_target(
    site: Site, shown: list[Volume], number: int
) -> None:
    volume = shown[number]
    document = assemble(site.folder, *(volume, *shown[:number], *shown[number + 1 :]))
    printed = BeautifulSoup(document, "html.parser")
    for one in volume.chapters:
        source, copy = site.page(f"{one.name}.html").article(), chapter(printed, one.name)
        for selector in (".eqno", "figure", "math", ".measured", ".exercise"):
            wanted = [
                tag.get_text().rstrip("#")
                for tag in source.select(selector)
                if one.name.startswith("appendices/solutions")
                or not tag.find_parent(class_="solution")
            ]
            found = [tag.get_text().rstrip("#") for tag in copy.select(selector)]
            assert len(found) == len(wanted), (one.name, selector)
            assert found == wanted or selector != ".eqno", one.name
    assert bool(printed.select("div.hide")) == volume.everything
    assert bool(printed.select("div.m-how")) == volume.everything
    ids = re.findall(r'\sid="([^"]+)"', document)
    links = set(re.findall(r'href="#([^"]*)"', document))
    assert len(ids) == len(set(ids))
    assert len(links) > 100
    assert links <= set(ids)
    assert not re.findall(r'<a\b[^>]*href="(?!#|https?://|mailto:)[^"]*"', document)


@pytest.mark.slow
@pytest.mark.browser
def test_the_lessons_take_at_most_250_sheets(
    site: Site, shown: list[Volume], browser: Browser
) -> None:
    document = assemble(site.folder, *shown)
    with laid_out(browser, document, site.folder) as (page, faults):
        assert not faults
        pdf = page.pdf(prefer_css_page_size=True)
    assert 100 < PdfReader(BytesIO(pdf)).get_num_pages() <= 250


@pytest.mark.slow
@pytest.mark.browser
def test_a_page_of_the_book_fits_its_sheets(
    site: Site, shown: list[Volume], browser: Browser
) -> None:
    """All kinds of things are on these pages: wide formulas, tables, figures, code and boxes."""
    names = ("applications/names_evidence", "appendices/bibliography")
    listed = tuple(one for one in shown[-1].chapters if one.name in names)
    document = assemble(site.folder, replace(shown[-1], chapters=listed))
    with laid_out(browser, document, site.folder) as (page, faults):
        assert not faults
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(255, 255, 255)"
        pdf = print_volumes({"evidence": page})["evidence"]
        numbers = page.locator(".am-entry .am-sheet").all_inner_texts()
    assert len(numbers) > 5
    assert all(numbers)
    assert list(map(int, numbers)) == sorted(map(int, numbers))
    for part in (b"/Outlines", b"/StructTreeRoot", b"/Lang"):
        assert part in pdf
    assert {full_id(name) for name in names} <= sheets(pdf).keys()


# Sheets


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
    document = assemble(write_site(tmp_path, one=body), replace(ALL, chapters=TOC[1:]))
    with laid_out(browser, document, tmp_path) as (page, faults):
        size = "parseFloat(getComputedStyle(document.querySelector('table')).fontSize)"
        assert page.evaluate(size) < 12
    told = "\n".join(faults)
    assert re.search(r"parts-one: too wide: <span", told)
    assert re.search(r"parts-one: too wide: <div style=.width: 9em", told)
    assert "lacks _images/none.png" in told
    assert "table" not in told
    assert "kept" not in told, "only its padding stands in the margin"


def test_the_site_links_what_was_printed_once_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    for name in ("one.html", "parts/two.html"):
        (tmp_path / name).write_text('<p>Book</p><div class="book-pdf"></div>', encoding="utf-8")
    (tmp_path / "three.html").write_text("<p>No room</p>", encoding="utf-8")
    made = tmp_path / "made"
    made.mkdir()
    pdfs = {made / volume.file: volume.title for volume in (LESSONS, EVIDENCE)}
    for size in (4 * 10**5, 3 * 2**20):
        for number, pdf in enumerate(pdfs):
            pdf.write_bytes(bytes(size + 10_000_000 * number))
        offer(tmp_path, "book-pdf", "PDF:", pdfs)
        words = f"PDF: Lessons ({'0.4' if size < 2**20 else '3'} MiB), Evidence (1"
        assert words in BeautifulSoup((tmp_path / "one.html").read_text(), "html.parser").get_text()
    assert (tmp_path / LESSONS.file).stat().st_size == 3 * 2**20
    soup = BeautifulSoup((tmp_path / "parts/two.html").read_text(encoding="utf-8"), "html.parser")
    links = ["../attention-measured.pdf", "../attention-measured-evidence.pdf"]
    assert [link["href"] for link in soup.select("nav a")] == links
