"""The book's own Sphinx extensions: pages that load nothing from elsewhere, and load fast."""

from importlib import import_module
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.typing import ExtensionMetadata

_PARTS = (
    "repository formulas fonts page guess folded play reference reading notation glossary "
    "solutions citations sharing bundle"
)
_HERE = Path(__file__).parent
# What a page fetches after a click: _static/translator/...
_FETCHED = _HERE.parents[2] / "bookkit" / "playables" / "static"


def setup(app: Sphinx) -> ExtensionMetadata:
    """Set every part up; `extra_extensions` and `local_extensions` of _config.yml name this one."""
    for part in _PARTS.split():
        import_module(f"book_site.{part}").setup(app)
    app.connect("config-inited", _add_folders)
    app.connect("config-inited", _take_out_thebe, priority=900)  # before anything listens
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _add_folders(_app: Sphinx, config: Config) -> None:
    config.templates_path.insert(0, str(_HERE / "templates"))
    config.html_static_path += [str(_HERE / "static"), str(_FETCHED)]


def _take_out_thebe(app: Sphinx, _config: Config) -> None:
    """Take out sphinx-thebe: Jupyter Book loads it always, and it loads a script from a CDN."""
    for event, listeners in app.events.listeners.items():
        app.events.listeners[event] = [
            listener
            for listener in listeners
            if not getattr(listener.handler, "__module__", "").startswith("sphinx_thebe")
        ]
    sheets = app.registry.css_files
    sheets[:] = [sheet for sheet in sheets if "sphinx-thebe" not in sheet[0]]
