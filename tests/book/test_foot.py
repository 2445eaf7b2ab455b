"""The ways on from a page: its stamp, back from the bibliography, previous and next, the search."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from book_site.contents import read_contents
from book_site.stamp import describe_run

from tests.book.built import ROOT, Page, Site
from tests.book.test_browser import WIDE, screen, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BIBLIOGRAPHY = "appendices/bibliography.html"


def test_a_run_is_put_into_a_sentence() -> None:
    versions = {"numpy": "2.4.6", "python": "3.11.7", "companion": "0.1.0", "torch": "2.13.0"}
    run = {"date": "2026-03-09", "versions": versions, "processor": "A <fast> one"}
    assert describe_run(run) == (
        'Last run on <time datetime="2026-03-09">9 March 2026</time> with companion 0.1.0,'
        " Python 3.11.7, PyTorch 2.13.0 and NumPy 2.4.6, on A &lt;fast&gt; one."
    )


def test_every_notebook_says_when_it_ran_and_no_other_page(site: Site) -> None:
    for page in site.chapters:
        source = ROOT / "book" / page.name.replace(".html", ".ipynb")
        stamps = page.article().select(".am-run")
        assert len(stamps) == source.exists(), page.name
        if stamps:
            run = json.loads(source.read_text(encoding="utf-8"))["metadata"]["am"]["run"]
            assert run["versions"]["torch"] in stamps[0].get_text()


def test_stamps_are_not_searched(site: Site) -> None:
    text = (site.folder / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    everywhere = [word for word, pages in index["terms"].items() if pages == index["docnames"]]
    assert "torch" in index["terms"]
    assert not {"torch", "numpi", "companion"} & set(everywhere)


def cited(page: Page) -> set[str]:
    """Return the entries of the bibliography that a page cites."""
    links = page.article().select(f"a[href*='{BIBLIOGRAPHY.rpartition('/')[2]}#']")
    return {str(link["href"]).partition("#")[2] for link in links}


def test_the_bibliography_leads_back_to_every_page_that_cites(site: Site) -> None:
    bibliography = site.page(BIBLIOGRAPHY)
    back: dict[str, set[str]] = {}
    for entry in bibliography.article().select(".citation"):
        for link in entry.select(".am-cited a"):
            target, anchor = bibliography.follow(str(link["href"]))
            page = site.page(target.relative_to(site.folder).as_posix())
            element = page.article().find(id=anchor)
            assert element is not None
            assert f"#{entry['id']}" in str(element), (page.name, anchor)
            back.setdefault(page.name, set()).add(str(entry["id"]))
    copied = site.page("appendices/solutions.html")  # it repeats what other pages cite
    pages = [page for page in site.chapters if page not in (bibliography, copied)]
    there = {page.name: cited(page) for page in pages}
    assert back == {name: entries for name, entries in there.items() if entries}
    assert len(back) > 10


def test_previous_and_next_go_through_the_whole_book(site: Site) -> None:
    order = [f"{chapter.name}.html" for chapter in read_contents(ROOT / "_toc.yml")]
    page, seen = site.page(order[0]), []
    while True:
        seen.append(page.name)
        link = page.soup.select_one("a.right-next")
        if link is None:
            break
        following = page.follow(str(link["href"]))[0].relative_to(site.folder).as_posix()
        back = site.page(following).soup.select_one("a.left-prev")
        assert back is not None
        assert site.page(following).follow(str(back["href"]))[0] == page.path
        page = site.page(following)
    assert [name for name in seen if name in order] == order
    assert set(seen) == {page.name for page in site.chapters}


@pytest.mark.browser
@pytest.mark.parametrize("words", ["saturated", "softmax gradient"])
def test_what_the_search_finds_is_marked_on_the_page(
    server: str, browser: Browser, words: str
) -> None:
    faults: list[str] = []
    with visit(browser, server, faults, **screen(WIDE, "light")) as context:
        page = context.new_page()
        page.goto(f"{server}search.html?q={words.replace(' ', '+')}")
        hit = page.locator("#search-results li a").first
        hit.wait_for()
        hit.click()
        page.wait_for_load_state("networkidle")
        marked = page.locator("article .highlighted")
        marked.first.wait_for()
        links = {re.sub(r"\W", "", text).lower() for text in marked.all_text_contents()}
        for word in words.split():
            assert any(one.startswith(word[:6]) for one in links), (word, links)
    assert not faults
