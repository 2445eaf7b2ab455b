"""The directives `book-notation`, the table of symbols that all lessons share, and `gloss`.

The data of the table are `notation.yml` in the folder of the book: a list of mappings with
`symbols` (formulas), `meaning`, and, where there are any, `code` (names in the package) and `pages`
(the only pages on which the meaning holds, from the folder of the book).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import yaml
from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from bookkit.notebook import gloss

FILE = "notation.yml"


def read_notation(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of the table in a folder, or raise a ValueError at a wrong one."""
    rows: list[dict[str, Any]] = yaml.safe_load((folder / FILE).read_text(encoding="utf-8"))
    for row in rows:
        if not {"symbols", "meaning"} <= row.keys() <= {"symbols", "meaning", "code", "pages"}:
            raise ValueError(f"{FILE}: got {sorted(row)}, wanted symbols, meaning, code, pages")
    return rows


def as_table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the lines of a table in Markdown.

    >>> row = {"symbols": ["$i$"], "meaning": "A row", "code": ["q"], "pages": ["history/align"]}
    >>> as_table([row])[-1]
    '| $i$ | A row: `q` | {doc}`/history/align` |'
    """
    lines = ["| Symbol | Meaning, and name in code | Only on |", "|---|---|---|"]
    for row in rows:
        names = ", ".join(f"`{name}`" for name in row.get("code", ()))
        said = f"{row['meaning']}: {names}" if names else row["meaning"]
        where = ", ".join(f"{{doc}}`/{name}`" for name in row.get("pages", ()))
        lines.append(f"| {', '.join(row['symbols'])} | {said} | {where} |")
    return lines


class NotationDirective(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        folder = Path(self.env.srcdir)
        self.env.note_dependency(str(folder / FILE))
        parent = nodes.Element()
        lines = as_table(read_notation(folder))
        self.state.nested_parse(StringList(lines, FILE), self.content_offset, parent)
        return list(parent.children)


class GlossDirective(SphinxDirective):
    """`gloss`: a sentence of another language with the English word under each word.

    Its lines are the sentence, one English word for each of its words (hyphens join several), and,
    if wanted, the sentence in good English. A cell shows the same by `bookkit.notebook.gloss`.
    """

    has_content = True
    option_spec: ClassVar = {"language": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        lines = [line for line in self.content if line.strip()]
        if len(lines) not in (2, 3):
            raise self.error(
                f"gloss: got {len(lines)} lines, wanted a sentence, a gloss for each of its words, "
                "and perhaps a translation"
            )
        try:
            shown = gloss(*lines, language=self.options.get("language", "es"))
        except ValueError as fault:
            raise self.error(str(fault)) from None
        return [nodes.raw("", shown.html(), format="html")]


def setup(app: Sphinx) -> None:
    app.add_directive("book-notation", NotationDirective)
    app.add_directive("gloss", GlossDirective)
