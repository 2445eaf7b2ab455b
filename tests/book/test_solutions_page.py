"""The pages of solutions: copies of what stands on the pages, with links both ways."""

import re

from book_site.contents import read_contents
from book_site.solutions import PAGE, section_id
from bs4 import Tag

from tests.book.built import ROOT, Site


def words(part: Tag) -> str:
    return re.sub(r"\s+", " ", part.get_text()).strip()


def test_every_exercise_of_the_book_is_on_a_page_of_solutions(site: Site) -> None:
    book = [one.name for one in read_contents(ROOT / "_toc.yml")]
    names = [name for name in book if name.startswith(PAGE)]
    solved_on = [site.page(f"{name}.html") for name in names]
    assert [len(page.text) // 1024 for page in solved_on if len(page.text) > 100 * 1024] == []
    anchors = []
    for page in site.chapters:
        boxes = [] if page in solved_on else page.article().select(".exercise[id]")
        name = section_id(page.name.removesuffix(".html"))
        for asked in boxes:
            anchors.append(f"solution-{asked['id']}")
            (solutions,) = (one for one in solved_on if name in one.anchors)
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
            (back,) = page.article().select(f"a[href$='.html#{name}']")
            assert back.parent is not None
            before = back.parent.find_previous_sibling()
            assert isinstance(before, Tag)
            assert "solution" in before["class"], page.name
    found = [str(one["id"]) for page in solved_on for one in page.article().select("section[id]")]
    listed = [one for one in found if one.startswith("solution-")]
    assert sorted(listed) == sorted(anchors)
    assert len(listed) > 50
    sections = [one for one in found if one.startswith("solutions-")]
    assert sections == [one for one in map(section_id, book) if one in sections]
