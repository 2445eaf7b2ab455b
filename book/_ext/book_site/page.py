"""Corrections to every page: images that say their size, names for what has none, links, a foot."""

import html
import json
import posixpath
import re
from collections.abc import Callable, Collection, Mapping
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import imagesize
from docutils import nodes
from sphinx.application import Sphinx

from book_site.fonts import MATH_FONT
from book_site.running import with_ways_to_run
from bookkit.reading_map import ReadingMap

EVIDENCE = "_evidence"
"""How the names of evidence pages end."""

_MAP = re.compile(r'<nav class="am-map".*?</nav>', re.DOTALL)
_LINK = re.compile(r'(<a\b[^>]*?\bhref=")([^":#?]+)\.(?:ipynb|md)((?:#[^"]*)?")')
_NAMES = {"companion": "companion", "python": "Python", "torch": "PyTorch", "numpy": "NumPy"}
# In the language of the book, which need not be the machine's.
_MONTHS = "January February March April May June July August September October November December"


def image_size(path: Path) -> tuple[int, int] | None:
    """Return the width and height of an image in CSS pixels, or None where it does not say.

    A figure that was saved at 192 dots per inch is shown at half its pixels.
    """
    width, height = imagesize.get(path)
    if width <= 0:
        return None
    dots = imagesize.getDPI(path)[0] if path.suffix == ".png" else 96
    scale = 96 / dots if dots > 0 else 1
    return round(width * scale), round(height * scale)


def size_images(body: str, files: Mapping[str, Path]) -> str:
    """Give images their size, so that nothing moves, and load all but the first lazily."""
    first = True

    def sized_tag(match: re.Match[str]) -> str:
        nonlocal first
        tag = match[0].removesuffix(">").removesuffix("/").rstrip()
        source = re.search(r'\bsrc="([^"?#]+)', tag)
        name = unquote(source[1]).rpartition("/")[2] if source else ""
        sized = re.search(r'\s(?:width|height)=|style="[^"]*width', tag)
        if not sized and name in files and (size := image_size(files[name])):
            tag += f' width="{size[0]}" height="{size[1]}"'
        if not first:
            tag += ' loading="lazy"'
        first = False
        return f"{tag}>"

    return re.sub(r"<img\b[^>]*>", sized_tag, body)


def make_accessible(body: str) -> str:
    r"""Mend what extensions write and screen readers, or the rules of HTML, do not allow.

    >>> make_accessible('<summary aria-label="Toggle hidden content"><p>Show</p></summary>')
    '<summary><span>Show</span></summary>'
    >>> make_accessible("<dl>\n<dd>query</dd>\n</dl>")
    '<div class="sig-lines">\n<div>query</div>\n</div>'
    """

    def within(outer: str, pattern: str, replacement: str) -> str:
        return re.sub(outer, lambda match: re.sub(pattern, replacement, match[0]), body, flags=re.S)

    # What opens and closes is named by the words that it shows, and holds no paragraph.
    body = body.replace('<summary aria-label="Toggle hidden content">', "<summary>")
    body = within(r"<summary\b.*?</summary>", r"<(/?)p\b", r"<\1span")
    # The lines of a signature are no list of definitions: they have no terms.
    body = within(r"<dl>\n<dd>.*?</dl>", r"<(/?)dd>", r"<\1div>")
    body = re.sub(r"<dl>(\n<div>.*?)</dl>", r'<div class="sig-lines">\1</div>', body, flags=re.S)
    # An id is of one element; nothing refers to these, which every proof and exercise has.
    body = re.sub(r' id="(?:proof|(?:proof|exercise|solution)-content)"', "", body)
    # The space before a link is no part of it, and not underlined.
    body = re.sub(r"(Solution to)(<a\b[^>]*>) ", r"\1 \2", body)
    # Entries of a bibliography: a role that is out of use, in a list that holds other things, too.
    body = body.replace(' role="doc-biblioentry"', "")
    return body.replace('<div role="list" class="citation-list">', '<div class="citation-list">')


def plain_code(body: str) -> str:
    """Leave out the marks of what has the colour of the rest of the code.

    Names, operators, punctuation and spaces are two in three of a page's elements.
    """
    return re.sub(r'<span></span>|<span class="[nopw]">([^<]*)</span>', r"\1", body)


