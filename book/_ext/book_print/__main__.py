"""`python -m book_print`: print the built site, three volumes and a poster, and link them in it."""

import argparse
import os
import sys
from contextlib import ExitStack
from pathlib import Path

from book_check.browser import MISSING, find_browser
from book_site.contents import read_contents
from book_site.repository import find_address
from pypdf import PdfReader

from book_print.browser import laid_out, print_volumes, running
from book_print.document import assemble
from book_print.offer import offer
from book_print.poster import make_poster
from book_print.volumes import volumes


def main() -> int:
    """Print the book; return 1 where that cannot be done, or where a sheet would hide something."""
    parser = argparse.ArgumentParser(prog="python -m book_print", description=__doc__)
    parser.add_argument("site", nargs="?", type=Path, help="the built site, as _build/html")
    parser.add_argument("toc", nargs="?", type=Path, help="its table of contents, _toc.yml")
    parser.add_argument("folder", nargs="?", type=Path, help="where to write, as _build/pdf")
    parser.add_argument("--find", action="store_true", help="only see whether Chromium is here")
    given = parser.parse_args()
    if find_browser() is None:
        print(MISSING, file=sys.stderr)
        return 1
    if given.find:
        return 0
    if given.folder is None:
        parser.error("wanted site, toc and folder")
    return _print(given.site, given.toc, given.folder)


def _print(site: Path, toc: Path, folder: Path) -> int:
    address = find_address(os.environ, toc.resolve().parent)
    shown = volumes(site, read_contents(toc))
    faults: list[str] = []
    with running() as browser, ExitStack() as stack:
        laid = {}
        for volume in shown:
            others = [other for other in shown if other is not volume]
            document = assemble(site, volume, *others, address=address)
            laid[volume.name], found = stack.enter_context(laid_out(browser, document, site))
            faults += found
        if faults:
            print("The book does not fit its sheets:", *faults, sep="\n", file=sys.stderr)
            return 1
        printed = print_volumes(laid)
        poster = make_poster(browser, site)
    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / volume.file: printed[volume.name] for volume in shown} | {
        folder / name: pdf for name, pdf in poster.items()
    }
    for path, pdf in files.items():
        path.write_bytes(pdf)
        print(f"{path}: {PdfReader(path).get_num_pages()} sheets, {len(pdf) / 2**20:.1f} MiB")
    books = {folder / volume.file: volume.title.lower() for volume in shown}
    offer(site, "book-pdf", "The book as PDF:", books)
    if poster:
        sheet = {folder / name: "all architectures on one sheet of A0" for name in poster}
        offer(site, "book-poster", "To print:", sheet)
    print(f"The pages of {site} link them.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
