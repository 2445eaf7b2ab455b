"""The printed volumes within the site: pages link them when they are there."""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

_LINK = re.compile(r'(<div class="book-pdf">).*?(</div>)', flags=re.DOTALL)


def offer(pdfs: Sequence[tuple[str, Path]], site: Path) -> int:
    """Copy PDFs into the site, link them from pages with a `.book-pdf`, return their number.

    Args:
        pdfs: what each of them is called, and where it is.
        site: the folder of the site.
    """
    for _, pdf in pdfs:
        shutil.copyfile(pdf, site / pdf.name)
    linking = 0
    for path in sorted(site.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        folder = path.relative_to(site).parent.as_posix()
        links = ", ".join(_link(called, pdf, folder) for called, pdf in pdfs)
        offered = f'<nav aria-label="PDF">The book as PDF: {links}</nav>'
        linked = _LINK.sub(rf"\g<1>{offered}\g<2>", text)
        if linked != text:
            path.write_text(linked, encoding="utf-8")
        linking += "book-pdf" in linked
    return linking


def _link(called: str, pdf: Path, folder: str) -> str:
    size = max(1, round(pdf.stat().st_size / 1e6))
    return f'<a href="{posixpath.relpath(pdf.name, folder)}">{called}</a> ({size} MB)'
