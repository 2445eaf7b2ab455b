"""The shape of a lesson, as far as it can be counted.

A page is a lesson if its metadata say so and name its evidence, a page in the same folder:
`"lesson": {"evidence": "align_evidence"}`. What a lesson is beyond that, no test can say.

A lesson whose subject is code may show more of it: `"code_lines": {"most": 170, "because": "..."}`
beside its evidence gives it a limit of its own. Then more than one printed source may be long.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from experiments.fold import FOLDS, OUTPUTS, SOURCE
from tests.book.test_notebooks import Page, text
from tests.book.test_page_exercises import exercises, mentions

FEWEST_WORDS, MOST_WORDS = 1200, 2000
MOST_LINES, LONGEST_CELL, LONGEST_SOURCE = 60, 20, 35
FEWEST_EXERCISES = 3

EXERCISES = re.compile(r"^## Exercises\b|^[`:]{3,}\{exercise\}", re.MULTILINE)
BEFORE = re.compile(r"^\W*Before this lesson\b.*(?:\n.+)*", re.MULTILINE)
TABLE = re.compile(r"^\|\s*Claim\s*\|\s*Number\s*\|\s*Verdict\s*\|\s*Section\s*\|", re.MULTILINE)
FENCE = re.compile(r"\s*(`{3,}|:{3,}|~{3,})\s*(?:\{([\w:-]+)\}|(\w*))")
NO_PROSE = (
    "math", "code", "code-block", "code-cell", "figure", "image", "glue:figure", "gloss", "table",
    "list-table", "exercise", "solution-start", "solution-end", "raw",
)  # fmt: skip
PYTHON = ("python", "py", "python3", "code", "code-block", "code-cell")


@dataclass(frozen=True)
class Lesson:
    """A lesson and what belongs to it.

    Attributes:
        page: the notebook.
        evidence: the notebook or text of its evidence, whose name its metadata give; None if there
            is none.
        name: of the evidence, without its suffix.
        children: the names of the pages right below it in the table of contents.
    """

    page: Page
    evidence: Page | None
    name: str
    children: tuple[str, ...]


# What a page consists of


def hidden(cell: Page, part: str) -> bool:
    """Tell whether a part of a cell, its source or its outputs, is folded or left out."""
    return any(part in FOLDS.get(tag, ()) for tag in cell["metadata"].get("tags", ()))


def in_view(page: Page) -> Iterator[Page]:
    """Yield the cells that are no part of a solution, which is folded."""
    inside = False
    for cell in page["cells"]:
        source = text(cell["source"])
        if cell["cell_type"] == "code":
            if not inside:
                yield cell
            continue
        kept: list[str] = []
        for line in source.splitlines(keepends=True):
            inside = inside or "{solution-start}" in line
            kept += [] if inside else [line]
            inside = inside and "{solution-end}" not in line
        yield cell | {"source": "".join(kept)}


def before_exercises(page: Page) -> Page:
    """Return a page without its exercises and what follows them."""
    cells: list[Page] = []
    for cell in page["cells"]:
        source = text(cell["source"])
        start = EXERCISES.search(source) if cell["cell_type"] == "markdown" else None
        if start:
            cells.append(cell | {"source": source[: start.start()]})
            break
        cells.append(cell)
    return page | {"cells": cells}


def texts(page: Page) -> Iterator[str]:
    for cell in in_view(page):
        if cell["cell_type"] == "markdown":
            yield text(cell["source"])


def fenced(source: str) -> Iterator[tuple[str, str]]:
    r"""Yield the lines of a text with the kinds of block that they stand in, outermost first.

    A kind is the name of a directive, else the language of the code; the fences are left out.

    >>> list(fenced("a\n```{note} Title\n:class: x\nb\n```\n```python\nc\n```"))
    [('', 'a'), ('note', ':class: x'), ('note', 'b'), ('python', 'c')]
    """
    open_fences: list[tuple[str, str]] = []
    for line in source.splitlines():
        fence = FENCE.match(line)
        if fence and open_fences and line.strip() == fence[1]:
            mark = open_fences[-1][0]
            if fence[1][0] == mark[0] and len(fence[1]) >= len(mark):
                open_fences.pop()
                continue
        if fence and not (open_fences and open_fences[-1][1] in PYTHON):
            open_fences.append((fence[1], fence[2] or fence[3] or "text"))
            continue
        yield " ".join(kind for _, kind in open_fences), line


def words(source: str) -> int:
    r"""Count the words of prose: no headings, tables, code, pictures or displayed formulas.

    A formula in a line of text is one word.

    >>> words("# Title\nTwo $a + b$ words, {cite:t}`one2015`.\n\n| a | b |\n$$\nx\n$$")
    4
    """
    lines = [
        line
        for kinds, line in fenced(source)
        if not any(kind in NO_PROSE or kind in (*PYTHON, "text") for kind in kinds.split())
        and not re.match(r"\s*(?:#{1,6} |\||:[\w-]+:|%)|\s*\([\w-]+\)=\s*$", line)
    ]
    prose = re.sub(r"\$\$.*?\$\$", " ", "\n".join(lines), flags=re.DOTALL)
    prose = re.sub(r"\$[^$]+\$", "formula", prose)
    prose = re.sub(r"\{[\w:]+\}`[^`]*`", "role", prose)
    prose = re.sub(r"!\[[^\]]*\]\([^)]*\)|<[^>]+>", " ", prose)
    prose = re.sub(r"\]\([^)]*\)", "]", prose)
    return sum(1 for word in prose.split() if re.search(r"\w", word))


class Shown(NamedTuple):
    """Code in view: of a cell, of the text, or printed from the package."""

    where: str
    lines: int
    printed: bool = False


def filled(code: str) -> int:
    """Count the lines that are not blank."""
    return sum(1 for line in code.splitlines() if line.strip())


def code_in_view(page: Page) -> Iterator[Shown]:
    """Yield the code that a reader sees without opening anything, printed sources included."""
    for cell in in_view(page):
        where = f"cell {cell.get('id')}"
        if cell["cell_type"] == "markdown":
            lines = [line for kinds, line in fenced(text(cell["source"])) if kinds in PYTHON]
            if lines:
                yield Shown(where, filled("\n".join(lines)))
            continue
        if not hidden(cell, SOURCE):
            yield Shown(where, filled(text(cell["source"])))
        for data in outputs_in_view(cell):
            if 'class="am-source"' in text(data.get("text/html", "")):
                printed = re.sub(r"(?m)^# companion\.[\w.]+$", "", text(data["text/plain"]))
                yield Shown(where, filled(printed), printed=True)


def outputs_in_view(cell: Page) -> Iterator[dict[str, Any]]:
    """Yield what the outputs of a cell hold, by kind; what was printed is text."""
    if hidden(cell, OUTPUTS):
        return
    for output in cell.get("outputs", ()):
        yield output.get("data", {"text/plain": output.get("text", "")})


def asserts(node: ast.AST) -> bool:
    """Tell whether a piece of code only checks something."""
    if isinstance(node, ast.Call):
        return "assert" in ast.unparse(node.func)
    return isinstance(node, ast.Assert)


def fixed_sentence(node: ast.AST) -> str | None:
    """Return what a call of print writes whatever was computed; None if it is another thing."""
    if not isinstance(node, ast.Call) or ast.unparse(node.func) != "print":
        return None
    given = [part.value for part in node.args if isinstance(part, ast.Constant)]
    return " ".join(map(str, given)) if len(given) == len(node.args) else None


def shows_something(cell: Page, fixed: set[str]) -> bool:
    """Tell whether more comes out of a cell than fixed sentences and True."""
    said = "\n".join(text(data.get("text/plain", "")) for data in outputs_in_view(cell))
    lines = {line.strip() for line in said.splitlines()}
    return bool(lines - fixed - {"", "True", "False", "np.True_", "np.False_"})


def bound(tree: ast.Module) -> set[str]:
    """Return the names that a cell defines."""
    names = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return names | {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def used(tree: ast.Module) -> set[str]:
    """Return the names that a cell reads."""
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def only_tests(cells: list[Page]) -> Iterator[str]:
    """Yield the cells in view that only assert, print a fixed sentence, or print True."""
    later: set[str] = set()
    for cell in reversed(cells):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse(text(cell["source"]))
        nodes = list(ast.walk(tree))
        fixed = {said.strip() for node in nodes if (said := fixed_sentence(node)) is not None}
        says = bool(fixed) or any(map(asserts, nodes)) or any(outputs_in_view(cell))
        if not (hidden(cell, SOURCE) or shows_something(cell, fixed) or bound(tree) & later):
            yield from [f"cell {cell.get('id')}"] * says
        later |= used(tree)


# What is asked of a lesson


def has_the_right_length(lesson: Lesson) -> Iterator[str]:
    count = sum(map(words, texts(before_exercises(lesson.page))))
    if not FEWEST_WORDS <= count <= MOST_WORDS:
        yield f"{count} words before the exercises, wanted {FEWEST_WORDS} to {MOST_WORDS}"


def own_limit(page: Page) -> tuple[int, str] | None:
    """Return how many lines of code a page may show, and why, if its metadata say so."""
    given = page["metadata"].get("lesson", {}).get("code_lines")
    return None if given is None else (given["most"], given.get("because", ""))


def shows_little_code(lesson: Lesson) -> Iterator[str]:
    shown = list(code_in_view(lesson.page))
    total = sum(one.lines for one in shown)
    own = own_limit(lesson.page)
    most, because = own or (MOST_LINES, "the limit of every lesson")
    if not because.strip():
        yield f"code_lines: got {most} without a reason, wanted one"
    if total > most:
        yield f"{total} lines of code in view, at most {most}"
    for one in shown:
        if one.lines > (LONGEST_SOURCE if one.printed else LONGEST_CELL):
            yield f"{one.where}: {one.lines} lines of code"
    long = [one for one in shown if one.printed and one.lines > LONGEST_CELL]
    if len(long) > 1 and own is None:
        yield f"{len(long)} printed sources of more than {LONGEST_CELL} lines, at most one"


def shows_no_tests(lesson: Lesson) -> Iterator[str]:
    for where in only_tests(list(in_view(before_exercises(lesson.page)))):
        yield f"{where} only tests: print the number, and fold the assertion"


def can_be_touched(lesson: Lesson) -> Iterator[str]:
    cells = [c for c in before_exercises(lesson.page)["cells"] if c["cell_type"] == "code"]
    html = [text(data.get("text/html", "")) for cell in cells for data in outputs_in_view(cell)]
    if not any(mark in said for said in html for mark in ("data-am-live=", "data-play=")):
        yield "nothing to touch before the exercises"


def has_exercises_with_checks(lesson: Lesson) -> Iterator[str]:
    try:
        found = exercises(lesson.page)
    except ValueError as error:
        yield str(error)
        return
    checked = [one for one in found if mentions([*one.given, *one.solution])]
    if len(checked) < FEWEST_EXERCISES:
        yield f"{len(checked)} exercises with a check, at least {FEWEST_EXERCISES}"


def says_what_to_have_read(lesson: Lesson) -> Iterator[str]:
    opening = "\n".join(texts(lesson.page)).partition("\n## ")[0]
    line = BEFORE.search(opening)
    if not line or not ("](" in line[0] or "nothing" in line[0]):
        yield 'no line "Before this lesson, ..." that has a link, or says that nothing is needed'


def links_its_evidence(lesson: Lesson) -> Iterator[str]:
    link = re.compile(rf"\]\({re.escape(lesson.name)}(?:\.\w+)?(?:#[^)]*)?\)")
    cells = list(in_view(lesson.page))
    for number, cell in enumerate(cells):
        if cell["cell_type"] != "code" or "measured(" not in text(cell["source"]):
            continue
        above = text(cells[number - 1]["source"]) if number else ""
        near = [above.strip().rpartition("\n\n")[2], *map(text_of, cells[number + 1 : number + 2])]
        if not any(link.search(part) for part in near):
            yield f"cell {cell.get('id')}: no link to {lesson.name} beside the result"


def text_of(cell: Page) -> str:
    """Return what a cell says, if it is text."""
    return text(cell["source"]) if cell["cell_type"] == "markdown" else ""


def has_its_evidence_below(lesson: Lesson) -> Iterator[str]:
    if lesson.evidence is None or lesson.name not in lesson.children:
        yield f"{lesson.name} is not below it in _toc.yml"


def evidence_opens_with_a_table(lesson: Lesson) -> Iterator[str]:
    if lesson.evidence is None:
        return
    for cell in lesson.evidence["cells"]:
        opening, section, _ = f"\n{text_of(cell)}".partition("\n## ")
        shown = [text(data.get("text/html", "")) for data in outputs_in_view(cell)]
        if TABLE.search(opening) or any("am-claims" in html for html in shown):
            return
        if section:
            break
    yield f"{lesson.name} does not open with a table of claim, number, verdict and section"


Rule = Callable[[Lesson], Iterator[str]]
RULES: tuple[Rule, ...] = (
    has_the_right_length,
    shows_little_code,
    shows_no_tests,
    can_be_touched,
    has_exercises_with_checks,
    says_what_to_have_read,
    links_its_evidence,
    has_its_evidence_below,
    evidence_opens_with_a_table,
)


def problems(lesson: Lesson) -> Iterator[str]:
    """Yield what keeps a page from having the shape of a lesson."""
    for rule in RULES:
        yield from (f"{rule.__name__}: {problem}" for problem in rule(lesson))
