"""The index of symbols: every letter of the pages' formulas stands there, with its page."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from book_site.notation import read_notation

from tests.book.test_notebooks import ROOT, markdown, pages
from tests.book.test_page_exercises import evidence, read

INDEX = ROOT / "book" / "appendices" / "symbols.md"
NOTATION = "book/start/notation.md"
HEADER = "| Symbol | Meaning, and name in code | Page |"
EVERYWHERE = ("On all pages", "In the lessons")
GREEK = (
    "alpha|beta|gamma|delta|epsilon|varepsilon|zeta|eta|theta|kappa|lambda|mu|nu|xi|pi|rho|sigma|"
    "tau|phi|varphi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Pi|Sigma|Phi|Psi|Omega|ell|nabla"
)
ACCENTS = "bar|hat|tilde|dot|vec|overrightarrow|overleftarrow|mathbb|mathcal|mathbf"
TOKEN = re.compile(
    r"\\(?:operatorname\*?|mathrm)\s*(?:\{(?P<name>[^}]*)\}|(?P<upright>[A-Za-z]))"
    rf"|\\(?P<accent>{ACCENTS})\b\s*\{{?\s*(?P<base>\\?[A-Za-z]+|\d)\}}?"
    rf"|\\(?P<greek>{GREEK})(?![A-Za-z])"
    r"|\\[A-Za-z]+"
    r"|(?P<matrix>[WU]_(?:\{[^}]*\}|\w)|v_a)"
    r"|(?P<letter>[A-Za-z])"
)
# The d of a differential is an operator, and no symbol.
EXCEPTIONS = {r"\mathrm d"}


def symbols(formula: str) -> set[str]:
    r"""Return the identifiers of a formula: letters, Greek ones, accented ones and names.

    The matrices W and U keep their index, and so does v_a; an index of words says what it means.
    Other indices are letters by themselves.

    >>> sorted(symbols(r"W_\text{query}\,\mathbf q_i + W_{\text{key}}\,\mathbf{k}_j"))
    ['W', '\\mathbf k', '\\mathbf q', 'i', 'j']
    >>> sorted(symbols(r"\bar A_{ij} = W_Q^\top x + \operatorname{softmax}(\alpha)\,\mathrm d t"))
    ['W_Q', '\\alpha', '\\bar A', '\\mathrm softmax', 'i', 'j', 't', 'x']
    """
    text = re.sub(r"\\(?:text\w*|begin|end)\{[^}]*\}(?:\{[lcr]+\})?", " ", formula)
    return set(_symbols(text)) - EXCEPTIONS


def _symbols(text: str) -> Iterator[str]:
    for match in TOKEN.finditer(text):
        if name := match["name"] or match["upright"]:
            yield rf"\mathrm {name}"
        elif match["accent"]:
            yield rf"\{match['accent']} {match['base']}"
        elif match["greek"]:
            yield rf"\{match['greek']}"
        elif letters := match["matrix"] or match["letter"]:
            yield re.sub(r"[{}\s]", "", letters).rstrip("_")


def formulas(text: str) -> Iterator[str]:
    r"""Yield the formulas of a page, inline and displayed.

    >>> text = "Is $a$ `$b$`?\n\n```{math}\n:label: eq-c\nc\n```\n\n$$\nd\n$$\n"
    >>> [formula.strip() for formula in formulas(text)]
    ['a', 'c', 'd']
    """
    text = re.sub(
        r"```\{math\}\n((?:.|\n)*?)```",
        lambda match: f"$${re.sub(r'(?m)^:label:.*', '', match[1])}$$",
        text,
    )
    text = re.sub(r"(?m)^[`:]{3,}.*$", "", text)
    text = re.sub(r"(?<!`)`[^`\n]+`", "", text)
    for match in re.finditer(
        r"\$\$((?:.|\n)+?)\$\$|(?<![\\\w$])\$((?:[^$\\\n]|\\.|\n(?!\n))+?)\$", text
    ):
        yield match[1] or match[2]


@dataclass(frozen=True)
class Row:
    """A row of the index.

    Attributes:
        theme: the heading above its table.
        symbols: what it explains.
        code: the names in the package.
        pages: where the symbols mean this, from the root.
    """

    theme: str
    symbols: frozenset[str]
    code: tuple[str, ...]
    pages: tuple[str, ...]


@cache
def index() -> list[Row]:
    rows: list[Row] = []
    for part in INDEX.read_text(encoding="utf8").split("\n## ")[1:]:
        theme, _, body = part.partition("\n")
        if HEADER not in body:
            continue
        for line in body.partition(HEADER)[2].partition("\n\n")[0].splitlines()[2:]:
            explained, said, where = (cell.strip() for cell in line.strip("|").split(" | "))
            named = frozenset().union(*map(symbols, formulas(explained)))
            links = re.findall(r"\]\(([^)]+)\)", where)
            rows.append(Row(theme, named, tuple(re.findall(r"`(.+?)`", said)), tuple(links)))
    return rows


def page_of(link: str) -> str:
    return (INDEX.parent / link).resolve().relative_to(ROOT).as_posix()


def text_of(page: str) -> str:
    source = (ROOT / page).read_text(encoding="utf8")
    return markdown(json.loads(source)) if page.endswith(".ipynb") else source


def unknown(text: str, page: str) -> set[str]:
    """Return the symbols of a page that the index does not explain for it."""
    used = set().union(*map(symbols, formulas(text)))
    rows = [row for row in index() if row.theme in EVERYWHERE or page in map(page_of, row.pages)]
    return used - set().union(*(row.symbols for row in rows))


def unknown_in_lesson(text: str, page: str) -> set[str]:
    """Return the symbols of a lesson, or of its evidence, that the notation does not have."""
    name = page.removeprefix("book/").removesuffix(".ipynb")
    rows = [row for row in read_notation(ROOT / "book") if name in row.get("pages", [name])]
    known = [
        symbols(formula) for row in rows for one in row["symbols"] for formula in formulas(one)
    ]
    return set().union(*map(symbols, formulas(text))) - set().union(*known)


def is_remade(page: str) -> bool:
    is_notebook = page.endswith(".ipynb")
    return page in evidence() or (is_notebook and "lesson" in read(page)["metadata"])


@pytest.mark.parametrize("page", [*pages(), NOTATION])
def test_every_symbol_of_a_page_is_in_the_index(page: str) -> None:
    find = unknown_in_lesson if is_remade(page) else unknown
    assert find(text_of(page), page) == set()


def test_lessons_are_held_to_one_notation() -> None:
    page = "book/history/align.ipynb"
    text = "The weight $a_{ij}$ of $\\mathbf m_j$ and $W_\\text{query}$, with $n_q$ queries."
    assert unknown_in_lesson(text, page) == set()
    assert unknown_in_lesson(f"{text} Let $\\alpha_{{ij}}$ and $m_j$.", page) == {"\\alpha", "m"}


def test_the_notation_names_pages_and_code_that_are_there() -> None:
    rows = read_notation(ROOT / "book")
    assert len(rows) > 15
    listed = {page.removeprefix("book/").removesuffix(".ipynb"): page for page in pages()}
    for row in rows:
        named = set().union(*(symbols(f) for one in row["symbols"] for f in formulas(one)))
        assert named, row
        for name in row.get("pages", ()):
            assert named <= set().union(*map(symbols, formulas(text_of(listed[name])))), row
    everywhere = Counter(one for row in rows if "pages" not in row for one in row["symbols"])
    assert [symbol for symbol, times in everywhere.items() if times > 1] == []


def test_a_notation_that_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notation.yml").write_text("- {symbols: [$i$], means: A row}", encoding="utf8")
    with pytest.raises(ValueError, match="wanted symbols, meaning, code, pages"):
        read_notation(tmp_path)


def test_a_new_symbol_is_found() -> None:
    page = "book/tradeoffs/cheaper.ipynb"
    text = text_of(page)
    assert unknown(text + "\n\nLet $\\zeta$ be new.", page) == {r"\zeta"}
    assert unknown(text + "\n\n```{math}\n\\hat{Q} = W_Z + G\n```\n", page) == {
        r"\hat Q",
        "W_Z",
        "G",
    }


def test_the_index_names_what_is_there() -> None:
    assert len({row.theme for row in index()}) > 5
    for row in index():
        assert row.symbols, row
        assert row.pages, row
        for link in row.pages:
            page = page_of(link)
            used = set().union(*map(symbols, formulas(text_of(page))))
            # A meaning that a page gives in words alone, with the letter of another page, is none.
            assert row.symbols & used, (row, page)
            assert row.theme in EVERYWHERE or row.symbols <= used or len(row.pages) > 1, (row, page)


def test_names_in_code_are_names_of_the_package() -> None:
    words = {
        word
        for path in Path(ROOT, "companion").rglob("*.py")
        for word in re.findall(r"\w+", path.read_text(encoding="utf8"))
    }
    shared = [name for row in read_notation(ROOT / "book") for name in row.get("code", ())]
    assert [name for row in index() for name in row.code if name not in words] == []
    assert [name for name in shared if name not in words] == []
