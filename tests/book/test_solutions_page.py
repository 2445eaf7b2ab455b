"""The page of solutions: copies of what stands on the pages, with links both ways."""

import re

from book_site.contents import read_contents
from book_site.solutions import section_id
from bs4 import Tag

from tests.book.built import ROOT, Site


def words(part: Tag) -> str:
    return re.sub(r"\s+", " ", part.get_text()).strip()


def test_every_exercise_of_the_book_is_on_the_page_of_solutions(site: Site) -> None:
    solutions = site.page("appendices/solutions.html")
    anchors = []
    for page in site.chapters:
        boxes = [] if page is solutions else page.article().select(".exercise[id]")
        for asked in boxes:
            anchors.append(f"solution-{asked['id']}")
            copied = solutions.soup.find(id=anchors[-1])
            assert isinstance(copied, Tag), anchors[-1]
            there = words(copied)
            assert there.count("Solution") == 1, anchors[-1]
            solved = asked.find_next("div", class_="solution")
            assert isinstance(solved, Tag)
            given = [
                one for one in asked.find_next_siblings() if one in solved.find_previous_siblings()
            ]
            for box in (asked, *given, solved):
                for part in box.select("section > p, section > div, pre"):
                    assert words(part) in there, (page.name, asked["id"])
            # It has no anchors but its own, so that the copy takes no link of the page.
            assert [one["id"] for one in copied.find_all(id=True)] == [], anchors[-1]
        if boxes:
            name = section_id(page.name.removesuffix(".html"))
            (back,) = page.article().select(f"a[href$='solutions.html#{name}']")
            assert back.parent is not None
            before = back.parent.find_previous_sibling()
            assert isinstance(before, Tag)
            assert "solution" in before["class"], page.name
    listed = [str(one["id"]) for one in solutions.article().select("section[id^=solution-]")]
    assert sorted(listed) == sorted(anchors)
    assert len(listed) > 50
    sections = [str(one["id"]) for one in solutions.article().select("section[id^=solutions-]")]
    book = [section_id(one.name) for one in read_contents(ROOT / "_toc.yml")]
    assert sections == [one for one in book if one in sections]
