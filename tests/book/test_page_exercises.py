"""The exercises that every page closes with: their order, their checks and their solutions.

That a solution passes its check is seen when the page runs again; here it is seen that the page
does ask the check, of every exercise. What the checks say is seen in tests/bookkit/exercises.
"""

import ast
import importlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from bookkit.exercises import exercise
from tests.book.test_notebooks import Page, pages, read, text

WITHOUT_EXERCISES = {
    "book/start/start.ipynb",
    "book/start/measure.ipynb",
    "book/today/atlas.ipynb",  # to look things up in, and so is its evidence
    "book/today/atlas_evidence.ipynb",
}
PROMISE = 'Each check prints "Right." or says what may have happened.'
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


def check_name(call: ast.expr) -> str:
    """Return the name of the exercise whose check is called, or nothing."""
    if not isinstance(call, ast.Call):
        return ""
    name = ast.unparse(call.func).rpartition(".")[2]
    return name if name.startswith("check_") else ""


def asks(cells: list[Page]) -> list[str]:
    """Return the checks that the cells call outright, so that the page stops if one fails."""
    lines = [line for cell in cells for line in ast.parse(text(cell["source"])).body]
    calls = [check_name(line.value) for line in lines if isinstance(line, ast.Expr)]
    return [name for name in calls if name]


def mentions(cells: list[Page]) -> set[str]:
    """Return the checks that the cells call in any way."""
    parts = [part for cell in cells for part in ast.walk(ast.parse(text(cell["source"])))]
    return {name for part in parts if isinstance(part, ast.expr) and (name := check_name(part))}


def said(cells: list[Page]) -> list[str]:
    """Return the lines that the cells printed."""
    outputs = [output for cell in cells for output in cell["outputs"]]
    return "\n".join(text(output.get("text", "")) for output in outputs).splitlines()


def checks(module: ModuleType) -> set[str]:
    """Return the names of the exercises that a module defines."""
    return {name for name, one in vars(module).items() if isinstance(one, exercise.Exercise)}


# What is asked of a page


def problems(page: Page, defined: set[str]) -> Iterator[str]:
    """Yield what is wrong with the exercises of a page, for which some checks were written."""
    found = exercises(page)
    yield from shape_problems(page, found)
    for one in found:
        yield from check_problems(one)
    used = Counter(name for one in found for name in asks(one.solution))
    if set(used) != defined or max(used.values()) > 1:
        yield f"solutions call {dict(used)}, wanted once each: {sorted(defined)}"


def shape_problems(page: Page, found: list[Exercise]) -> Iterator[str]:
    parts = [text(cell["source"]) for cell in page["cells"] if cell["cell_type"] == "markdown"]
    titles = re.findall(r"^## .*$", "\n".join(parts), re.MULTILINE)
    if titles[-2:] != ["## Exercises", "## Where to read on"]:
        yield f"the page closes with {titles[-2:]}"
    if not any(f"## Exercises\n\n{PROMISE}\n\n```{{exercise}}\n" in part for part in parts):
        yield "the exercises do not begin with what a check does"
    for one in found:
        if f"```{{solution-start}} {one.label}\n:class: dropdown\n```" not in "\n".join(parts):
            yield f"the solution of {one.label} is missing, or not folded"
    names = [one.label.split("-") for one in found]
    if any(len(name) < 3 or name[0] != "ex" for name in names):
        yield "a label is not ex-PAGE-NAME"
    if len({name[1] for name in names}) > 1 or len({one.label for one in found}) < len(found):
        yield f"labels are not alike: {names}"


def check_problems(one: Exercise) -> Iterator[str]:
    asked = asks(one.solution)
    if len(asked) != 1:
        yield f"{one.label}: the solution calls {asked}, wanted one check, outside of try"
        return
    if not re.search(rf"\b{asked[0]}\(\w+(?:, \w+)*\)", one.asked):
        yield f"{one.label}: the text does not tell how to call {asked[0]}"
    if mentions([*one.given, *one.solution]) != set(asked):
        yield f"{one.label}: the check of another exercise is called"
    # A stub, too, would have to print it.
    if said([*one.given, *one.solution]).count("Right.") != 1:
        yield f'{one.label}: "Right." does not stand there once: one answer passes, one does not'


# The pages


def evidence() -> set[str]:
    """Return the pages on which the evidence of a lesson stands: the exercises are the lesson's."""
    lessons = {name: read(name)["metadata"].get("lesson") for name in pages()}
    return {
        str(Path(name).with_name(f"{declared['evidence']}.ipynb"))
        for name, declared in lessons.items()
        if declared
    }


def with_exercises() -> list[str]:
    return [name for name in pages() if name not in WITHOUT_EXERCISES | evidence()]


def module_of(page: Page) -> ModuleType:
    """Return the module of the exercises, which the page imports."""
    sources = "\n".join(text(cell["source"]) for cell in page["cells"])
    names = re.findall(
        r"^from bookkit\.exercises(?:\.| import )(\w+)|\bbegin\(\"(\w+)\"\)", sources, re.MULTILINE
    )
    (name,) = {imported or begun for imported, begun in names}
    return importlib.import_module(f"bookkit.exercises.{name}")


def test_exercises_of_all_pages() -> None:
    faults = [
        (name, problem)
        for name in with_exercises()
        for page in [read(name)]
        for problem in problems(page, checks(module_of(page)))
    ]
    assert faults == []
