"""One document of many pages: a cover, a table of contents, and the pages of a volume."""

import copy
import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from book_site.contents import Chapter
from book_site.sharing import MOTTO
from bs4 import BeautifulSoup, Tag

from book_print.folds import leave_out, unfold
from book_print.links import (
    Leads,
    full_id,
    ids,
    in_words,
    lead_files,
    leave_cited,
    rename,
    within,
)
from book_print.volumes import Volume

TITLE = "Attention, Measured"
STYLE = Path(__file__).with_name("print.css")

_PICTURE = "figure svg[role=img]"
_OFTEN = 3  # pages with a section of the same title

_DOCUMENT = """<!doctype html>
<html lang="en" data-theme="light" data-mode="light">
<head>
<meta charset="utf-8">
<title>{title}</title>
{styles}
<style>{style}</style>
<style>{heads}</style>
</head>
<body class="am-print am-{name}">
<main class="bd-main"><div class="bd-content"><div class="bd-article-container">
<article class="bd-article">
{cover}
<nav class="am-contents" aria-label="Contents"><h1>Contents</h1>
{contents}</nav>
{chapters}
</article>
</div></div></main>
</body>
</html>
"""


def assemble(site: Path, volume: Volume, *others: Volume, address: str = "") -> str:
    """Return a volume of a built site as one HTML document, which lies at the root of the site.

    Pages of other volumes are referred to by volume and sheet. Links to pages left out lead to the
    address where the site is published, or are plain words where none is known.

    Raises:
        FileNotFoundError: a page was not built.
        BrokenLinkError: a link leads to an id that its page lacks.
    """
    chapters = volume.chapters
    pages = {one.name: _page(site, one.name) for one in chapters}
    articles = {name: _article(page, name) for name, page in pages.items()}
    whole = {name: ids(article) for name, article in articles.items()}
    for name, article in articles.items():
        leave_out(article, name, volume)
    leave_cited(articles)
    known = {name: rename(article, name) for name, article in articles.items()}
    left_out = {name: whole[name] - known[name] for name in articles}
    away = {
        one.name: other
        for other in reversed(others)  # of several, the first
        for one in other.chapters
        if one.name not in known
    }
    leads = Leads(known, left_out, away, address)
    for name, article in articles.items():
        leads.lead(article, name)
        lead_files(article, name)
        unfold(article)
    return _DOCUMENT.format(
        title=f"{TITLE}: {volume.title}",
        name=volume.name,
        styles="\n".join(dict.fromkeys(style for one in pages.items() for style in _styles(*one))),
        style=STYLE.read_text(encoding="utf-8"),
        heads=_running_heads(volume, articles),
        cover=_cover(volume, _picture(site, volume, *others), address),
        contents="\n".join((*_contents(chapters, articles), *_contents_away(site, away, others))),
        chapters="\n".join(_chapter(one, articles[one.name], n) for n, one in enumerate(chapters)),
    )


def _page(site: Path, name: str) -> BeautifulSoup:
    return BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")


def _article(page: BeautifulSoup, name: str) -> Tag:
    article = page.select_one("article.bd-article")
    if article is None:
        raise ValueError(f"{name}.html: has no article")
    return article


def _styles(name: str, page: BeautifulSoup) -> Iterator[str]:
    """Yield the style sheets that a page loads, and the styles in its head."""
    for tag in page.select("head link[rel=stylesheet], head style"):
        if not tag.find_parent("noscript"):
            address = within(name, str(tag.get("href", "")))
            link = f'<link rel="stylesheet" href="{address}" media="all">'
            yield link if tag.name == "link" else str(tag)


def _contents(chapters: Sequence[Chapter], articles: dict[str, Tag]) -> Iterator[str]:
    """Yield the lines of the table of contents: parts, which lead nowhere, pages and sections.

    A title that many pages have, as exercises, tells nothing.
    """
    sections = {one.name: list(_sections(articles[one.name])) for one in chapters}
    said = Counter(title for found in sections.values() for _, _, title in found)
    part = ""
    for chapter in chapters:
        if chapter.part != part:
            part = chapter.part
            yield f'<p class="am-part">{html.escape(part)}</p>'
        article = articles[chapter.name]
        yield _entry(full_id(chapter.name), _heading(article, "h1"), 1)
        for target, heading, title in sections[chapter.name]:
            if said[title] <= _OFTEN:
                yield _entry(target, heading, 2)


