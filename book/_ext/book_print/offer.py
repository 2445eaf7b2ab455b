"""What was printed, within the site: pages link it once it is there."""

import posixpath
import re
import shutil
from collections.abc import Mapping
from pathlib import Path


def offer(site: Path, place: str, before: str, files: Mapping[Path, str]) -> None:
    """Copy files into the site, and link them from the pages with a place for them.

    The place is the class of the element that the links fill, with some words before them. To each
    file belongs what its link says.
    """
    hole = re.compile(rf'(<div class="{place}">).*?(</div>)', flags=re.DOTALL)
    for file in files:
        shutil.copyfile(file, site / file.name)
    for path in sorted(site.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        folder = path.relative_to(site).parent.as_posix()
        links = ", ".join(
            f'<a href="{posixpath.relpath(file.name, folder)}">{words}</a> ({_size(file)})'
            for file, words in files.items()
        )
        linked = hole.sub(rf'\g<1><nav aria-label="PDF">{before} {links}</nav>\g<2>', text)
        if linked != text:
            path.write_text(linked, encoding="utf-8")


def _size(file: Path) -> str:
    size = file.stat().st_size / 2**20
    return f"{size:.0f} MiB" if size >= 1 else f"{max(size, 0.1):.1f} MiB"
