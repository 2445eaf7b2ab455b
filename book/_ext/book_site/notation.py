"""The directive `book-notation`: the table of symbols that all lessons share, from its data.

The data are `notation.yml` in the folder of the book: a list of mappings with `symbols` (formulas),
`meaning`, and, where there are any, `code` (names in the package) and `pages` (the only pages on
which the meaning holds, from the folder of the book).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FILE = "notation.yml"


def read_notation(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of the table.

    Args:
        folder: of the book.

    Raises:
        ValueError: a row has no symbols or meaning, or has something else.
    """
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
    """`book-notation`: the table."""

    def run(self) -> list[nodes.Node]:
        folder = Path(self.env.srcdir)
        self.env.note_dependency(str(folder / FILE))
        parent = nodes.Element()
        lines = as_table(read_notation(folder))
        self.state.nested_parse(StringList(lines, FILE), self.content_offset, parent)
        return list(parent.children)


def setup(app: Sphinx) -> None:
    app.add_directive("book-notation", NotationDirective)
