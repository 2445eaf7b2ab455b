"""The exercises that every page closes with: their order, their checks and their solutions.

That a solution passes its check is seen when the page runs again; here it is seen that the page
does ask the check, of every exercise. What the checks say is seen in tests/bookkit/exercises.
"""

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bookkit.exercises import exercise
from tests.book.test_lessons import EVIDENCE
from tests.book.test_notebooks import Page, pages, read, text

WITHOUT_EXERCISES = {
    "book/start/start.ipynb",
    "book/start/measure.ipynb",
    "book/start/register.ipynb",
    "book/today/atlas_evidence.ipynb",
    "book/appendices/architectures.ipynb",  # to look things up in
    "book/appendices/doctor.ipynb",
}
DIRECTIVE = re.compile(
    r"^```\{(exercise|solution-start|solution-end)\}.*\n(?::label: (\S+)\n)?((?:.*\n)*?)```$",
    re.MULTILINE,
)


@dataclass
class Exercise:
    """An exercise of a page."""

    label: str
    asked: str
    given: list[Page] = field(default_factory=list)  # code between the text and the solution
    solution: list[Page] = field(default_factory=list)


def exercises(page: Page) -> list[Exercise]:
    """Return the exercises of a page; that each has its own solution, the build makes sure."""
    found: list[Exercise] = []
    last = ""
    for cell in page["cells"]:
        if cell["cell_type"] == "code":
            if last == "exercise":
                found[-1].given.append(cell)
            elif last == "solution-start":
                found[-1].solution.append(cell)
            continue
        for last, label, asked in DIRECTIVE.findall(text(cell["source"])):
            if last == "exercise":
                found.append(Exercise(label, asked))
    return found


def asks(one: Exercise) -> list[str]:
    """Return the checks that a solution calls outright, so that the page stops if one fails."""
    lines = [line for cell in one.solution for line in text(cell["source"]).splitlines()]
    return [call[1] for line in lines if (call := re.match(r"(?:\w+\.)?(check_\w+)\(", line))]


def problems(page: Page, defined: set[str]) -> Iterator[str]:
    """Yield what is wrong with the exercises of a page, for which some checks were written."""
    parts = "\n".join(text(c["source"]) for c in page["cells"] if c["cell_type"] == "markdown")
    found = exercises(page)
    for one in found:
        if f"```{{solution-start}} {one.label}\n:class: dropdown\n```" not in parts:
            yield f"the solution of {one.label} is missing, or not folded"
        yield from check_problems(one)
    used = sorted(name for one in found for name in asks(one))
    if used != sorted(defined):
        yield f"solutions call {used}, wanted once each: {sorted(defined)}"


def check_problems(one: Exercise) -> Iterator[str]:
    asked = asks(one)
    if len(asked) != 1:
        yield f"{one.label}: the solution calls {asked}, wanted one check, outside of try"
        return
    if not re.search(rf"\b{asked[0]}\(\w+(?:, \w+)*\)", one.asked):
        yield f"{one.label}: the text does not tell how to call {asked[0]}"
    cells = [*one.given, *one.solution]
    if set(re.findall(r"\bcheck_\w+(?=\()", "\n".join(text(c["source"]) for c in cells))) != {
        *asked
    }:
        yield f"{one.label}: the check of another exercise is called"
    # A stub, too, would have to print it.
    said = "".join(text(output.get("text", "")) for cell in cells for output in cell["outputs"])
    if said.splitlines().count("Right.") != 1:
        yield f'{one.label}: "Right." does not stand there once: one answer passes, one does not'


# The pages


def checks_of(page: Page) -> set[str]:
    """Return the names of the exercises in the module that the page imports."""
    sources = "\n".join(text(cell["source"]) for cell in page["cells"])
    names = re.findall(
        r"^from bookkit\.exercises(?:\.| import )(\w+)|\bbegin\(\"(\w+)\"\)", sources, re.MULTILINE
    )
    (name,) = {imported or begun for imported, begun in names}
    defined = vars(importlib.import_module(f"bookkit.exercises.{name}"))
    return {name for name, one in defined.items() if isinstance(one, exercise.Exercise)}


def test_exercises_of_all_pages() -> None:
    faults = [
        (name, problem)
        for name in pages()
        if name not in WITHOUT_EXERCISES | {*EVIDENCE.values()}  # whose exercises are the lessons'
        for page in [read(name)]
        for problem in problems(page, checks_of(page))
    ]
    assert faults == []
