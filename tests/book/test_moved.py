"""Addresses of the first edition open the page, and the part of it, that took their place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from book_check.host import serve
from book_site.moved import (
    FIRST_EDITION,
    find_ids,
    leads,
    page_that_moved,
    put_script,
    relative,
    script,
)

from tests.book.built import Site
from tests.book.test_browser import visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FORMER: dict[str, list[str]] = json.loads(FIRST_EDITION.read_text(encoding="utf-8"))
PAIR = re.compile(r'\["([^"]*)", "([^"]*)"\]')


def led(page: str) -> Iterator[tuple[str, str]]:
    """Yield the anchors that the script of a page knows, each with its address."""
    for code in re.findall(r'<script id="am-moved">(.*?)</script>', page, flags=re.DOTALL):
        for address, names in PAIR.findall(code):
            yield from ((name, address) for name in names.split())


def test_the_first_edition_is_known() -> None:
    assert len(FORMER) > 20
    assert all("exercises" in FORMER[name] for name in ("history/align", "mathematics/scores"))
    assert "fig-align-gold" in FORMER["history/align"]


def test_every_page_of_the_first_edition_opens(site: Site) -> None:
    pages = {page.name.removesuffix(".html"): page for page in site.pages}
    assert sorted(FORMER.keys() - pages.keys()) == []
    for name in FORMER:
        page = pages[name]
        for anchor, address in led(page.text):
            target, part = page.follow(address)
            assert target.is_file(), (name, anchor, address)
            assert not part or part in find_ids(target.read_text(encoding="utf-8")), (name, address)
            assert anchor not in page.anchors, (name, anchor)


def test_parts_are_looked_for_on_the_pages_below() -> None:
    below = {"a_evidence": {"proof", "same"}, "a_more": {"data"}}
    found = leads(["kept", "proof", "data", "gone"], ["kept", "same"], below, {})
    assert found == {"a_evidence": ["gone", "proof"], "a_more": ["data"]}
    assert leads(["kept", "gone"], ["kept"], {}, {}) == {}


def test_a_part_with_another_name_is_found_by_the_table() -> None:
    below = {"a_evidence": {"proof"}}
    found = leads(["proof", "old"], [], below, {"old": "b#new", "proof": "c#proof"})
    assert found == {"b#new": ["old"], "c#proof": ["proof"]}


@pytest.mark.parametrize(
    ("page", "target", "address"),
    [
        ("history/align", "history/align_evidence", "align_evidence.html"),
        ("history/align", "ideas/align#a", "../ideas/align.html#a"),
        ("start", "history/align", "history/align.html"),
    ],
)
def test_addresses_are_relative(page: str, target: str, address: str) -> None:
    assert relative(page, target) == address


def test_a_second_build_puts_the_script_in_once() -> None:
    page = "<html><head><title>A</title></head><body></body></html>"
    once = put_script(page, script({"b": ["x"]}, "a"))
    assert once.count("<script") == 1
    assert put_script(once, script({"b": ["x"]}, "a")) == once
    assert put_script(once, "") == page
    assert list(led(once)) == [("x", "b.html")]


def test_nothing_of_an_anchor_can_end_the_script() -> None:
    assert script({"b": ["</script>"]}, "a").count("</script>") == 1


@pytest.fixture
def small_site(tmp_path: Path) -> Iterator[str]:
    """Serve a lesson, its evidence, and a page that is gone; yield the address."""
    found = {"part/lesson_evidence": ["proof", "gone"], "other#new": ["renamed"]}
    head = "<html><head><title>A</title></head>"
    lesson = put_script(f'{head}<body id="kept">Lesson', script(found, "part/lesson"))
    code = script({"other#new": ["renamed"]}, "old", "part/lesson")
    files = {
        "part/lesson": lesson,
        "part/lesson_evidence": f'{head}<body><p id="proof">Evidence',
        "other": f'{head}<body><p id="new">Other',
        "old": page_that_moved("old is now Lesson", code, "part/lesson.html"),
    }
    for name, text in files.items():
        path = tmp_path / f"{name}.html"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with serve(tmp_path) as address:
        yield address


@pytest.mark.browser
@pytest.mark.parametrize(
    ("asked", "opened"),
    [
        ("part/lesson.html", "part/lesson.html"),
        ("part/lesson.html#kept", "part/lesson.html#kept"),
        ("part/lesson.html#proof", "part/lesson_evidence.html#proof"),
        ("part/lesson.html#gone", "part/lesson_evidence.html#gone"),
        ("part/lesson.html#renamed", "other.html#new"),
        ("part/lesson.html#never-there", "part/lesson.html#never-there"),
        ("old.html", "part/lesson.html"),
        ("old.html#kept", "part/lesson.html#kept"),
        ("old.html#renamed", "other.html#new"),
    ],
)
def test_an_old_address_opens_the_new_one(
    small_site: str, browser: Browser, asked: str, opened: str
) -> None:
    faults: list[str] = []
    with visit(browser, small_site, faults) as context:
        page = context.new_page()
        page.goto(small_site + asked)
        page.wait_for_url(small_site + opened)
        page.wait_for_load_state()
        assert page.url == small_site + opened
    assert not [fault for fault in faults if "favicon" not in fault]


@pytest.mark.browser
def test_without_scripts_a_page_that_is_gone_leads_on(small_site: str, browser: Browser) -> None:
    with visit(browser, small_site, [], java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(small_site + "old.html")
        page.wait_for_url(small_site + "part/lesson.html")
