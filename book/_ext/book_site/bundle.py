"""One style sheet and one deferred script for all pages, instead of twelve and ten.

What every page loads is joined; the rules of the style sheet that no page and no script can reach
go; both are minified. What a single page adds by itself stays with that page. The bundle is made
from the files and from all written pages, so it is right after a build of some pages, too.
"""

import posixpath
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from book_site.formulas import EXTENSIONS
from book_site.play import run, write

SHEET, SCRIPT = "book.css", "book.js"

# The theme writes these into its template, where no extension sees them.
_THEME_SHEETS = ("styles/theme.css", "styles/pydata-sphinx-theme.css")
_THEME_SCRIPTS = ("scripts/pydata-sphinx-theme.js",)  # less Bootstrap: static/menus.js
# What only adds to a page comes in a moment, each by itself: none keeps a phone busy for long.
_LATER = {
    "clipboard.min.js", "copybutton.js", "togglebutton.js", "guess.js", "keyboard.js",
    "menus.js", "scripts/sphinx-book-theme.js",
}  # fmt: skip
# The theme measures all code on load and after every change; static/keyboard.js does without.
_MEASURES = re.compile(
    r"""["']complete["']===document\.readyState\?(\w+)\(\):window\.addEventListener\("load",\1\)"""
)
_OPTIONS = re.compile(r"const DOCUMENTATION_OPTIONS = (\{.*?\n\});?", flags=re.DOTALL)

_WORD = re.compile(r"[\w-]+")
_MARKUP = re.compile(r"<script\b.*?</script>|<[a-z][^>]*>", flags=re.DOTALL)
_NAME = re.compile(r"[.#](-?[A-Za-z_][\w-]*)")
_PROPERTY = re.compile(r"[{;]\s*(--[\w-]+)\s*:")
_REFERENCE = re.compile(r"var\(\s*(--[\w-]+)")
_IMPORT = re.compile(r"""@import\s+["'](.*?)["'];""")
_URL = re.compile(r"""url\(\s*(["']?)(?!["']|data:|#|%23|/|[a-z]+:)([^"')]+)\1\s*\)""")
_MAP = re.compile(r"/\*# sourceMappingURL=.*?\*/|//# sourceMappingURL=.*")
_PAGE_SCRIPT = re.compile(r'<script\b[^>]*\bsrc="(?:\.\./)*_static/([^"?]+)')
_REFERRED = re.compile(rf'(_static/(?:{re.escape(SHEET)}|{re.escape(SCRIPT)}))(?:\?v=\w*)?"')


def read_sheet(static: Path, name: str) -> str:
    """Return a static style sheet with what it imports, its addresses as seen from that folder."""
    text = _MAP.sub("", (static / name).read_text(encoding="utf-8"))
    folder = posixpath.dirname(name)

    def from_static(address: str) -> str:
        return posixpath.normpath(posixpath.join(folder, address))

    text = _URL.sub(lambda match: f'url("{from_static(match[2])}")', text)
    return _IMPORT.sub(lambda match: read_sheet(static, from_static(match[1])), text)


def read_script(static: Path, name: str) -> str:
    text = _MAP.sub("", (static / name).read_text(encoding="utf-8"))
    if name == "documentation_options.js":  # a page may have set one before the bundle runs
        text = _OPTIONS.sub(r"Object.assign(DOCUMENTATION_OPTIONS, \1);", text)
    return _MEASURES.sub("0", text) if name in _THEME_SCRIPTS else text


def join_scripts(scripts: Iterable[str]) -> str:
    r"""Join scripts; the first semicolon keeps a "use strict" of one from binding them all.

    >>> join_scripts(['"use strict"; a = 1', "b = 2"])
    ';\n"use strict"; a = 1;\nb = 2'
    """
    return ";\n".join(["", *scripts])


def unused_names(css: str, pages: str, scripts: str) -> list[str]:
    """Return the classes, ids and custom properties of a style sheet that nothing can reach.

    Within reach are words of scripts and of tags, what begins with a word of a script that ends in
    a hyphen, as scripts put names together, and the properties that the sheet itself refers to.

    >>> unused_names(".a {} .b {} .bs-1 {} .d-1 {}", '<p class="a">b</p>', "add('bs-' + n)")
    ['b', 'd-1']
    >>> unused_names(":root { --x: 1; --y: var(--x); --z: 2 } p { top: var(--z) }", "", "")
    ['--y']
    """
    written = set(_WORD.findall(scripts))
    starts = tuple(word for word in written if re.search(r"[a-z]{2}-$", word))
    written |= set(_WORD.findall(" ".join(_MARKUP.findall(pages))))
    names = {name for name in _NAME.findall(css) if not name.startswith(starts)}
    properties = set(_PROPERTY.findall(css)) - set(_REFERENCE.findall(css))
    return sorted((names | properties) - written)


