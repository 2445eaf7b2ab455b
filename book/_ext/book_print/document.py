"""One document of many pages: names are made unique, links lead to them, all that folds is open."""

from __future__ import annotations

import copy
import html
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urldefrag

from book_site.contents import Chapter
from book_site.sharing import MOTTO
from bs4 import BeautifulSoup, Tag
from bs4.element import AttributeValueList

TITLE = "Attention, Measured"
STYLE = Path(__file__).with_name("print.css")

_LEFT_OUT = (
    "script, template, iframe, button, .headerlink, .toctree-wrapper, .sd-stretched-link,"
    " details.hide > summary"
)
_NAMES = ("for", "headers", "list", "aria-controls", "aria-describedby", "aria-labelledby")
_SHORT = 24  # lines of code that stay together
_USED = re.compile(r"(?<![\w&])#([A-Za-z][\w.:/-]*)")
_OUTSIDE = re.compile(r"[a-z][a-z+.-]*:", flags=re.IGNORECASE)

_DOCUMENT = """<!doctype html>
<html lang="en" data-theme="light" data-mode="light">
<head>
<meta charset="utf-8">
<title>{title}</title>
{styles}
<style>{style}</style>
<style>{heads}</style>
</head>
<body class="am-print">
<main class="bd-main"><div class="bd-content"><div class="bd-article-container">
<article class="bd-article">
{front}
{contents}
{chapters}
</article>
</div></div></main>
</body>
</html>
"""


@dataclass(frozen=True)
class Entry:
    """A line of the table of contents.

    Attributes:
        target: the id that it leads to.
        title: its words, as HTML.
        level: 0 a part, which leads nowhere; 1 a chapter, 2 a section.
    """

    target: str
    title: str
    level: int


class BrokenLinkError(ValueError):
    """A link whose target is not there."""


def assemble(
    site: Path,
    chapters: Sequence[Chapter],
    *,
    address: str = "",
) -> str:
    """Return the pages of a built site as one HTML document, which lies at the root of the site.

    Args:
        site: the folder of the site.
        chapters: the pages, in their order.
        address: where the site is published, which links to pages left out lead to; without it they
            become plain words.

    Raises:
        FileNotFoundError: a page was not built.
        BrokenLinkError: a link leads to an id that its page lacks.
    """
    pages = {
        chapter.name: BeautifulSoup(_page(site, chapter.name), "html.parser")
        for chapter in chapters
    }
    articles = {name: _article(page, name) for name, page in pages.items()}
    known = {name: _rename(article, name) for name, article in articles.items()}
    for name, article in articles.items():
        _lead_links(article, name, known, address)
        _lead_files(article, name)
        _open(article)
    return _DOCUMENT.format(
        title=TITLE,
        styles="\n".join(_styles(pages)),
        style=STYLE.read_text(encoding="utf-8"),
        heads=_running_heads(chapters, articles),
        front=_front(address),
        contents=_contents(list(_entries(chapters, articles))),
        chapters="\n".join(
            _chapter(chapter, articles[chapter.name], number)
            for number, chapter in enumerate(chapters)
        ),
    )


def _page(site: Path, name: str) -> str:
    return (site / f"{name}.html").read_text(encoding="utf-8")


def _article(page: BeautifulSoup, name: str) -> Tag:
    article = page.select_one("article.bd-article")
    if article is None:
        raise ValueError(f"{name}.html: has no article")
    for part in article.select(_LEFT_OUT):
        part.decompose()
    return article


def full_id(name: str, anchor: str = "") -> str:
    """Return the id in the document of a page, or of an id on it.

    >>> full_id("history/align"), full_id("history/align", "eq-1")
    ('history-align', 'history-align--eq-1')
    """
    page = name.replace("/", "-")
    return f"{page}--{anchor}" if anchor else page


def _rename(article: Tag, name: str) -> set[str]:
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


def _lead_links(article: Tag, name: str, known: dict[str, set[str]], address: str) -> None:
    for link in article.find_all("a", href=True):
        href = str(link["href"])
        if _OUTSIDE.match(href) or href.startswith("//"):
            continue
        path, anchor = urldefrag(href)
        file = _within(name, unquote(path)) if path else f"{name}.html"
        target, anchor = file.removesuffix(".html"), unquote(anchor)
        if target in known:
            if anchor and anchor not in known[target]:
                raise BrokenLinkError(f"{name}.html: nothing has the id of the link {href!r}")
            link["href"] = f"#{full_id(target, anchor)}"
        elif address:
            link["href"] = address + file + (f"#{anchor}" if anchor else "")
        else:
            link.name = "span"
            for key in ("href", "title", "target", "rel"):
                link.attrs.pop(key, None)


