"""The directives `book-notation` and `book-letters`, which say what letters mean, and `gloss`.

The data are `notation.yml` in the folder of the book: a list of mappings with `symbols` (formulas),
`meaning`, and, where there are any, `code` (names in the package) and `pages` (the only pages on
which the meaning holds, from the folder of the book).
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar
from unicodedata import lookup

import yaml
from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from bookkit.notebook import gloss

FILE = "notation.yml"
_DRESSED = re.compile(r"\\(?:math[a-z]+|operatorname|bar|hat|tilde|over(?:left|right)arrow)\b|[{ ]")
_EVIDENCE = "_evidence"


def read_notation(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of the table in a folder, or raise a ValueError at a wrong one."""
    rows: list[dict[str, Any]] = yaml.safe_load((folder / FILE).read_text(encoding="utf-8"))
    for row in rows:
        if not {"symbols", "meaning"} <= row.keys() <= {"symbols", "meaning", "code", "pages"}:
            raise ValueError(f"{FILE}: got {sorted(row)}, wanted symbols, meaning, code, pages")
    return rows


def as_table(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the lines of a table in Markdown, with pages if a row has them.

    The evidence of a lesson is left out where the lesson is named.

    >>> row = {"symbols": ["$i$"], "meaning": "A row", "code": ["q"], "pages": ["history/align"]}
    >>> as_table([row])[-1]
    '| $i$ | A row: `q` | {doc}`/history/align` |'
    """
    paged = any("pages" in row for row in rows)
    lines = ["| Symbol | Meaning, and name in code |" + " Page |" * paged]
    lines += ["|---|---|" + "---|" * paged]
    for row in rows:
        names = ", ".join(f"`{name}`" for name in row.get("code", ()))
        said = f"{row['meaning']}: {names}" if names else row["meaning"]
        pages = row.get("pages", ())
        named = [one for one in pages if one.removesuffix(_EVIDENCE) not in {*pages} - {one}]
        where = ", ".join(f"{{doc}}`/{name}`" for name in named) or "all"
        lines.append(f"| {', '.join(row['symbols'])} | {said} |" + f" {where} |" * paged)
    return lines


def letter_of(symbol: str) -> str:
    r"""Return the letter under which a symbol is looked up: a capital, a Greek one or "Signs".

    >>> [letter_of(s) for s in (r"$\bar{\mathbf c}$", r"$W_\text{key}$", r"$\varphi$", r"$\ell$")]
    ['C', 'W', 'φ phi', 'L']
    """
    plain = _DRESSED.sub("", symbol.strip("$"))
    name = re.match(r"\\(?:var)?([a-z]+)", plain, re.IGNORECASE)
    if name is None or name[1] == "ell":
        first = plain.removeprefix("\\el")[0].upper()
        return first if first.isalpha() else "Signs"
    low = name[1].lower()
    try:
        return f"{lookup(f'GREEK SMALL LETTER {low}'.replace('lambda', 'lamda'))} {low}"
    except KeyError:
        return "Signs"


def by_letter(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each letter, in the order of the alphabets.

    A row that lists a meaning for each of its symbols is taken apart.
    """
    found = defaultdict(list)
    for row in rows:
        for symbols, meaning in _parts(row):
            one = {**row, "symbols": symbols, "meaning": meaning[0].upper() + meaning[1:]}
            for letter in dict.fromkeys(map(letter_of, symbols)):
                if one not in found[letter]:
                    found[letter].append(one)
    order = sorted(found, key=lambda letter: (letter == "Signs", letter))
    return {letter: sorted(found[letter], key=lambda row: "pages" in row) for letter in order}


def _parts(row: dict[str, Any]) -> Iterator[tuple[list[str], str]]:
    meanings = row["meaning"].split("; ")
    if len(meanings) == len(row["symbols"]) and "code" not in row:
        yield from (([symbol], said) for symbol, said in zip(row["symbols"], meanings, strict=True))
    else:
        yield row["symbols"], row["meaning"]


class NotationDirective(SphinxDirective):
    """`book-notation`: the table of the letters that hold on all pages."""

    def run(self) -> list[nodes.Node]:
        return self.table([row for row in self.rows() if "pages" not in row])

    def rows(self) -> list[dict[str, Any]]:
        folder = Path(self.env.srcdir)
        self.env.note_dependency(str(folder / FILE))
        return read_notation(folder)

    def table(self, rows: Sequence[dict[str, Any]]) -> list[nodes.Node]:
        parent = nodes.Element()
        self.state.nested_parse(StringList(as_table(rows), FILE), self.content_offset, parent)
        return list(parent.children)


class LettersDirective(NotationDirective):
    """`book-letters`: a bar of all letters, and a section for each, with all that it means."""

    def run(self) -> list[nodes.Node]:
        bar, sections = nodes.paragraph(classes=["am-letters"]), []
        for letter, rows in by_letter(self.rows()).items():
            name = f"letter-{letter.split()[-1].lower()}"
            bar += [nodes.reference("", letter.split()[0], refid=name), nodes.Text(" ")]
            title = nodes.title("", letter)
            sections.append(nodes.section("", title, *self.table(rows), ids=[name]))
        return [bar, *sections]


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
    app.add_directive("book-letters", LettersDirective)
    app.add_directive("gloss", GlossDirective)