def shrink(css: str, pages: str, scripts: str) -> str:
    # A rule that goes may have been the only one to refer to a property, which then goes, too.
    while (smaller := compress(css=css, unused=unused_names(css, pages, scripts))) != css:
        css = smaller
    return css


def compress(**job: Any) -> str:
    """Return a script (js), or a style sheet (css) without some names (unused), minified."""
    (answer,) = run(EXTENSIONS / "bundle.mjs", job).values()
    return str(answer)


class Bundle:
    """What every page loads: the sheets and scripts of extensions, in the order of the page."""

    def __init__(self, sheets: Iterable[Any], scripts: Iterable[Any]) -> None:
        self.sheets = [sheet for sheet in _in_order(sheets) if _is_ours(sheet)]
        self.scripts = [script for script in _in_order(scripts) if _is_ours(script)]

    def css(self, static: Path) -> str:
        texts = [read_sheet(static, name) for name in _THEME_SHEETS]
        for sheet in self.sheets:
            text, media = read_sheet(static, _static_name(sheet)), sheet.attributes.get("media")
            texts.append(f"@media {media} {{\n{text}\n}}" if media else text)
        return "\n".join(texts)

    def js(self, static: Path) -> str:
        # Those without a file come first: in a page they run before any file that is deferred.
        settings = [one.attributes.get("body", "") for one in self.scripts if not one.filename]
        names = [_static_name(one) for one in self.scripts if one.filename]
        soon = [name for name in names if name not in _LATER]
        late = [read_script(static, name) for name in names if name in _LATER]
        # Each in a task of its own, once the current one has ended.
        later = [f"setTimeout(() => {{\n{script}\n}})" for script in late]
        # The theme's looks where things are: before others change the page and its layout.
        files = [read_script(static, name) for name in (*soon, *_THEME_SCRIPTS)]
        return join_scripts([*settings, *files, *later])

    def without(self, files: Iterable[Any]) -> list[Any]:
        """Return what a page loads besides the bundle, without repetition."""
        known = {_identity(one) for one in (*self.sheets, *self.scripts)}
        asked = {_identity(one): one for one in files}
        return [one for identity, one in asked.items() if identity not in known]


def _in_order(files: Iterable[Any]) -> list[Any]:
    return sorted(dict.fromkeys(files), key=lambda one: one.priority)


def _identity(one: Any) -> tuple[str, str]:
    return str(one.filename or ""), str(one.attributes.get("body", ""))


def _is_ours(one: Any) -> bool:
    """Tell whether a style sheet or script is plain: here, not a module, not for later."""
    special = {"type", "async"} & set(one.attributes) and one.attributes.get("type") != "text/css"
    return not special and "://" not in str(one.filename)


def _static_name(one: Any) -> str:
    return str(one.filename).removeprefix("_static/")


def setup(app: Sphinx) -> None:
    app.connect("env-updated", _collect, priority=900)
    app.connect("html-page-context", _refer, priority=960)
    app.connect("build-finished", _write, priority=900)  # after the theme has written its own


def _collect(app: Sphinx, _env: BuildEnvironment) -> None:
    """Note what is asked for before any page is written: later, a page asks for itself."""
    if app.builder.format == "html":
        builder: Any = app.builder
        app.book_bundle = Bundle(builder._css_files, builder._js_files)  # type: ignore[attr-defined]


def _refer(
    app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Leave to a page what is its own; the layout names the bundle."""
    bundle: Bundle = app.book_bundle  # type: ignore[attr-defined]
    context["css_files"] = bundle.without(context["css_files"])
    context["script_files"] = bundle.without(context["script_files"])
    for script in context["script_files"]:
        if script.filename:
            script.attributes["defer"] = "defer"


def _write(app: Sphinx, error: Exception | None) -> None:
    bundle: Bundle | None = getattr(app, "book_bundle", None)
    if error is not None or bundle is None:
        return
    folder = Path(app.outdir)
    static = folder / "_static"
    pages = {
        path: path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.html"))
        if static not in path.parents
    }
    text = "".join(pages.values())
    js = compress(js=bundle.js(static))
    others = {static / name for name in _PAGE_SCRIPT.findall(text)} - {static / SCRIPT}
    scripts = "".join([js, *(path.read_text(encoding="utf-8") for path in sorted(others))])
    css = shrink(bundle.css(static), text, scripts)
    stamps = {
        f"_static/{name}": write(static / name, text) for name, text in ((SHEET, css), (SCRIPT, js))
    }
    for path, page in pages.items():
        stamped = _REFERRED.sub(lambda match: f'{match[1]}?v={stamps[match[1]]}"', page)
        if stamped != page:
            path.write_text(stamped, encoding="utf-8")
