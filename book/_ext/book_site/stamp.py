"""The foot of a page: when it was last run, and with what, from the notebook's own metadata."""

from __future__ import annotations

import html
import json
from datetime import date
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_NAMES = {"companion": "companion", "python": "Python", "torch": "PyTorch", "numpy": "NumPy"}
# In the language of the book, which need not be the machine's.
_MONTHS = "January February March April May June July August September October November December"


def describe_run(run: dict[str, Any]) -> str:
    """Return a sentence on a run, as HTML.

    >>> print(describe_run({"date": "2026-11-02", "versions": {"python": "3.11.7"}}))
    Last run on <time datetime="2026-11-02">2 November 2026</time> with Python 3.11.7.
    """
    day = date.fromisoformat(run["date"])
    shown = f'<time datetime="{day}">{day.day} {_MONTHS.split()[day.month - 1]} {day.year}</time>'
    versions = run["versions"]
    parts = [f"{name} {versions[key]}" for key, name in _NAMES.items() if key in versions]
    listed = ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else "".join(parts)
    where = f", on {run['processor']}" if run.get("processor") else ""
    return f"Last run on {shown} with {html.escape(listed + where, quote=False)}."


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", _stamp)


def _stamp(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Write it under the text; not into it, or a search for a library would find every page."""
    source = Path(app.env.doc2path(page)) if doctree is not None else Path()
    if source.suffix == ".ipynb":
        metadata = json.loads(source.read_text(encoding="utf-8"))["metadata"]
        if run := metadata.get("am", {}).get("run"):
            context["body"] += f'\n<p class="am-run">{describe_run(run)}</p>\n'
