"""Names and links of the pages in one document: unique ids, and links that lead to them.

A link to a page of another volume says where it leads, because it cannot be followed on paper: in
which volume, and on which sheet. The numbers are filled in after a first print.
"""

import html
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urldefrag

from bs4 import BeautifulSoup, Tag

from book_print.volumes import Volume

_NAMES = ("for", "headers", "list", "aria-controls", "aria-describedby", "aria-labelledby")
_USED = re.compile(r"(?<![\w&])#([A-Za-z][\w.:/-]*)")
_OUTSIDE = re.compile(r"[a-z][a-z+.-]*:", flags=re.IGNORECASE)
# A number would stand in the way in headings, drawings and code. A word that the glossary explains
# is linked again and again, and an alphabet needs no page number.
_UNNUMBERED = ("h1", "h2", "h3", "h4", "svg", "pre", "code")
_TERM = ".std-term"
_BLOCKS = ("p", "li", "td", "th", "dd", "dt", "figcaption")


class BrokenLinkError(ValueError):
    """A link whose target is not there."""


def full_id(name: str, anchor: str = "") -> str:
    """Return the id in the document of a page, or of an id on it.

    >>> full_id("history/align"), full_id("history/align", "eq-1")
    ('history-align', 'history-align--eq-1')
    """
    page = name.replace("/", "-")
    return f"{page}--{anchor}" if anchor else page


def page_of(target: str) -> str:
    return target.partition("--")[0]


def within(name: str, path: str) -> str:
    """Return where a relative address of a page leads, from the root of the site."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def ids(article: Tag) -> set[str]:
    return {str(tag["id"]) for tag in article.find_all(id=True)}


def rename(article: Tag, name: str) -> set[str]:
    """Put the page's name before every id of it, and where they are used; return the old ids."""
    known: set[str] = set()
    for tag in article.find_all(id=True):
        if tag["id"] in known:
            del tag["id"]  # a link leads to the first of them
            continue
        known.add(str(tag["id"]))
        tag["id"] = full_id(name, str(tag["id"]))

    def full(match: re.Match[str]) -> str:
        return f"#{full_id(name, match[1])}" if match[1] in known else match[0]

    for tag in article.find_all(True):
        for key, value in list(tag.attrs.items()):
            if key in _NAMES:
                ids = value if isinstance(value, list) else str(value).split()
                tag[key] = " ".join(full_id(name, one) if one in known else one for one in ids)
            elif "#" in value and (tag.name != "a" or key != "href"):
                tag[key] = _USED.sub(full, str(value))
    for style in article.find_all("style"):
        style.string = _USED.sub(full, style.get_text())
    return known


def lead_files(article: Tag, name: str) -> None:
    """Let pictures be found from the root of the site, and come without being scrolled to."""
    for tag in article.find_all(src=True):
        source = str(tag["src"])
        if not _OUTSIDE.match(source):
            tag["src"] = within(name, source)
        tag.attrs.pop("loading", None)  # what is not on the screen would stay away


def _inner(article: Tag, name: str) -> Iterator[tuple[Tag, str, str]]:
    """Yield the links that stay on the site, each with the file and the id that it leads to."""
    for link in article.find_all("a", href=True):
        href = str(link["href"])
        if _OUTSIDE.match(href) or href.startswith("//"):
            continue
        path, anchor = urldefrag(href)
        yield link, within(name, unquote(path)) if path else f"{name}.html", unquote(anchor)


def leave_cited(articles: Mapping[str, Tag]) -> None:
    """Leave the works in the bibliography that these pages cite, and the pages that cite them."""
    asked = {
        (file.removesuffix(".html"), anchor)
        for name, article in articles.items()
        for _, file, anchor in _inner(article, name)
    }
    for name, article in articles.items():
        for work in article.select(".citation[id]"):
            if (name, work["id"]) not in asked:
                work.decompose()
        for line in article.select(".am-cited"):
            links = [
                str(link)
                for link, file, _ in _inner(line, name)
                if file.removesuffix(".html") in articles
            ]
            line.replace_with(element(f'<p class="am-cited">Cited in {", ".join(links)}</p>'))


@dataclass(frozen=True)
class Leads:
    known: Mapping[str, set[str]]  # the pages of the document, with the ids that each of them has
    left_out: Mapping[str, set[str]]  # ids that it does not show of a page: they lead to the page
    elsewhere: Mapping[str, Volume]  # the pages of other volumes
    address: str = ""  # where the site is published, if that is known

    def lead(self, article: Tag, name: str) -> None:
        """Make every link of a page lead within the document or to the site, or make it text."""
        numbered: set[tuple[int, str]] = set()
        for link, file, anchor in _inner(article, name):
            target = file.removesuffix(".html")
            if target in self.known:
                if anchor in self.left_out[target]:
                    anchor = ""
                if anchor and anchor not in self.known[target]:
                    raise BrokenLinkError(f"{name}.html: nothing has the id of {link['href']!r}")
                link["href"] = f"#{full_id(target, anchor)}"
                continue
            is_plain = not (link.find_parent(_UNNUMBERED) or link.select_one(_TERM))
            if target in self.elsewhere and is_plain:
                block = link.find_parent(_BLOCKS) or link
                asked = full_id(target, anchor)
                if (id(block), asked) not in numbered:
                    numbered.add((id(block), asked))
                    where = in_words(self.elsewhere[target], asked)
                    link.insert_after(element(f'<span class="am-elsewhere"> ({where})</span>'))
            self._to_site(link, file + (f"#{anchor}" if anchor else ""))

    def _to_site(self, link: Tag, path: str) -> None:
        if self.address:
            link["href"] = self.address + path
        else:
            link.name = "span"
            for key in ("href", "title", "target", "rel"):
                link.attrs.pop(key, None)


def in_words(volume: Volume, target: str) -> str:
    """Return HTML for the sheet on which an id stands; its number is filled in later."""
    number = f'<span data-am-volume="{volume.name}" data-am-sheet="{html.escape(target)}"></span>'
    return f"{volume.called}, p. {number}"


def element(markup: str) -> Tag:
    made = BeautifulSoup(markup, "html.parser").find(True)
    assert isinstance(made, Tag)
    return made.extract()
