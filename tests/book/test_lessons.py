"""Every lesson has the shape of one, and for every part of that shape a page that breaks it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.book import lesson as shape
from tests.book.lesson import (
    RULES,
    Lesson,
    Rule,
    before_exercises,
    code_in_view,
    in_view,
    only_tests,
    problems,
    words,
)
from tests.book.test_notebooks import ROOT, Page, pages, put, replaced, text
from tests.book.test_page_exercises import PROMISE


def children(toc: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the pages of a table of contents, each with the names of those right below it."""
    if isinstance(toc, list):
        for part in toc:
            yield from children(part)
    elif isinstance(toc, dict):
        if "file" in toc:
            files = [part["file"] for part in toc.get("sections", ()) if "file" in part]
            yield toc["file"], tuple(Path(file).name for file in files)
        for part in toc.values():
            yield from children(part)


def read(path: Path) -> Page | None:
    """Return a page: a notebook, or a text as one with a single cell."""
    if path.with_suffix(".ipynb").exists():
        page: Page = json.loads(path.with_suffix(".ipynb").read_text(encoding="utf8"))
        return page
    if path.with_suffix(".md").exists():
        source = path.with_suffix(".md").read_text(encoding="utf8")
        return {"cells": [{"cell_type": "markdown", "metadata": {}, "source": source}]}
    return None


