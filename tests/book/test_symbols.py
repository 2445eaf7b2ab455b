"""The index of symbols: every letter of the pages' formulas stands there, with its page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.book.test_notebooks import ROOT, markdown, pages

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

    The matrices W and U keep their index, and so does v_a. Other indices are letters by themselves.

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
            yield re.sub(r"[{}]", "", letters)


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


@pytest.mark.parametrize("page", [*pages(), NOTATION])
def test_every_symbol_of_a_page_is_in_the_index(page: str) -> None:
    assert unknown(text_of(page), page) == set()


def test_a_new_symbol_is_found() -> None:
    page = "book/mathematics/lookup.ipynb"
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
    assert [name for row in index() for name in row.code if name not in words] == []
