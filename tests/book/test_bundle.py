"""The one style sheet and the one script: what stays, what goes, also after a partial build."""

import os
import re
from pathlib import Path
from typing import Any

import pydata_sphinx_theme
import pytest
from book_site.bundle import Bundle, compress, read_script, shrink, unused_names
from sphinx.builders.html._assets import _JavaScript
from sphinx.errors import ExtensionError

from tests.book.built import EXTENSIONS, Site
from tests.book.small import build_small

CSS = """
:root { --used: 1; --chain: var(--link); --link: 2; --lone: 3 }
.lost b { top: var(--lone) }
.used, .gone { top: var(--used) }
.gone p, #lost, :is(.gone, .lost) { top: 2px }
:not(.gone) > b { top: 3px }
.bs-tooltip-end { top: 4px }
@media print { .gone { top: 5px } .used { top: 6px } }
@media (scripting: enabled) { .used:not(.toggle) { top: 7px } }
"""


def file(name: Any, priority: int = 500, **attributes: Any) -> _JavaScript:
    """Return a style sheet or script, as Sphinx notes it."""
    return _JavaScript(name, priority=priority, **attributes)


def test_the_theme_does_not_measure_the_page(tmp_path: Path) -> None:
    """It would lay out what waits; static/keyboard.js says what can be reached."""
    theme = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
    name = "scripts/pydata-sphinx-theme.js"
    ends = re.compile(r'addEventListener\("load",\w+\)\}\)\(\);')
    assert ends.search((theme / name).read_text(encoding="utf-8"))
    assert not ends.search(read_script(theme, name))
    assert "MutationObserver" in compress(js=read_script(theme, name))


def test_what_nothing_names_goes_and_the_rest_stays() -> None:
    page, script = '<p class="used">gone</p>', "add('bs-' + kind)"
    assert unused_names(CSS, page, script) == ["--chain", "gone", "lost", "toggle"]
    small = shrink(CSS, page, script)
    # --link goes because the property that referred to it has gone.
    for gone in ("lost", "top:2px", "top:5px", "--chain", "--lone", "--link"):
        assert gone not in small
    for kept in ("--used:1", "top:3px", ".bs-tooltip-end", "top:6px", "top:7px", ":not(.toggle)"):
        assert kept in small


def test_what_cannot_be_read_is_an_error() -> None:
    with pytest.raises(ExtensionError, match="npm ci --prefix book/_ext"):
        compress(js="var = 1")


def test_files_come_in_order_and_for_their_medium(tmp_path: Path) -> None:
    for name in ("styles/theme.css", "styles/pydata-sphinx-theme.css", "b.css", "p.css"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f".{name[0]} {{}}")
    for name in ("scripts/pydata-sphinx-theme.js", "a.js", "menus.js"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"'{name}'")
    module, inline = file("_static/m.js", type="module"), file(None, 900, body="let x = 1;")
    bundle = Bundle(
        [file("_static/p.css", 800, media="print"), file("_static/b.css")],
        [file("_static/menus.js"), inline, file("_static/a.js", 200), module],
    )
    assert bundle.css(tmp_path) == ".s {}\n.s {}\n.b {}\n@media print {\n.p {}\n}"
    parts = re.findall("a.js|x = 1|pydata|setTimeout|menus", bundle.js(tmp_path))
    assert parts == ["x = 1", "a.js", "pydata", "setTimeout", "menus"]
    own = file("_static/own.js")
    again = file(None, body="let x = 1;")
    assert bundle.without([*bundle.scripts, again, module, own, own]) == [module, own]


def build(source: Path) -> tuple[str, set[str]]:
    """Build what has changed; return the style sheet, and how pages ask for the bundle."""
    app, warnings = build_small(
        source,
        extensions=["myst_parser", "book_site.bundle"],
        templates_path=[str(EXTENSIONS / "book_site" / "templates")],
        html_theme="sphinx_book_theme",
        html_context={"default_mode": "light"},
    )
    assert not warnings
    site = Site(Path(app.outdir))
    text = "".join(page.text for page in site.pages)
    addresses = set(re.findall(r"_static/(book\.\w+[^\"]*)\"", text))
    assert len(addresses) == 2
    return (site.folder / "_static" / "book.css").read_text(), addresses


def test_a_build_of_one_page_keeps_what_the_others_need(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "index.md").write_text("# One\n\n```{toctree}\ntwo\n```\n\n{guilabel}`x`\n")
    (source / "two.md").write_text("# Two\n")
    first, before = build(source)
    assert ".guilabel" in first
    assert ".line-block" not in first
    assert build(source) == (first, before)
    # One page is written anew, with a class that was in no page before.
    (source / "two.md").write_text("# Two\n\n```{eval-rst}\n| y\n```\n")
    os.utime(source / "two.md", (2_000_000_000, 2_000_000_000))
    second, after = build(source)
    assert ".guilabel" in second
    assert ".line-block" in second
    assert after != before