def _sections(article: Tag) -> Iterator[tuple[str, str, str]]:
    """Yield the sections of a page: their id, and their heading with and without its number."""
    for section in article.select("section[id]"):
        if section.find("h2", recursive=False):
            heading = _heading(section, "h2")
            words = BeautifulSoup(heading, "html.parser")
            for number in words.select(".section-number"):
                number.decompose()
            yield str(section["id"]), heading, words.get_text().strip()


def _entry(target: str, title: str, level: int) -> str:
    return (
        f'<a class="am-entry am-level-{level}" href="#{target}">'
        f'<span>{title}</span><span class="am-sheet"></span></a>'
    )


def _contents_away(site: Path, away: dict[str, Volume], others: Sequence[Volume]) -> Iterator[str]:
    """Yield the numbered chapters of other volumes: their numbers are missing in this one."""
    for other in others:
        listed = [one for one in other.chapters if one.numbered and not one.above]
        names = [one.name for one in listed if one.name in away]
        if names:
            yield f'<p class="am-part">In the {html.escape(other.called)}</p>'
        for name in names:
            title = _heading(_article(_page(site, name), name), "h1")
            sheet = in_words(other, full_id(name)).partition(", ")[2]
            spans = f"<span>{title}</span><span>{sheet}</span>"
            yield f'<p class="am-entry am-level-1 am-away">{spans}</p>'


def _heading(part: Tag, name: str) -> str:
    """Return what a heading says, without its links: it is going to stand in one."""
    heading = copy.copy(part.find(name))
    if not isinstance(heading, Tag):
        return ""
    for mark in heading.select(".headerlink"):
        mark.decompose()
    for link in heading.find_all("a"):
        link.unwrap()
    return heading.decode_contents().strip()


def _running_heads(volume: Volume, articles: dict[str, Tag]) -> str:
    rules = [f"@page {{ @bottom-left {{ content: {_quoted(f'{TITLE}: {volume.title}')} }} }}"]
    for number, chapter in enumerate(volume.chapters):
        heading = articles[chapter.name].find("h1")
        title = heading.get_text() if isinstance(heading, Tag) else ""
        rules.append(
            f"@page c{number} {{ @top-right {{ content: {_quoted(title)} }}"
            f" @top-left {{ content: {_quoted(chapter.part)} }} }}"
        )
    return "\n".join(rules)


def _quoted(text: str) -> str:
    return '"' + re.sub(r'(["\\<])', r"\\\1", text) + '"'


def _chapter(chapter: Chapter, article: Tag, number: int) -> str:
    return (
        f'<div class="am-chapter" id="{full_id(chapter.name)}" style="page: c{number}">'
        f"{article.decode_contents()}</div>"
    )


def _picture(site: Path, *volumes: Volume) -> str:
    opening = next((one for vol in volumes for one in vol.chapters if not one.part), None)
    if opening is None:
        return ""
    drawing = _article(_page(site, opening.name), opening.name).select_one(_PICTURE)
    return str(drawing or "")


def _cover(volume: Volume, picture: str, address: str) -> str:
    site = f'<a href="{address}">{html.escape(address)}</a>' if address else "the book's site"
    return f"""<section class="am-cover">
<img src="_static/mark-light.svg" alt="" width="84" height="84">
<p class="am-title">{TITLE}</p>
<p class="am-volume">{volume.title}</p>
<p class="am-lead">{MOTTO}</p>
<div class="am-picture">{picture}</div>
<p class="am-imprint">{volume.about} The reference of the package and the index
are on {site}. What moves there when you click or type stands still here.
Text and figures: CC BY 4.0. Code: BSD 3-Clause.</p>
</section>"""