def lessons() -> Iterator[tuple[str, Lesson]]:
    """Yield the pages of the book that say that they are lessons."""
    below = dict(children(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf8"))))
    for name in pages():
        page = json.loads((ROOT / name).read_text(encoding="utf8"))
        if declared := page["metadata"].get("lesson"):
            evidence = declared["evidence"]
            listed = below[name.removeprefix("book/").removesuffix(".ipynb")]
            yield name, Lesson(page, read((ROOT / name).with_name(evidence)), evidence, listed)


def test_every_lesson_has_the_shape_of_one() -> None:
    assert {name: found for name, one in lessons() if (found := list(problems(one)))} == {}


# A page of which nothing is wrong


def prose(source: str) -> Page:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def code(source: str, *outputs: Page, tags: tuple[str, ...] = (), name: str = "c") -> Page:
    return {
        "cell_type": "code", "id": name, "metadata": {"tags": list(tags)}, "source": source,
        "outputs": list(outputs),
    }  # fmt: skip


def said(words: str) -> Page:
    return {"output_type": "stream", "name": "stdout", "text": [words]}


def shown(plain: str, html: str) -> Page:
    return {"output_type": "execute_result", "data": {"text/plain": plain, "text/html": html}}


def exercise(name: str) -> list[Page]:
    return [
        prose(f"```{{exercise}}\n:label: ex-page-{name}\nDo `exercises.check_{name}(x)`\n```\n"),
        prose(f"```{{solution-start}} ex-page-{name}\n:class: dropdown\n```"),
        code(f"x = 1\nexercises.check_{name}(x)", said("Right.")),
        prose("```{solution-end}\n```"),
    ]


SOURCE = "# companion.scores\n" + "\n".join(["line"] * 30)
TABLE = '<table class="table am-claims"></table>'


def sound_lesson() -> Lesson:
    """Return a short lesson, made up, of which nothing is wrong."""
    opening = "# Title\n\n**Before this lesson**, read [the one before](before.ipynb).\n\n"
    cells = [
        prose(opening + "word " * 700 + "\n\n## Section\n\n" + "more " * 600),
        code("live()", shown("A slider.", '<figure data-am-live="softmax"></figure>')),
        code("show_source(f)", shown(SOURCE, '<div class="am-source"></div>'), name="source"),
        code("a = compute()\nprint(a)", said("0.5\n"), name="number"),
        code("assert a == 0.5", tags=("remove-cell",), name="proof"),
        prose("What did we find?"),
        code('measured("study/claim")', shown("Measured", "<div></div>"), name="box"),
        prose("[How we measured this](page_evidence.ipynb#the-runs) is on a page of its own."),
        prose(f"## Exercises\n\n{PROMISE}\n"),
        *exercise("one"), *exercise("two"), *exercise("three"),
        prose("## Where to read on"),
    ]  # fmt: skip
    evidence = {
        "cells": [
            prose("# Evidence\n\nThe answer."),
            code("claims_table()", shown("", TABLE)),
            prose("## First"),
        ]
    }
    return Lesson({"cells": cells, "metadata": {}}, evidence, "page_evidence", ("page_evidence",))


def test_a_sound_lesson_has_no_problems() -> None:
    assert list(problems(sound_lesson())) == []


def inserted(cell: int, *new: Page) -> Callable[[Page], None]:
    def change(page: Page) -> None:
        page["cells"][cell:cell] = new

    return change


def without(first: int, last: int) -> Callable[[Page], None]:
    def change(page: Page) -> None:
        del page["cells"][first:last]

    return change


def lines(count: int, printed: str = "") -> Page:
    return code("\n".join(["x = 1"] * count), *([said(printed)] if printed else []), name="long")


BREAKS: list[tuple[Rule, str, Callable[[Page], None]]] = [
    (shape.has_the_right_length, "1122 words", replaced(0, "more " * 600, "more " * 400)),
    (shape.has_the_right_length, "2122 words", replaced(0, "more " * 600, "more " * 1400)),
    (shape.shows_little_code, "21 lines of code", inserted(3, lines(21, "1"))),
    (shape.shows_little_code, "65 lines of code in view", inserted(
        3, lines(15, "1"), lines(15, "1"))),
    (shape.shows_little_code, "21 lines", inserted(
        1, prose("\n".join(["```python", *["x = 1"] * 21, "```"])))),
    (shape.shows_little_code, "36 lines", put(
        "\n".join(["line"] * 36), "cells", 2, "outputs", 0, "data", "text/plain")),
    (shape.shows_little_code, "2 printed sources", inserted(
        3, code("show()", shown("\n".join(["a"] * 21), '<p class="am-source">'), name="more"))),
    (shape.shows_no_tests, "cell proof", put([], "cells", 4, "metadata", "tags")),
    (shape.shows_no_tests, "cell new", inserted(
        4, code('assert a == 0.5\nprint("It is half.")', said("It is half.\n"), name="new"))),
    (shape.shows_no_tests, "cell new", inserted(
        4, code("a == 0.5", shown("True", ""), name="new"))),
    (shape.shows_no_tests, "cell new", inserted(
        4, code("np.testing.assert_allclose(a, 0.5)", name="new"))),
    (shape.can_be_touched, "nothing to touch", put([], "cells", 1, "outputs")),
    (shape.can_be_touched, "nothing to touch", put(
        ["remove-output"], "cells", 1, "metadata", "tags")),
    (shape.has_exercises_with_checks, "2 exercises", without(9, 13)),
    (shape.has_exercises_with_checks, "2 exercises", replaced(11, "exercises.check_", "solve_")),
    (shape.has_exercises_with_checks, "missing at the end", without(20, 21)),
    (shape.says_what_to_have_read, "no line", replaced(0, "**Before this lesson**, read", "Of")),
    (shape.says_what_to_have_read, "no line", replaced(0, "[the one before](before.ipynb)", "it")),
    (shape.links_its_evidence, "cell box", replaced(7, "page_evidence", "other")),
    (shape.links_its_evidence, "cell box", inserted(7, prose("And so on."))),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "says", "change"), BREAKS)
def test_a_page_that_breaks_a_rule_is_found(
    rule: Rule, says: str, change: Callable[[Page], None]
) -> None:
    one = sound_lesson()
    change(one.page)
    assert any(says in problem for problem in rule(one)), list(rule(one))
    assert [other.__name__ for other in RULES if other is not rule and any(other(one))] == []


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        (shape.has_its_evidence_below, {"children": ("other",)}),
        (shape.has_its_evidence_below, {"evidence": None}),
        (shape.evidence_opens_with_a_table, {"evidence": {"cells": [prose("# A\n\n## B")]}}),
        (
            shape.evidence_opens_with_a_table,
            {"evidence": {"cells": [prose("# A\n\n## B"), code("", shown("", TABLE))]}},
        ),
    ],
)
def test_a_lesson_without_sound_evidence_is_found(rule: Rule, changes: dict[str, Any]) -> None:
    one = sound_lesson()
    broken = Lesson(**(vars(one) | changes))
    assert [other for other in RULES if any(other(broken))] == [rule]


