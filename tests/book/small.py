"""Small books, which Sphinx builds with the settings that a test gives and no others."""

import io
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace


def build_small(source: Path, **settings: Any) -> tuple[Sphinx, str]:
    """Build what has changed in a folder of pages, as `html` beside it, by settings of a `conf.py`.

    Return the builder and its warnings.
    """
    warnings = io.StringIO()
    html, doctrees = source.parent / "html", source.parent / "doctrees"
    with docutils_namespace():  # or the next build would find its nodes registered
        app = Sphinx(source, None, html, doctrees, "html", settings, status=None, warning=warnings)
        app.build()
    return app, warnings.getvalue()
