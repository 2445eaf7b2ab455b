"""The book's font, installed for the browser of the tests alone."""

import os
from pathlib import Path

from tests.book.built import ROOT

FAMILY = "Atkinson Hyperlegible Next"
FONTS = ROOT / "bookkit" / "fonts"
SYSTEM = "/etc/fonts/fonts.conf"


def with_the_books_font(folder: Path) -> dict[str, str | float | bool]:
    """Return an environment in which programs find the book's font beside those of the machine.

    A live output that is opened alone then breaks its lines where it does in the book, whatever
    fonts a machine has. As a font of the page it would come late, and everything would shift. The
    folder is for fontconfig's settings and its cache.
    """
    settings = folder / "fonts.conf"
    settings.write_text(
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd"><fontconfig>'
        f'<include ignore_missing="yes">{os.environ.get("FONTCONFIG_FILE", SYSTEM)}</include>'
        f"<dir>{FONTS}</dir><cachedir>{folder / 'cache'}</cachedir></fontconfig>\n",
        encoding="utf-8",
    )
    return {**os.environ, "FONTCONFIG_FILE": str(settings)}
