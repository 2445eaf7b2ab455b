"""The pages of solutions: every exercise with its solution, taken from the pages themselves.

The directive writes a section for every page with exercises, from one page of the book to another.
When the pages have been read, the sections are filled with copies of what stands there, so nothing
is written twice.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node, solution_node

from book_site.contents import read_contents

PAGE = "appendices/solutions"
"""How the names of the pages of solutions begin."""
EXERCISES = (exercise_enumerable_node, exercise_node)


class Exercises(nodes.General, nodes.Element):  # type: ignore[misc]  # docutils is untyped
    """Where the exercises of a page, the attribute `chapter`, will stand."""


class SolutionsDirective(SphinxDirective):
    """`book-solutions FIRST BEHIND`: a section for each page with exercises, up to another page."""

    required_arguments = 1
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        sections: list[nodes.Node] = []
        for chapter in chapters(toc_of(self.env), *self.arguments):
            source = Path(self.env.doc2path(chapter))
            self.env.note_dependency(str(source))
            text = markdown(source)
            if "\n```{exercise}" in text:
                found = re.search(r"^# (.+)$", text, re.MULTILINE)
                title = nodes.title("", found[1] if found else chapter)
                exercises = Exercises(chapter=chapter)
                sections.append(nodes.section("", title, exercises, ids=[section_id(chapter)]))
        return sections


def toc_of(env: BuildEnvironment) -> Path:
    return Path(env.srcdir, env.config.external_toc_path)


def chapters(toc: Path, first: str, behind: str | None = None) -> list[str]:
    """Return the pages of a book from one of them to the one before another, or to the last."""
    names = [one.name for one in read_contents(toc)]
    return names[names.index(first) : names.index(behind) if behind else None]


def page_of(env: BuildEnvironment, chapter: str) -> str | None:
    """Return the page of solutions that has those of a chapter."""
    folder = Path(env.srcdir)
    for path in sorted(folder.glob(f"{PAGE}*.md")):
        ranges = re.findall(r"^```\{book-solutions\} (.+)$", path.read_text("utf-8"), re.M)
        if any(chapter in chapters(toc_of(env), *ends.split()) for ends in ranges):
            return path.relative_to(folder).with_suffix("").as_posix()
    return None


def markdown(source: Path) -> str:
    """Return what a page says, a notebook or a text, without its code."""
    text = source.read_text(encoding="utf-8")
    if source.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def section_id(chapter: str) -> str:
    return f"solutions-{nodes.make_id(chapter)}"


class Collect(SphinxPostTransform):
    """Fill the sections of the page of solutions, before anything in them is resolved."""

    default_priority = 1

    def run(self, **_: Any) -> None:
        for marker in list(self.document.findall(Exercises)):
            chapter = marker["chapter"]
            title = marker.parent.next_node(nodes.title)
            assert title is not None
            link = self._link(chapter, "", title.astext())
            title.clear()
            title += link
            marker.replace_self(list(self._sections(chapter)))

    def _link(self, chapter: str, anchor: str, text: str) -> nodes.reference:
        child = nodes.inline(text, text)
        return make_refnode(self.app.builder, self.env.docname, chapter, anchor, child)

    def _sections(self, chapter: str) -> Iterator[nodes.section]:
        doctree = self.env.get_doctree(chapter)
        numbers = self.env.toc_fignumbers.get(chapter, {}).get("exercise", {})
        for exercise in [node for kind in EXERCISES for node in doctree.findall(kind)]:
            label = exercise["label"]
            number = ".".join(map(str, numbers.get(label, ())))
            given, solution = _until_solution(exercise)
            title = nodes.title("", "", self._link(chapter, label, f"Exercise {number}".strip()))
            section = nodes.section("", title, ids=[f"solution-{label}"])
            section += [child for part in exercise.children[1:] for child in part.children]
            section += given
            box = nodes.admonition(classes=["solution"])
            box += nodes.title("Solution", "Solution")
            box += [child for part in solution.children[1:] for child in part.children]
            section += box
            self._move(section, chapter)
            yield section

    def _move(self, section: nodes.section, chapter: str) -> None:
        """Let copies keep no name of their own, and let their links start from here."""
        page = self.app.builder.get_relative_uri(self.env.docname, chapter)
        for node in list(section.findall(nodes.target)):
            node.parent.remove(node)
        for node in section.findall(nodes.Element):
            if node is not section:
                node["ids"], node["names"] = [], []
            if isinstance(node, nodes.math_block):
                node["label"] = node["number"] = None
            if node.get("reftype") == "doc":
                node["reftarget"] = "/" + str(Path(chapter).parent / node["reftarget"])
            if isinstance(node, nodes.reference) and "refid" in node:
                node["refuri"] = f"{page}#{node['refid']}"
                del node["refid"]
            if "refdoc" in node:
                node["refdoc"] = self.env.docname


def _until_solution(exercise: nodes.Element) -> tuple[Sequence[nodes.Node], nodes.Element]:
    behind = exercise.parent.children[exercise.parent.index(exercise) + 1 :]
    for index, node in enumerate(behind):
        if isinstance(node, solution_node):
            return behind[:index], node
    raise ValueError(f"the exercise {exercise['label']} has no solution")


class PointBack(SphinxPostTransform):
    """Say behind the last solution of a page where they stand together."""

    default_priority = 1

    def run(self, **_: Any) -> None:
        solutions = list(self.document.findall(solution_node))
        page = self.env.docname
        home = page_of(self.env, page) if solutions else None
        if home is None:
            return
        last = solutions[-1]
        words = nodes.inline("", "These exercises and their solutions, open, on one page")
        link = make_refnode(self.app.builder, page, home, section_id(page), words)
        last.parent.insert(last.parent.index(last) + 1, nodes.paragraph("", "", link))


def setup(app: Sphinx) -> None:
    app.add_node(Exercises)
    app.add_directive("book-solutions", SolutionsDirective)
    app.add_post_transform(Collect)
    app.add_post_transform(PointBack)
