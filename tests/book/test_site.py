"""The built book without a browser: its links, what it loads, its words for pictures, formulas."""

import json
import os
import re
from collections import Counter
from copy import copy

import yaml
from book_site.fonts import MATH_FONT, MATH_SOURCE, math_characters
from book_site.glossary import entries, pages_of, terms_of_pages
from book_site.reference import floors
from book_site.repository import find_repository
from bs4 import Tag
from fontTools.ttLib import TTFont

import companion
from tests.book.built import ROOT, Site, is_elsewhere, resources, style_resources

# What stood on the start page at first, and where it is told now.
MOVED = {
    "how-its-numbers-are-made": "measure.html",
    "licence-and-citation": "teaching.html",
    "notation": "notation.html",
    "three-ways-to-use-it": "../appendices/api.html",
}

NOTATION = ("start/notation", "appendices/symbols")


def test_what_has_moved_leads_on(site: Site) -> None:
    start = site.page("start/start.html")
    for anchor, page in MOVED.items():
        place = start.soup.find(id=anchor)
        assert isinstance(place, Tag)
        # An empty target stands above the words that it is of.
        links = [*place.select("a"), *place.find_all_next("a", limit=5)]
        assert page in {str(link.get("href")) for link in links}
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    moved = {f"{name}.html" for name in config["sphinx"]["config"]["redirects"]}
    assert "index.html" in moved
    assert {page.name for page in site.pages if page.leads_on} == moved
    for name in moved:
        (link,) = site.page(name).soup.select("noscript meta[content]")
        target, _ = site.page(name).follow(str(link["content"]).partition("url=")[2])
        assert target.is_file(), name


def test_links_lead_somewhere(site: Site) -> None:
    pages = {page.path: page for page in site.pages}
    broken = []
    for page in site.pages:
        for address in [str(link["href"]) for link in page.soup.find_all("a", href=True)]:
            if is_elsewhere(address) or address.startswith("mailto:"):
                continue
            target, anchor = page.follow(address)
            known = target in pages and (not anchor or anchor in pages[target].anchors)
            if not address or not (known or (target not in pages and target.is_file())):
                broken.append(f"{page.name}: {address}")
    assert not broken


def test_next_leads_to_the_next_lesson_and_every_notebook_says_how_to_run(site: Site) -> None:
    for page in site.chapters:
        for link in page.soup.select("a.left-prev, a.right-next"):
            leads = str(link["href"])
            assert page.name.endswith("_evidence.html") or "_evidence" not in leads, page.name
        (source,) = (site.folder / "_sources").glob(f"{page.name.removesuffix('.html')}.*")
        ways = page.soup.select("article details.run-here")
        assert len(ways) == (source.suffix == ".ipynb"), page.name
        assert all(f"jupyter lab book/{page.name[:-5]}.ipynb" in way.get_text() for way in ways)


def test_links_to_the_repository_are_right_or_absent(site: Site) -> None:
    repository = find_repository(os.environ, ROOT)
    for page in site.chapters:
        selector = ".article-header-buttons a[target=_blank]"
        links = [str(link["href"]) for link in page.soup.select(selector)]
        outside = [link for link in links if is_elsewhere(link)]
        if repository is None:
            assert not outside, page.name
            continue
        assert repository.url in outside
        (source,) = (site.folder / "_sources").glob(f"{page.name.removesuffix('.html')}.*")
        path = source.relative_to(site.folder / "_sources").as_posix()
        launches = [link for link in outside if link != repository.url]
        assert bool(launches) == path.endswith(".ipynb"), page.name
        for link in launches:
            assert link.endswith(f"book/{path}")
            assert repository.branch in link
            assert repository.url.split("/", 3)[3] in link


def test_what_a_page_loads_is_here_and_comes_once(site: Site) -> None:
    for sheet in site.folder.rglob("*.css"):
        loaded = style_resources(sheet.read_text(encoding="utf-8"))
        assert not [one for one in loaded if is_elsewhere(one)], sheet.name
    search = {"searchtools.js", "language_data.js", "searchindex.js"}
    for page in site.pages:
        files = [page.follow(one)[0] for one in resources(page) if not one.startswith("data:")]
        assert not [one for one in resources(page) if is_elsewhere(one)], page.name
        assert not [file for file in files if not file.is_file()], page.name
        code = [file for file in files if file.suffix in (".css", ".js")]
        wanted = {"book.css", "book.js"} | (search if page.name == "search.html" else set())
        assert len(code) == len(set(code)), page.name
        if not page.leads_on:
            own = {file.name for file in code if file.parent.name != "play"}
            assert own == wanted, page.name


def test_pictures_keep_their_place_and_drawings_have_a_name(site: Site) -> None:
    for page in site.chapters:
        assert not page.article().select("img:not([width][height])"), page.name
        for drawing in page.article().select("svg[role=img]:not([aria-label])"):
            names = str(drawing.get("aria-labelledby") or "").split()
            assert any(drawing.find(id=name) for name in names), (page.name, drawing)


def test_titles_tell_pages_apart(site: Site) -> None:
    pages = [page for page in site.pages if not page.leads_on]
    titles = [page.soup.title.get_text().strip() for page in pages if page.soup.title]
    assert len(titles) == len(pages)
    assert not [title for title, times in Counter(titles).items() if times > 1 or not title]
    for page in site.chapters:
        assert len(page.article().select("h1")) == 1, page.name
        assert page.soup.html is not None
        assert page.soup.html.get("lang") == "en"


