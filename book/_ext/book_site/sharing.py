"""What others see of a page before they open it: a description, and a card where it is shared."""

import html
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from book_site.cards import SIZE, draw
from book_site.contents import Chapter, read_contents

MOTTO = "Attention mechanisms, from the mathematics up. No claim without its measurement."

_LEAST = 50  # characters: a first sentence that is shorter takes the next along
_MOST = 200
_FEWEST = 20  # a paragraph that is shorter, such as "Predict.", tells nothing of its page
_PARAGRAPH = re.compile(r"<p>(.*?)</p>", flags=re.DOTALL)
_SENTENCE = re.compile(r".*?[.?!][”’)]?(?=\s+[“‘(]?[A-Z0-9]|$)", flags=re.DOTALL)


def plain(markup: str) -> str:
    """Return the words of a line of HTML.

    >>> plain("by <em>the</em> <math><msqrt><mi>d</mi></msqrt></math>&hellip;")
    'by the √d…'
    """
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", markup.replace("<msqrt>", "√"))).split())


def describe(body: str) -> str:
    """Return the first sentence of a page, and the next ones while that is short.

    That is at most 200 characters, and nothing if the page has no paragraph of its own, or one of
    a word or two.

    >>> describe("<h1>Masks</h1><p>A mask is a table of yes and no. Many are upside down. So!</p>")
    'A mask is a table of yes and no. Many are upside down.'
    """
    listed = body.find('class="citation"')
    paragraph = _PARAGRAPH.search(body)
    if paragraph is None or 0 <= listed < paragraph.start():
        return ""
    said = ""
    for sentence in _SENTENCE.findall(plain(paragraph[1])):
        if said and (len(said) >= _LEAST or len(said) + len(sentence) > _MOST):
            break
        said = f"{said} {sentence.strip()}".strip()
    if len(said) < _FEWEST:
        return ""
    return said if len(said) <= _MOST else f"{said[: _MOST - 1].rpartition(' ')[0]}…"


def tags(title: str, description: str, site: str, address: str = "", image: str = "") -> str:
    """Return the <meta> tags of a page of a site, with whole addresses of it and its card."""
    said = {
        "description": description,
        "twitter:card": "summary_large_image" if image else "summary",
        "og:type": "article",
        "og:site_name": site,
        "og:title": title,
        "og:description": description,
        "og:url": address,
        "og:image": image,
    }
    if image:
        width, height = map(str, SIZE)
        said |= {"og:image:width": width, "og:image:height": height}
        said["og:image:alt"] = f"{title}. {description}"
    return "".join(
        f'\n    <meta {"property" if key.startswith("og:") else "name"}="{key}"'
        f' content="{html.escape(value)}">'
        for key, value in said.items()
        if value
    )


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", _read_contents)
    app.connect("html-page-context", _share, priority=960)


def _read_contents(app: Sphinx) -> None:
    toc = Path(app.srcdir, app.config.external_toc_path)
    app.book_chapters = {one.name: one for one in read_contents(toc)}  # type: ignore[attr-defined]


def _share(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    book = str(app.config.html_title)
    match = re.fullmatch(r"(?:(\d+)\. )?(.*)", plain(context.get("title", "")) or book)
    assert match is not None
    number, title = match[1] or "", match[2]
    description = describe(context.get("body", "")) if doctree is not None else ""
    if page == app.config.root_doc or title == book:
        description = MOTTO  # the first words of the book are what it doubts
    description = description or f"{title}: a page of the book {book}."
    address: str = app.config.book_address
    where = image = ""
    if address:
        where = address + app.builder.get_target_uri(page)
        image = address + _card(app, page, title, number, description)
    context["metatags"] = context.get("metatags", "") + tags(title, description, book, where, image)


def _card(app: Sphinx, page: str, title: str, number: str, description: str) -> str:
    """Draw the card of a page, or the book's for what is there to look up; return its path."""
    chapter: Chapter | None = app.book_chapters.get(page)  # type: ignore[attr-defined]
    book = str(app.config.html_title)
    card = f"_cards/{page if chapter else 'book'}.png"
    path = Path(app.outdir, card)
    if chapter:
        kicker = " · ".join(filter(None, (chapter.part, number)))
        draw(path, title, description, kicker, book)
    elif not path.exists():
        draw(path, book, MOTTO, "", book)
    return card
