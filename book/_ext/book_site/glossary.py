"""The words of the glossary as terms of the search: each one also finds the pages that it names."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

FILE = "appendices/glossary.md"


def entries(folder: Path) -> Iterator[tuple[list[str], str]]:
    """Yield the entries of a book: the words that each explains, and what it says of them."""
    text = (folder / FILE).read_text(encoding="utf-8")
    for block in re.findall(r"^````\{glossary\}\n(.*?)\n````$", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"\n\n(?=\S)", block):
            lines = part.splitlines()
            terms = [line for line in lines if not line.startswith(" ")]
            yield terms, " ".join(line.strip() for line in lines[len(terms) :])


def pages_of(text: str) -> list[str]:
    """Return the pages that an entry names.

    >>> pages_of("Is soft. See {doc}`/mathematics/lookup`.")
    ['mathematics/lookup']
    """
    return re.findall(r"\{doc\}`/([^`]+)`", text)


def terms_of_pages(folder: Path) -> dict[str, list[str]]:
    """Return the words that should find each page; "see" leads from one entry to another."""
    said = {term: text for terms, text in entries(folder) for term in terms}
    found = defaultdict(list)
    for term, text in said.items():
        others = re.findall(r"\{term\}`([^`<]+)`", text) if text.startswith("See {term}") else []
        for page in dict.fromkeys(pages_of(" ".join([text, *(said[one] for one in others)]))):
            found[page].append(term)
    return dict(found)


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", _read)
    app.connect("doctree-resolved", _add_terms)


def _read(app: Sphinx) -> None:
    there = Path(app.srcdir, FILE).exists()
    app.book_terms = terms_of_pages(Path(app.srcdir)) if there else {}  # type: ignore[attr-defined]


def _add_terms(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Add the terms to a page as the directive `index` would, for the index of the search alone."""
    terms: dict[str, Any] = app.book_terms  # type: ignore[attr-defined]
    if listed := [("single", term, "", "main", None) for term in terms.get(page, ())]:
        doctree += addnodes.index(entries=listed)