def test_every_rule_has_a_page_that_breaks_it() -> None:
    here = {shape.has_its_evidence_below, shape.evidence_opens_with_a_table}
    assert {rule for rule, _, _ in BREAKS} | here == set(RULES)


def test_the_table_of_an_evidence_page_may_be_written() -> None:
    written = "# A\n\n| Claim | Number | Verdict | Section |\n|---|---|---|---|\n\n## B"
    one = Lesson(**(vars(sound_lesson()) | {"evidence": {"cells": [prose(written)]}}))
    assert list(shape.evidence_opens_with_a_table(one)) == []


# What is counted


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("One two, three.", 3),
        ("## A heading\n\nOne – two", 2),
        ("```{admonition} Title\n:class: note\nOne two.\n```\nThree.", 3),
        ("````{note}\nOne.\n```python\na = 1\n```\nTwo.\n````", 2),
        (":::{margin}\nOne two.\n:::", 2),
        ("```{math}\n:label: eq-a\na + b\n```\nOne.", 1),
        ("$$\na + b\n$$\n\nOne $a + b$ two.", 3),
        ("```{gloss}\nla casa\nthe house\n```\nOne.", 1),
        ("| a | b |\n|---|---|\n| c | d |\n\nOne.", 1),
        ("One [two three](four.ipynb) and {term}`five six`.", 5),
        ("![One two](three.svg) four", 1),
        ("(label)=\n% comment\nOne.", 1),
        ("- one\n- two", 2),
    ],
)
def test_words_are_those_of_the_prose(source: str, count: int) -> None:
    assert words(source) == count


def test_solutions_and_exercises_are_left_out_where_they_do_not_count() -> None:
    page = sound_lesson().page
    assert text(before_exercises(page)["cells"][-1]["source"]) == ""
    assert [c for c in before_exercises(page)["cells"] if "check_" in text(c["source"])] == []
    solved = [c for c in in_view(page) if "exercises.check_one(x)" in text(c["source"])]
    assert [cell["cell_type"] for cell in solved] == ["markdown"]


def test_code_in_view_is_what_is_neither_folded_nor_blank() -> None:
    page = copy.deepcopy(sound_lesson().page)
    assert [(one.lines, one.printed) for one in code_in_view(page)] == [
        (1, False), (1, False), (30, True), (2, False), (1, False),
    ]  # fmt: skip
    page["cells"][3]["source"] = "a = 1\n\n\nb = 2"
    assert [one.lines for one in code_in_view(page)][3] == 2


@pytest.mark.parametrize(
    "cell",
    [
        code("b = f(a)\nassert b > 0\nprint(b)", said("0.1\n")),
        code("b = f(a)\nassert b > 0", name="used later"),
        code("assert a", tags=("hide-input",)),
        code("def g():\n    return a\n\n\nb = g()"),
        code('print("a is", a)', said("a is 3\n")),
        code("plt.show()", shown("<Figure>", "")),
    ],
)
def test_a_cell_that_shows_or_makes_something_is_no_test(cell: Page) -> None:
    assert list(only_tests([cell, code("print(b)", said("1\n"))])) == []


def test_children_are_those_right_below() -> None:
    toc = {
        "root": "start",
        "parts": [{"chapters": [
            {"file": "a/one", "sections": [{"file": "a/one_evidence", "sections": []}]},
            {"file": "a/two"},
        ]}],
    }  # fmt: skip
    assert dict(children(toc)) == {
        "a/one": ("one_evidence",), "a/one_evidence": (), "a/two": (),
    }  # fmt: skip
