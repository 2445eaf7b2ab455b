"""Take out sphinx-thebe: Jupyter Book loads it always, and it loads a script from a CDN."""

from __future__ import annotations

from sphinx.application import Sphinx
from sphinx.config import Config


def setup(app: Sphinx) -> None:
    # After every extension is set up, before anything listens.
    app.connect("config-inited", _disconnect, priority=900)


def _disconnect(app: Sphinx, _config: Config) -> None:
    for event, listeners in app.events.listeners.items():
        app.events.listeners[event] = [
            listener
            for listener in listeners
            if not getattr(listener.handler, "__module__", "").startswith("sphinx_thebe")
        ]
    sheets = app.registry.css_files
    sheets[:] = [sheet for sheet in sheets if "sphinx-thebe" not in sheet[0]]
