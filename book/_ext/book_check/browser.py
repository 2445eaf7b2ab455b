"""The Chromium of this machine."""

from __future__ import annotations

import shutil

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser() -> str | None:
    """Return the path of the browser, or None where none is installed."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)
