"""The page of solutions: copies of what stands on the pages, with links both ways."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from book_site.solutions import chapters, markdown, section_id
from bs4 import BeautifulSoup, Tag

from tests.book.built import Page, Site
from tests.book.small import build_small
from tests.book.test_page_exercises import WITH_EXERCISES, exercises, read

CONTENTS = """\
format: jb-book
root: start
chapters:
  - file: later/two
  - file: early/one
  - file: appendices/solutions
"""
ONE = """\
# One

(here)=
## Exercises

```{exercise}
:label: ex-one-half
Halve $x$, as [two](../later/two.md) and {doc}`../later/two` do, by {eq}`eq-one`.

$$x / 2$$ (eq-one)
```

```python
broken = 3
```

```{solution-start} ex-one-half
:class: dropdown
```

```python
half = 2
```

It is [here](#here).

```{solution-end}
```

The end.
"""
TWO = """\
# Two

```{exercise}
:label: ex-two-twice
Double it.
```

```{solution} ex-two-twice
Twice.
```
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> dict[str, BeautifulSoup]:
    """A book of two pages with exercises, built without a warning."""
    source = tmp_path_factory.mktemp("book") / "source"
    pages = {
        "start": "# Start\n",
        "early/one": ONE,
        "later/two": TWO,
        "appendices/solutions": "# Solutions\n\n```{book-solutions}\n```\n",
    }
    for name, text in pages.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / f"{name}.md").write_text(text, encoding="utf8")
    (source / "_toc.yml").write_text(CONTENTS, encoding="utf8")
    app, warnings = build_small(
        source,
        extensions=["myst_parser", "sphinx_external_toc", "sphinx_exercise", "book_site.solutions"],
        myst_enable_extensions=["dollarmath", "amsmath"],
        numfig=True,
    )
    assert warnings == ""
    assert chapters(app.env) == ["start", "later/two", "early/one", "appendices/solutions"]
    html = Path(app.outdir)
    return {
        name: BeautifulSoup((html / f"{name}.html").read_text("utf8"), "html.parser")
        for name in pages
    }


def section(soup: BeautifulSoup, anchor: str) -> Tag:
    element = soup.find(id=anchor)
    assert isinstance(element, Tag), anchor
    return element


def test_exercises_stand_in_the_order_of_the_book(small: dict[str, BeautifulSoup]) -> None:
    headings = small["appendices/solutions"].select(".body :is(h2, h3)")
    titles = [heading.get_text().rstrip("¶") for heading in headings]
    assert titles == ["Two", "Exercise 1", "One", "Exercise 2"]


def test_an_exercise_is_copied_with_all_that_belongs_to_it(
    small: dict[str, BeautifulSoup],
) -> None:
    copied = section(small["appendices/solutions"], "solution-ex-one-half")
    said = copied.get_text()
    for part in ("Halve", "broken = 3", "Solution", "half = 2"):
        assert said.count(part) == 1
    assert "The end." not in said
    assert "Twice." in section(small["appendices/solutions"], "solution-ex-two-twice").get_text()


def test_links_of_a_copy_start_from_where_it_stands(small: dict[str, BeautifulSoup]) -> None:
    copied = section(small["appendices/solutions"], "solution-ex-one-half")
    links = [str(link["href"]) for link in copied.select("a:not(.headerlink)")]
    assert links == [
        "../early/one.html#ex-one-half",
        "../later/two.html",
        "../later/two.html",
        "../early/one.html#equation-eq-one",
        "../early/one.html#here",
    ]


def test_a_copy_has_no_anchors_but_its_own(small: dict[str, BeautifulSoup]) -> None:
    soup = small["appendices/solutions"]
    anchors = [str(tag["id"]) for tag in section(soup, section_id("early/one")).find_all(id=True)]
    assert anchors == ["solution-ex-one-half"]


def test_a_page_leads_to_its_solutions_behind_the_last(small: dict[str, BeautifulSoup]) -> None:
    (link,) = small["early/one"].select('a[href*="#solutions-"]')
    assert link["href"] == "../appendices/solutions.html#solutions-early-one"
    paragraph = link.find_parent("p")
    assert paragraph is not None
    behind = paragraph.find_next_sibling("p")
    assert isinstance(behind, Tag)
    assert behind.get_text() == "The end."
    assert not small["start"].select('a[href*="#solutions-"]')


def test_notebooks_are_read_without_their_code(tmp_path: Path) -> None:
    page = {
        "cells": [
            {"cell_type": "code", "source": ["# no title\n"]},
            {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        ]
    }
    (tmp_path / "page.ipynb").write_text(json.dumps(page), encoding="utf8")
    assert markdown(tmp_path / "page.ipynb") == "# Title\ntext"


# The built book


def words(part: Tag) -> str:
    return re.sub(r"\s+", " ", part.get_text()).strip()


def original(page: Page, label: str) -> tuple[Tag, Tag]:
    """Return the box of an exercise and that of its solution."""
    asked = page.soup.find(id=label)
    assert isinstance(asked, Tag)
    solved = asked.find_next("div", class_="solution")
    assert isinstance(solved, Tag)
    return asked, solved


@pytest.mark.parametrize("name", WITH_EXERCISES)
def test_every_exercise_is_on_the_page_of_solutions(site: Site, name: str) -> None:
    html = name.removeprefix("book/").replace(".ipynb", ".html")
    page, solutions = site.page(html), site.page("appendices/solutions.html")
    for one in exercises(read(name)):
        copied = solutions.soup.find(id=f"solution-{one.label}")
        assert isinstance(copied, Tag), one.label
        for box in original(page, one.label):
            for part in box.select("section > p, section > div"):
                assert words(part) in words(copied), one.label
    chapter = f"../appendices/solutions.html#{section_id(html.removesuffix('.html'))}"
    links = {str(link["href"]) for link in page.article().select('a[href*="#solutions-"]')}
    assert links in ({chapter}, {chapter.removeprefix("../appendices/")})
