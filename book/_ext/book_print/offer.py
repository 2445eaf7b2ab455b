"""What was printed, within the site: pages link it once it is there."""

import posixpath
import re
import shutil
from collections.abc import Mapping
from pathlib import Path


def offer(site: Path, place: str, before: str, files: Mapping[Path, str]) -> int:
    """Copy files into the site, link them from the pages with a place for them; count those.

    The place is the class of the element that the links fill, with some words before them. To each
    file belongs what its link says.
    """
    hole = re.compile(rf'(<div class="{place}">).*?(</div>)', flags=re.DOTALL)
    for file in files:
        shutil.copyfile(file, site / file.name)
    linking = 0
    for path in sorted(site.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        folder = path.relative_to(site).parent.as_posix()
        links = ", ".join(
            f'<a href="{posixpath.relpath(file.name, folder)}">{words}</a> ({_size(file)})'
            for file, words in files.items()
        )
        linked, found = hole.subn(rf'\g<1><nav aria-label="PDF">{before} {links}</nav>\g<2>', text)
        if linked != text:
            path.write_text(linked, encoding="utf-8")
        linking += bool(found)
    return linking


def _size(file: Path) -> str:
    """Return the size of a file in words: above one megabyte in whole ones, below in tenths."""
    size = file.stat().st_size / 1e6
    return f"{size:.0f} MB" if size >= 1 else f"{max(size, 0.1):.1f} MB"
