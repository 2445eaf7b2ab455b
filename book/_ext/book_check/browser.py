"""The Chromium of this machine."""

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = f"Chromium is needed, and none of {', '.join(NAMES)} is installed"


def find_browser() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)
