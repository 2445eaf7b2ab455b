"""Links in the outputs of cells: they name the files of pages, and here they find the built ones.

A link that a cell writes as HTML cannot know the address of the built page, and JupyterLab opens a
page only by its file. So outputs link to files, as `../history/align.ipynb`, as the prose does.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_LINK = re.compile(r'(<a\b[^>]*?\bhref=")([^":#?]+)\.(?:ipynb|md)((?:#[^"]*)?")')


def lead_to_pages(
    body: str, page: str, pages: Collection[str], address: Callable[[str], str]
) -> str:
    """Turn links to the files of pages into links to the built pages.

    Args:
        body: HTML.
        page: the page that it is of, from the root and without suffix.
        pages: all pages of the book.
        address: gives the address of a page, from `page`.

    >>> lead_to_pages('<a href="../b/two.ipynb#x">', "a/one", {"b/two"}, lambda name: f"../{name}/")
    '<a href="../b/two/#x">'
    >>> lead_to_pages('<a href="notes.md">', "a/one", {"b/two"}, str)
    '<a href="notes.md">'
    """

    def led(match: re.Match[str]) -> str:
        before, file, after = match.groups()
        name = posixpath.normpath(posixpath.join(posixpath.dirname(page), file))
        return f"{before}{address(name)}{after}" if name in pages else match[0]

    return _LINK.sub(led, body)


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", _lead)


def _lead(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    if doctree is None:
        return

    def address(name: str) -> str:
        return str(app.builder.get_relative_uri(page, name))

    context["body"] = lead_to_pages(context["body"], page, app.env.found_docs, address)
