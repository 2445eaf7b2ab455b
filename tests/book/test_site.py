"""The built book without a browser: its links, what it loads, its words for pictures, formulas."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from copy import copy

import pytest
import yaml
from bs4 import Tag
from fontTools.ttLib import TTFont

import companion
from tests.book.built import ROOT, Page, Site, is_elsewhere, resources, style_resources
from tests.test_floors import FLOORS

BOILERPLATE = re.compile(
    r"^(?:figure|image|img|plot|picture|chart|graph|diagram|screenshot|output|logo|untitled)\b"
    r"|\.(?:png|svg|webp|jpe?g)$|_images/|a (?:figure|plot|picture|chart|graph) showing",
    flags=re.IGNORECASE,
)


def test_every_page_of_the_contents_is_built(site: Site) -> None:
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))

    def files(entry: object) -> Iterator[str]:
        if isinstance(entry, dict):
            yield from (entry[key] for key in ("root", "file") if key in entry)
            for part in entry.values():
                yield from files(part)
        elif isinstance(entry, list):
            for part in entry:
                yield from files(part)

    wanted = {f"{name}.html" for name in files(toc)}
    assert wanted <= {page.name for page in site.chapters}


def test_the_address_of_the_site_opens_the_start_page(site: Site) -> None:
    page = site.page("index.html")
    refresh = page.soup.find("meta", attrs={"http-equiv": re.compile("refresh", re.IGNORECASE)})
    assert isinstance(refresh, Tag)
    target, _ = page.follow(str(refresh["content"]).partition("url=")[2])
    assert target == site.page("start/start.html").path


FIRST_EDITION = {
    "equation-eq-start-interval": "measure.html",
    "equation-eq-start-prediction": "measure.html",
    "how-its-numbers-are-made": "measure.html",
    "licence-and-citation": "teaching.html",
    "notation": "notation.html",
    "three-ways-to-use-it": "../appendices/api.html",
    "two-paths-for-a-course": "teaching.html",
    "what-this-book-is": "teaching.html",
    "what-you-need-and-how-long-it-takes": "notation.html",
}
"""What stood on the first start page, and where it is told now."""


@pytest.mark.parametrize(("anchor", "page"), FIRST_EDITION.items())
def test_what_stood_on_the_start_page_leads_on(site: Site, anchor: str, page: str) -> None:
    start = site.page("start/start.html")
    place = start.soup.find(id=anchor)
    assert isinstance(place, Tag)
    # An empty target stands above the words that it is of.
    links = [*place.select("a"), *place.find_all_next("a", limit=5)]
    assert page in {str(link.get("href")) for link in links}


def test_old_addresses_open_the_new_ones(site: Site) -> None:
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    moved = config["sphinx"]["config"]["book_moved_modules"]
    assert moved
    for old, new in moved.items():
        page = site.page(f"appendices/api/{old}.html")
        link = page.soup.find("a", href=True)
        assert isinstance(link, Tag)
        target, anchor = page.follow(str(link["href"]))
        assert anchor == f"module-companion.{new}"
        assert anchor in site.page(target.relative_to(site.folder).as_posix()).anchors


def test_links_lead_somewhere(site: Site) -> None:
    pages = {page.path: page for page in site.pages}
    broken = []
    for page in site.pages:
        for link in page.soup.find_all("a", href=True):
            address = str(link["href"])
            if is_elsewhere(address) or address.startswith("mailto:"):
                continue
            target, anchor = page.follow(address)
            known = target in pages and (not anchor or anchor in pages[target].anchors)
            if not (known or (target not in pages and target.is_file())):
                broken.append(f"{page.name}: {address}")
    assert not broken


def test_links_and_buttons_are_alive(site: Site) -> None:
    dead: list[str] = []
    for page in site.pages:
        links = page.soup.find_all("a", href=re.compile(r"^(?:$|None|javascript:)"))
        dead += [f"{page.name}: {link}" for link in links]
        header = page.soup.select_one(".article-header-buttons")
        for button in header.select("button") if header else ():
            names = " ".join(button.get("class") or ())
            works = button.get("onclick") or button.get("data-bs-toggle") == "dropdown"
            if not works and not re.search("theme-switch|search-button|sidebar-toggle", names):
                dead.append(f"{page.name}: {button}")
    assert not dead


def test_links_to_the_repository_are_right_or_absent(site: Site) -> None:
    from book_site.repository import find_repository

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


def test_nothing_is_loaded_from_elsewhere(site: Site) -> None:
    loaded = [(page.name, address) for page in site.pages for address in resources(page)]
    for sheet in site.folder.rglob("*.css"):
        style = sheet.read_text(encoding="utf-8")
        loaded += [(sheet.name, address) for address in style_resources(style)]
    assert len(loaded) > 9 * len(site.chapters)  # an evidence page may have no picture
    assert not [one for one in loaded if is_elsewhere(one[1])]


def test_what_a_page_loads_is_there_and_comes_once(site: Site) -> None:
    for page in site.pages:
        files = [page.follow(one)[0] for one in resources(page) if not one.startswith("data:")]
        assert not [file for file in files if not file.is_file()], page.name
        code = Counter(file for file in files if file.suffix in (".css", ".js"))
        assert not [file for file, times in code.items() if times > 1], page.name
        search = {"searchtools.js", "language_data.js", "searchindex.js"}
        wanted = {"book.css", "book.js"} | (search if page.name == "search.html" else set())
        if not page.leads_on:
            assert {file.name for file in code} == wanted, page.name


def test_pictures_are_put_into_words(site: Site) -> None:
    poor = []
    for page in site.chapters:
        for image in page.soup.find_all("img"):
            words = str(image.get("alt", "missing")) if image.has_attr("alt") else "missing.png"
            decorative = "logo__image" in (image.get("class") or ()) and not words
            if not decorative and (BOILERPLATE.search(words) or len(words) < 15):
                poor.append(f"{page.name}: {words!r}")
        for drawing in page.article().select("svg[role=img]"):
            names = str(drawing.get("aria-labelledby") or "").split()
            label = str(drawing.get("aria-label") or "") + "".join(
                part.get_text() for name in names if (part := drawing.find(id=name))
            )
            if BOILERPLATE.search(label) or len(label) < 15:
                poor.append(f"{page.name}: {label!r}")
    assert not poor


def test_pictures_keep_their_place(site: Site) -> None:
    for page in site.chapters:
        for image in page.article().select("img"):
            assert image.get("width"), (page.name, image)
            assert image.get("height"), (page.name, image)


def test_titles_tell_pages_apart(site: Site) -> None:
    titles = [page.soup.title.get_text().strip() for page in site.pages if page.soup.title]
    assert len(titles) == len(site.pages)
    assert not [title for title, times in Counter(titles).items() if times > 1 or not title]
    for page in site.chapters:
        assert len(page.article().select("h1")) == 1, page.name
        assert page.soup.html is not None
        assert page.soup.html.get("lang") == "en"


def test_formulas_are_mathml(site: Site) -> None:
    formulas = 0
    for page in site.chapters:
        for formula in page.article().select(".math"):
            assert formula.find("math"), (page.name, formula)
            formulas += 1
        assert not page.soup.select(".formula-error"), page.name
        prose = copy(page.article())
        for part in prose.select("pre, code, script, style, math, dl.py, .am-source"):
            part.extract()
        raw = re.search(r"\\[(\[]|\$\$|\\begin\{", prose.get_text())
        assert raw is None, (page.name, raw)
    assert formulas


def test_equation_numbers_are_sphinx_and_single(site: Site) -> None:
    for page in site.chapters:
        numbers = [tag.get_text().rstrip("#") for tag in page.article().select(".eqno")]
        assert len(numbers) == len(set(numbers)), page.name
        assert not page.article().select(".tml-eqn"), page.name


def test_the_font_draws_every_formula(site: Site) -> None:
    from book_site.fonts import MATH_FONT, math_characters, math_source

    font = TTFont(site.folder / "_static" / MATH_FONT)
    used = {code for page in site.pages for code in math_characters(page.text)}
    assert used & set(TTFont(math_source()).getBestCmap()) <= set(font.getBestCmap())
    assert "MATH" in font
    assert (site.folder / "_static" / MATH_FONT).stat().st_size < 80_000


def test_every_module_is_described_on_its_floor(site: Site) -> None:
    page = site.page("appendices/api.html")
    floors = [
        {link.get_text().removeprefix("companion.") for link in listing.select("dt a")}
        for listing in page.article().select("dl.floor")
    ]
    assert floors == FLOORS


def test_every_name_of_the_package_is_described(site: Site) -> None:
    described = {anchor for page in site.chapters for anchor in page.anchors}
    for name in companion.__all__:
        home = getattr(companion, name).__module__.split(".")
        # A package that exports the name describes it, else the module that defines it.
        assert described & {".".join([*home[:end], name]) for end in range(2, len(home) + 1)}, name


def test_the_notation_and_a_gloss_are_shown(site: Site) -> None:
    article = site.page("appendices/symbols.html").article()
    table = article.select_one("#in-the-lessons-and-their-evidence table")
    assert table is not None
    rows = yaml.safe_load((ROOT / "book" / "notation.yml").read_text(encoding="utf-8"))
    assert len(table.select("tbody tr")) == len(rows)
    words = [str(ruby.contents[0]) for ruby in article.select(".am-gloss [lang=es] ruby")]
    assert words == ["ella", "trabaja", "en", "la", "casa", "nueva"]
    assert [rt.get_text() for rt in article.select("rt[lang=en]")][-1] == "new"


def test_the_search_knows_the_pages(site: Site) -> None:
    text = (site.folder / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    assert {f"{name}.html" for name in index["docnames"]} == {page.name for page in site.chapters}


@pytest.mark.parametrize("name", ["genindex.html", "search.html"])
def test_pages_without_a_source_are_there(site: Site, name: str) -> None:
    assert isinstance(site.page(name), Page)