def lead_to_pages(
    body: str, page: str, pages: Collection[str], address: Callable[[str], str]
) -> str:
    """Turn links to the files of pages into links to the built pages, seen from one of them.

    A link that a cell writes as HTML cannot know the address of the built page, and JupyterLab
    opens a page only by its file. So outputs link to files, as the prose does.
    """

    def led(match: re.Match[str]) -> str:
        before, file, after = match.groups()
        name = posixpath.normpath(posixpath.join(posixpath.dirname(page), file))
        return f"{before}{address(name)}{after}" if name in pages else match[0]

    return _LINK.sub(led, body)


def describe_run(run: dict[str, Any]) -> str:
    """Return a sentence on a run, as HTML.

    >>> run = {"date": "2026-11-02", "versions": {"numpy": "2.4.6", "python": "3.11.7"}}
    >>> print(describe_run(run | {"processor": "A <fast> one"}))
    Last run on <time datetime="2026-11-02">2 November 2026</time> with Python 3.11.7 and NumPy \
2.4.6, on A &lt;fast&gt; one.
    """
    day = date.fromisoformat(run["date"])
    shown = f'<time datetime="{day}">{day.day} {_MONTHS.split()[day.month - 1]} {day.year}</time>'
    versions = run["versions"]
    parts = [f"{name} {versions[key]}" for key, name in _NAMES.items() if key in versions]
    listed = ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else "".join(parts)
    where = f", on {run['processor']}" if run.get("processor") else ""
    return f"Last run on {shown} with {html.escape(listed + where, quote=False)}."


def setup(app: Sphinx) -> None:
    app.add_config_value("book_start_label", "", "html", types=(str,))
    for script in ("keyboard.js", "menus.js", "moved.js"):
        app.add_js_file(script)
    app.connect("html-page-context", _correct, priority=950)


def _correct(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    body = context.get("body", "")
    if doctree is not None:

        def address(name: str) -> str:
            return str(app.builder.get_relative_uri(page, name))

        # The times on the map are those of the pages as they are now.
        body = _MAP.sub(lambda _: ReadingMap()._repr_html_(), body)
        body = lead_to_pages(body, page, app.env.found_docs, address)
        source = Path(app.env.doc2path(page))
        if source.suffix == ".ipynb":
            path = f"{Path(app.srcdir).name}/{page}.ipynb"
            repository = app.config.html_theme_options["repository_url"]
            said = source.read_text(encoding="utf-8")
            body = with_ways_to_run(body, path, said, repository, _launches(context))
            body += _foot(source)
    images: dict[str, str] = app.builder.images
    files = {name: Path(app.srcdir, source) for source, name in images.items()}
    body = make_accessible(plain_code(size_images(body, files)))
    if body:
        context["body"] = body
    if (own := app.builder.relations.get(page)) and not page.endswith(EVIDENCE):
        for way, other in (("prev", own[1]), ("next", own[2])):
            context[way] = _lesson(app, page, other, way)
    context["has_formulas"] = "<math" in body
    context["math_font"] = MATH_FONT
    if app.config.book_start_label:
        context["root_title"] = app.config.book_start_label
    tree = context["generate_toctree_html"]
    context["generate_toctree_html"] = lambda *given, **named: str(tree(*given, **named)).replace(
        "<summary>", '<summary aria-label="Pages below">'
    )


def _launches(context: dict[str, Any]) -> dict[str, str]:
    """Return the addresses behind the theme's rocket, by the names of the services."""
    return {
        button["text"]: button["url"]
        for group in context["header_buttons"]
        if group.get("label") == "launch-buttons"
        for button in group["buttons"]
    }


def _lesson(app: Sphinx, page: str, other: str | None, way: str) -> dict[str, str] | None:
    """Return the nearest page in that direction that is not an evidence page."""
    while other is not None and other.endswith(EVIDENCE):
        other = app.builder.relations[other][1 if way == "prev" else 2]
    if other is None:
        return None
    title = app.builder.render_partial(app.env.titles[other])["title"]
    return {"link": app.builder.get_relative_uri(page, other), "title": title}


def _foot(source: Path) -> str:
    """Say when a notebook was last run, under its text: in it, any search would find every page."""
    metadata = json.loads(source.read_text(encoding="utf-8"))["metadata"]
    run = metadata.get("am", {}).get("run")
    return f'\n<p class="am-run">{describe_run(run)}</p>\n' if run else ""