def test_formulas_are_mathml_with_numbers_of_sphinx(site: Site) -> None:
    formulas = 0
    for page in site.chapters:
        for formula in page.article().select(".math"):
            assert formula.find("math"), (page.name, formula)
            formulas += 1
        numbers = [tag.get_text() for tag in page.article().select(".eqno")]
        assert len(numbers) == len(set(numbers)), page.name
        assert not page.article().select(".tml-eqn"), page.name
        prose = copy(page.article())
        for part in prose.select("pre, code, script, style, math, dl.py, .am-source"):
            part.extract()
        raw = re.search(r"\\[(\[]|\$\$|\\begin\{", prose.get_text())
        assert raw is None, (page.name, raw)
    assert formulas


def test_the_font_draws_every_formula(site: Site) -> None:
    font = TTFont(site.folder / "_static" / MATH_FONT)
    used = {code for page in site.pages for code in math_characters(page.text)}
    assert used & set(TTFont(MATH_SOURCE).getBestCmap()) <= set(font.getBestCmap())
    assert "MATH" in font
    assert (site.folder / "_static" / MATH_FONT).stat().st_size < 80_000


def test_every_module_and_every_name_of_the_package_is_described(site: Site) -> None:
    listed = [
        [link.get_text() for link in listing.select("dt a")]
        for listing in site.page("appendices/api.html").article().select("dl.floor")
    ]
    assert listed == floors((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    described = {anchor for page in site.chapters for anchor in page.anchors}
    for name in companion.__all__:
        home = getattr(companion, name).__module__.split(".")
        # A package that exports the name describes it, else the module that defines it.
        assert described & {".".join([*home[:end], name]) for end in range(2, len(home) + 1)}, name


def test_the_notation_and_a_gloss_are_shown(site: Site) -> None:
    rows = yaml.safe_load((ROOT / "book" / "notation.yml").read_text(encoding="utf-8"))
    everywhere = [row for row in rows if "pages" not in row]
    start, index = (site.page(f"{name}.html").article() for name in NOTATION)
    for article in (start, index):
        assert len(article.select("table")[0].select("tbody tr")) == len(everywhere) < 30
    letters = [str(part["id"]) for part in index.select("section[id^=letter-]")]
    assert letters[:3] == ["letter-a", "letter-b", "letter-c"]
    assert "letter-omega" not in letters
    assert letters.index("letter-z") < letters.index("letter-alpha") < letters.index("letter-beta")
    assert [link["href"] for link in index.select(".am-letters a")] == [f"#{n}" for n in letters]
    assert len(index.select("section[id^=letter-] tbody tr")) > len(rows)
    words = [str(ruby.contents[0]) for ruby in start.select(".am-gloss [lang=es] ruby")]
    assert words == ["ella", "trabaja", "en", "la", "casa", "nueva"]
    assert [rt.get_text() for rt in start.select("rt[lang=en]")][-1] == "new"


def test_the_search_knows_the_pages_and_not_their_stamps(site: Site) -> None:
    text = (site.folder / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    assert {f"{name}.html" for name in index["docnames"]} == {page.name for page in site.chapters}
    everywhere = [word for word, pages in index["terms"].items() if pages == index["docnames"]]
    assert "torch" in index["terms"]
    assert not {"torch", "numpi", "companion"} & set(everywhere)
    assert {"genindex.html", "search.html"} <= {page.name for page in site.pages}


def test_no_page_speaks_of_editions_and_the_glossary_leads_to_pages(site: Site) -> None:
    for page in site.chapters:
        if page.name != "appendices/bibliography.html":
            assert not re.search(r"\beditions?\b", page.article().get_text(), re.I), page.name
    said = list(entries(ROOT / "book"))
    pages = {page.name.removesuffix(".html") for page in site.chapters}
    assert set(terms_of_pages(ROOT / "book")) <= pages
    assert not [terms for terms, text in said if not (pages_of(text) or "See {term}" in text)]


def test_every_notebook_says_when_it_ran_and_no_other_page(site: Site) -> None:
    for page in site.chapters:
        source = ROOT / "book" / page.name.replace(".html", ".ipynb")
        stamps = page.article().select(".am-run")
        assert len(stamps) == source.exists(), page.name
        if stamps:
            run = json.loads(source.read_text(encoding="utf-8"))["metadata"]["am"]["run"]
            assert run["versions"]["torch"] in stamps[0].get_text()


def test_the_bibliography_leads_back_to_every_page_that_cites(site: Site) -> None:
    bibliography = site.page("appendices/bibliography.html")
    back: set[tuple[str, str]] = set()
    for entry in bibliography.article().select(".citation"):
        for link in entry.select(".am-cited a"):
            target, anchor = bibliography.follow(str(link["href"]))
            page = site.page(target.relative_to(site.folder).as_posix())
            assert f"#{entry['id']}" in str(page.article().find(id=anchor)), (page.name, anchor)
            back.add((page.name, str(entry["id"])))
    cited = {
        (page.name, str(link["href"]).partition("#")[2])
        for page in site.chapters
        if page is not bibliography
        and not page.name.startswith("appendices/solutions")  # they repeat what other pages cite
        for link in page.article().select("a[href*='bibliography.html#']")
    }
    assert back == cited
    assert len(back) > 10