def _within(name: str, path: str) -> str:
    """Return where a relative address of a page leads, from the root of the site.

    >>> _within("history/align", "../_images/a.svg")
    '_images/a.svg'
    """
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def _lead_files(article: Tag, name: str) -> None:
    for tag in article.find_all(src=True):
        source = str(tag["src"])
        if not _OUTSIDE.match(source):
            tag["src"] = _within(name, source)
        tag.attrs.pop("loading", None)  # what is not on the screen would stay away


def _open(article: Tag) -> None:
    """Show what a reader would unfold, and what stands there for a script's work."""
    for part in article.select("noscript"):
        part.unwrap()
    for part in article.select("details"):
        part.name = "div"
        part.attrs.pop("open", None)
        for summary in part.find_all("summary", recursive=False):
            summary.name = "div"
            summary["class"] = AttributeValueList(["am-summary"])
    for part in article.select(".dropdown, .toggle"):
        part["class"] = AttributeValueList(
            one for one in part["class"] if one not in ("dropdown", "toggle")
        )
    for code in article.select("pre"):
        if code.get_text().count("\n") <= _SHORT:
            code["class"] = AttributeValueList((*(code.get("class") or ()), "am-whole"))


def _styles(pages: dict[str, BeautifulSoup]) -> Iterator[str]:
    """Yield the style sheets that the pages load, and the styles in their heads."""
    seen: set[str] = set()
    for name, page in pages.items():
        for tag in page.select("head link[rel=stylesheet], head style"):
            if tag.find_parent("noscript"):
                continue
            if tag.name == "link":
                tag = page.new_tag(
                    "link", rel="stylesheet", href=_within(name, str(tag["href"])), media="all"
                )
            if str(tag) not in seen:
                seen.add(str(tag))
                yield str(tag)


def _entries(chapters: Sequence[Chapter], articles: dict[str, Tag]) -> Iterator[Entry]:
    part = ""
    for chapter in chapters:
        if chapter.part != part:
            part = chapter.part
            yield Entry("", html.escape(part), 0)
        article = articles[chapter.name]
        yield Entry(full_id(chapter.name), _heading(article, "h1"), 1)
        for section in article.select("section[id]"):
            if section.find("h2", recursive=False):
                yield Entry(str(section["id"]), _heading(section, "h2"), 2)


def _heading(part: Tag, name: str) -> str:
    """Return what a heading says, without its links: it is going to stand in one."""
    heading = copy.copy(part.find(name))
    if not isinstance(heading, Tag):
        return ""
    for link in heading.find_all("a"):
        link.unwrap()
    return heading.decode_contents().strip()


def _running_heads(chapters: Sequence[Chapter], articles: dict[str, Tag]) -> str:
    """Return the style that puts a chapter's title at the top of its sheets."""
    rules = []
    for number, chapter in enumerate(chapters):
        heading = articles[chapter.name].find("h1")
        title = heading.get_text() if isinstance(heading, Tag) else ""
        rules.append(
            f"@page c{number} {{ @top-right {{ content: {_quoted(title)} }}"
            f" @top-left {{ content: {_quoted(chapter.part)} }} }}"
        )
    return "\n".join(rules)


def _quoted(text: str) -> str:
    r"""Write a string of CSS.

    >>> print(_quoted('a "b"'))
    "a \"b\""
    """
    return '"' + re.sub(r'(["\\<])', r"\\\1", text) + '"'


def _chapter(chapter: Chapter, article: Tag, number: int) -> str:
    kicker = f'<p class="am-kicker">{html.escape(chapter.part)}</p>' if chapter.part else ""
    return (
        f'<div class="am-chapter" id="{full_id(chapter.name)}" style="page: c{number}">'
        f"{kicker}{article.decode_contents()}</div>"
    )


def _front(address: str) -> str:
    site = f'<a href="{address}">{html.escape(address)}</a>' if address else "the book's site"
    return f"""<section class="am-cover">
<img src="_static/mark-light.svg" alt="" width="84" height="84">
<p class="am-title">{TITLE}</p>
<p class="am-lead">{MOTTO}</p>
<p class="am-imprint">All pages of the book, with all code and all solutions open. The reference of
the package and the index are for looking up: they are on {site}.
What moves there, when you click or type, stands still here.
Text and figures: CC BY 4.0. Code: BSD 3-Clause.</p>
</section>"""


def _contents(entries: Sequence[Entry]) -> str:
    lines = []
    for entry in entries:
        if entry.level == 0:
            lines.append(f'<p class="am-part">{entry.title}</p>')
            continue
        lines.append(
            f'<a class="am-entry am-level-{entry.level}" href="#{entry.target}">'
            f'<span>{entry.title}</span><span class="am-sheet"></span></a>'
        )
    return f'<nav class="am-contents" aria-label="Contents"><h1>Contents</h1>{"".join(lines)}</nav>'
