"""Letters of formulas: each one that a page uses stands in the table `notation.yml`."""

import re
from collections.abc import Iterator

from book_site.notation import read_notation

from tools.prose.pages import BOOK, pages, prose

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


def warnings() -> Iterator[str]:
    """Yield the letters that a page uses and the table does not explain."""
    rows = read_notation(BOOK)
    for name, page in pages().items():
        used = set().union(*map(symbols, formulas(prose(page))))
        own = name.removesuffix(".ipynb")
        for symbol in (
            one for row in rows if own in row.get("pages", own) for one in row["symbols"]
        ):
            used -= set().union(*map(symbols, formulas(symbol)))
        if used:
            yield f"{name}: notation.yml does not explain {', '.join(sorted(used))}"
