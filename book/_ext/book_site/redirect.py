"""Addresses that lead on: the root of the site, and pages of the reference that have moved."""

from __future__ import annotations

import html
from pathlib import Path

from sphinx.application import Sphinx

from book_site.reference import FOLDER, PACKAGE

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
{lead}
<link rel="canonical" href="{address}">
</head>
<body><p><a href="{address}">{title}</a></p></body>
</html>
"""
_REFRESH = '<meta http-equiv="refresh" content="0; url={address}">'
# A link to a name of a moved module leads to that name; without scripts, to its module.
_BY_NAME = """<script>
const anchor = location.hash.replace("{old}", "{new}");
location.replace(anchor ? "{page}" + anchor : "{address}");
</script>
<noscript>{refresh}</noscript>"""


def redirect(title: str, address: str) -> str:
    """Return a page that opens another.

    >>> 'url=start/start.html"' in redirect("The book", "start/start.html")
    True
    """
    return _PAGE.format(
        title=html.escape(title), address=address, lead=_REFRESH.format(address=address)
    )


def redirect_module(old: str, new: str) -> str:
    """Return what stands at the address of a module of the package that has another name now.

    >>> 'url=pages.html#module-bookkit.figures"' in redirect_module("plot", "pages.plot")
    True
    """
    old, page, new = f"{PACKAGE}.{old}", f"{new.partition('.')[0]}.html", f"{PACKAGE}.{new}"
    address = f"{page}#module-{new}"
    refresh = _REFRESH.format(address=address)
    lead = _BY_NAME.format(old=old, new=new, page=page, address=address, refresh=refresh)
    return _PAGE.format(title=f"{old} is now {new}", address=address, lead=lead)


def setup(app: Sphinx) -> None:
    app.add_config_value("book_moved_modules", {}, "html", types=(dict,))
    app.connect("build-finished", _write)


def _write(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.name != "html":
        return
    site = Path(app.outdir)
    if app.config.root_doc != "index":
        start = app.builder.get_target_uri(app.config.root_doc)
        text = redirect(f"{app.config.html_title}: the book opens", start)
        (site / "index.html").write_text(text, encoding="utf-8")
    for old, new in app.config.book_moved_modules.items():
        (site / FOLDER / f"{old}.html").write_text(redirect_module(old, new), encoding="utf-8")
