"""Addresses of the first edition: a page, or a part of one, that has moved opens where it is now.

`first_edition.json` lists the pages of the first edition with the anchors that a link could name. A
page that is gone leads to the page that `book_moved_pages` names. A part that is gone from a page
which has pages below it, as a lesson has its evidence, is looked for on these; a part that has
another name now stands in `book_moved_anchors`, as `{page: {anchor: page#anchor}}`.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

FIRST_EDITION = Path(__file__).with_name("first_edition.json")

_ID = re.compile(r'\sid="([^"]+)"')
_SCRIPT = """<script id="am-moved">
const gone = decodeURIComponent(location.hash.slice(1));
const [to] = {leads}.find(([, ids]) => gone && ids.split(" ").includes(gone)) ?? [{otherwise}];
if (to) location.replace(to.includes("#") ? to : to + location.hash);
</script>
"""
_WRITTEN = re.compile(r'<script id="am-moved">.*?</script>\n', flags=re.DOTALL)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
{script}<noscript><meta http-equiv="refresh" content="0; url={address}"></noscript>
<link rel="canonical" href="{address}">
</head>
<body><p><a href="{address}">{title}</a></p></body>
</html>
"""

_logger = logging.getLogger(__name__)


def find_ids(page: str) -> set[str]:
    """Return the anchors of a page, which is given as HTML.

    >>> find_ids('<p id="a"><b id="c">')  == {"a", "c"}
    True
    """
    return {html.unescape(name) for name in _ID.findall(page)}


def leads(
    old: Iterable[str],
    new: Iterable[str],
    below: Mapping[str, set[str]],
    renamed: Mapping[str, str],
) -> dict[str, list[str]]:
    """Return the anchors of a page that are gone, by the address to which each of them leads.

    Args:
        old: the anchors that the page had.
        new: those that it has.
        below: the anchors of the pages below it, in the order of the book.
        renamed: addresses of anchors that have another name now.

    >>> leads(["a", "b", "c", "d"], ["a"], {"p": {"b"}, "q": {"c"}}, {})
    {'p': ['b', 'd'], 'q': ['c']}
    """
    found: dict[str, list[str]] = {}
    first = next(iter(below), "")
    for name in sorted(set(old) - set(new)):
        target = renamed.get(name) or next((p for p, ids in below.items() if name in ids), first)
        if target:
            found.setdefault(target, []).append(name)
    return found


def script(found: Mapping[str, Iterable[str]], page: str, otherwise: str = "") -> str:
    """Return what opens an anchor that has moved.

    Args:
        found: from `leads`, with pages from the root of the site.
        page: the page on which the script stands.
        otherwise: the address for all other anchors; "" stays on the page.
    """
    pairs = [[relative(page, target), " ".join(ids)] for target, ids in found.items()]
    return _SCRIPT.format(
        leads=_as_script(pairs), otherwise=_as_script(otherwise and relative(page, otherwise))
    )


def _as_script(value: object) -> str:
    return json.dumps(value).replace("<", r"\u003c")


def relative(page: str, target: str) -> str:
    """Return the address of a page as seen from another one.

    >>> relative("history/align", "history/align_evidence#fig-a")
    'align_evidence.html#fig-a'
    """
    name, hash_sign, anchor = target.partition("#")
    address = posixpath.relpath(f"{name}.html", posixpath.dirname(page) or ".")
    return address + hash_sign + anchor


def put_script(page: str, code: str) -> str:
    """Put a script into the head of a page, in the place of that of an earlier build.

    >>> put_script(put_script("<head></head>", script({}, "a")), "")
    '<head></head>'
    """
    return _WRITTEN.sub("", page).replace("</head>", f"{code}</head>", 1)


def page_that_moved(title: str, code: str, address: str) -> str:
    """Return what stands at the address of a page that is gone.

    >>> 'url=new.html"' in page_that_moved("New & old", "", "new.html")
    True
    """
    return _PAGE.format(title=html.escape(title), script=code, address=address)


def below(env: BuildEnvironment, page: str) -> Iterator[str]:
    """Yield the pages below a page in the table of contents."""
    contents = env.external_site_map  # type: ignore[attr-defined]
    for tree in contents[page].subtrees:
        for item in tree.items:
            if item in contents:
                yield str(item)
                yield from below(env, str(item))


def setup(app: Sphinx) -> None:
    app.add_config_value("book_moved_pages", {}, "html", types=(dict,))
    app.add_config_value("book_moved_anchors", {}, "html", types=(dict,))
    app.connect("build-finished", _write)


def _write(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.name != "html":
        return
    former: dict[str, list[str]] = json.loads(FIRST_EDITION.read_text(encoding="utf-8"))
    for page, old in former.items():
        path = Path(app.outdir, f"{page}.html")
        renamed = app.config.book_moved_anchors.get(page, {})
        if page in app.env.found_docs:
            text = path.read_text(encoding="utf-8")
            children = {name: find_ids(_text(app, name)) for name in below(app.env, page)}
            found = leads(old, find_ids(text), children, renamed)
            led = put_script(text, script(found, page) if found else "")
            if led != text:
                path.write_text(led, encoding="utf-8")
        elif page in app.config.book_moved_pages:
            target = app.config.book_moved_pages[page]
            found = leads(renamed, [], {}, renamed)
            title = f"{page} is now {app.env.titles[target].astext()}"
            path.parent.mkdir(parents=True, exist_ok=True)
            code = script(found, page, target)
            text = page_that_moved(title, code, relative(page, target))
            path.write_text(text, encoding="utf-8")
        else:
            _logger.warning("book_moved_pages does not say where %s has gone", page)


def _text(app: Sphinx, page: str) -> str:
    return Path(app.outdir, f"{page}.html").read_text(encoding="utf-8")
