"""The page of solutions: copies of what stands on the pages, with links both ways."""

import re
from pathlib import Path

import pytest
from book_site.solutions import section_id
from bs4 import BeautifulSoup, Tag

from tests.book.built import Site
from tests.book.small import build_small

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
    listed = "```{book-solutions}\n```\n"
    pages = {"start": "# Start\n", "early/one": ONE, "later/two": TWO}
    pages["appendices/solutions"] = f"# Solutions\n\n{listed}"
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
    html = Path(app.outdir)
    return {
        name: BeautifulSoup((html / f"{name}.html").read_text("utf8"), "html.parser")
        for name in pages
    }


def section(soup: BeautifulSoup, anchor: str) -> Tag:
    element = soup.find(id=anchor)
    assert isinstance(element, Tag), anchor
    return element


def test_an_exercise_is_copied_with_all_that_belongs_to_it(small: dict[str, BeautifulSoup]) -> None:
    solutions = small["appendices/solutions"]
    copied = section(solutions, "solution-ex-one-half")
    said = copied.get_text()
    for part in ("Exercise 2", "Halve", "broken = 3", "Solution", "half = 2"):
        assert said.count(part) == 1
    assert "The end." not in said
    titles = [heading.get_text().rstrip("¶") for heading in solutions.select(".body :is(h2, h3)")]
    assert titles == ["Two", "Exercise 1", "One", "Exercise 2"]  # in the order of the book
    # Its links start from where it stands, and it has no anchors but its own.
    anchors = [tag["id"] for tag in section(solutions, section_id("early/one")).find_all(id=True)]
    assert anchors == ["solution-ex-one-half"]
    links = [str(link["href"]) for link in copied.select("a:not(.headerlink)")]
    assert links == [
        "../early/one.html#ex-one-half",
        "../later/two.html",
        "../later/two.html",
        "../early/one.html#equation-eq-one",
        "../early/one.html#here",
    ]


def test_a_page_leads_to_its_solutions_behind_the_last(small: dict[str, BeautifulSoup]) -> None:
    (link,) = small["early/one"].select('a[href*="#solutions-"]')
    assert link["href"] == "../appendices/solutions.html#solutions-early-one"
    (behind,) = small["early/one"].select("p:has(a[href*='#solutions-']) + p")
    assert behind.get_text() == "The end."
    assert not small["start"].select('a[href*="#solutions-"]')


def words(part: Tag) -> str:
    return re.sub(r"\s+", " ", part.get_text()).strip()


def test_every_exercise_of_the_book_is_on_the_page_of_solutions(site: Site) -> None:
    solutions = site.page("appendices/solutions.html")
    copied = 0
    for page in site.chapters:
        boxes = [] if page is solutions else page.article().select(".exercise[id]")
        for asked in boxes:
            there = words(section(solutions.soup, f"solution-{asked['id']}"))
            solved = asked.find_next("div", class_="solution")
            assert isinstance(solved, Tag)
            for box in (asked, solved):
                for part in box.select("section > p, section > div"):
                    assert words(part) in there, (page.name, asked["id"])
            copied += 1
    assert copied > 50
