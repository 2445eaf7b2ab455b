"""Letters of formulas: each one that a page uses stands in the notation or in the index of symbols.

Lessons and their evidence share the table `notation.yml`; other pages have the index of symbols.
"""

import re
from collections.abc import Iterator

from book_site.notation import read_notation

from tools.prose.pages import BOOK, pages, prose

INDEX = BOOK / "appendices" / "symbols.md"
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


def indexed() -> Iterator[tuple[set[str], set[str] | None]]:
    """Yield the rows of the index: their symbols, and the pages that they are of; None is all."""
    for part in INDEX.read_text(encoding="utf8").split("\n## ")[1:]:
        theme, _, body = part.partition("\n")
        for line in body.partition(HEADER)[2].partition("\n\n")[0].splitlines()[2:]:
            explained, _, where = (cell.strip() for cell in line.strip("|").split(" | "))
            links = re.findall(r"\]\(([^)]+)\)", where)
            paths = {(INDEX.parent / link).resolve().relative_to(BOOK).as_posix() for link in links}
            named = set().union(*map(symbols, formulas(explained)))
            yield named, None if theme in EVERYWHERE else paths


def shared() -> Iterator[tuple[set[str], set[str] | None]]:
    """Yield the rows of the notation of the lessons in the same form."""
    for row in read_notation(BOOK):
        named = [symbols(formula) for one in row["symbols"] for formula in formulas(one)]
        only = {f"{name}.ipynb" for name in row.get("pages", ())}
        yield set().union(*named), only or None


def warnings() -> Iterator[str]:
    """Yield the letters that a page uses and no table explains."""
    tables = {True: list(shared()), False: list(indexed())}
    lessons = {n: p["metadata"]["lesson"] for n, p in pages().items() if "lesson" in p["metadata"]}
    evidence = {f"{n.rpartition('/')[0]}/{one['evidence']}.ipynb" for n, one in lessons.items()}
    for name, page in pages().items():
        rows = tables[name in lessons or name in evidence]
        known = set().union(*(named for named, only in rows if only is None or name in only))
        used = set().union(*map(symbols, formulas(prose(page))))
        if unknown := sorted(used - known):
            yield f"{name}: no table explains {', '.join(unknown)}"
