"""The book's own Sphinx extensions: pages that load nothing from elsewhere, and load fast."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.typing import ExtensionMetadata

from book_site import (
    bundle,
    citations,
    fonts,
    formulas,
    gloss,
    leads,
    notation,
    page,
    play,
    reference,
    repository,
    sharing,
    solutions,
    stamp,
    thebe,
)

_HERE = Path(__file__).parent
# What a page fetches after a click: _static/translator/...
_FETCHED = _HERE.parents[2] / "bookkit" / "playables" / "static"


def setup(app: Sphinx) -> ExtensionMetadata:
    """Set every part up; `extra_extensions` and `local_extensions` of _config.yml name this one."""
    for part in (
        thebe,
        repository,
        formulas,
        fonts,
        leads,
        page,
        play,
        reference,
        gloss,
        notation,
        solutions,
        citations,
        sharing,
        stamp,
        bundle,
    ):
        part.setup(app)
    app.connect("config-inited", _add_folders)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _add_folders(_app: Sphinx, config: Config) -> None:
    config.templates_path.insert(0, str(_HERE / "templates"))
    config.html_static_path += [str(_HERE / "static"), str(_FETCHED)]
