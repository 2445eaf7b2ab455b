"""The PDF within the site: pages link it when it is there."""

from __future__ import annotations

import posixpath
import re
import shutil
from pathlib import Path

NAME = "attention-measured.pdf"
_LINK = re.compile(r'(<div class="book-pdf">).*?(</div>)', flags=re.DOTALL)


def offer(pdf: Path, site: Path) -> int:
    """Copy the PDF into the site, link it from pages with a `.book-pdf`, return their number."""
    shutil.copyfile(pdf, site / NAME)
    size = max(1, round(pdf.stat().st_size / 1e6))
    linking = 0
    for path in sorted(site.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        folder = path.relative_to(site).parent.as_posix()
        address = posixpath.relpath(NAME, folder)
        link = f'<nav aria-label="PDF"><a href="{address}">The book as a PDF</a> ({size} MB)</nav>'
        linked = _LINK.sub(rf"\g<1>{link}\g<2>", text)
        if linked != text:
            path.write_text(linked, encoding="utf-8")
        linking += "book-pdf" in linked
    return linking
