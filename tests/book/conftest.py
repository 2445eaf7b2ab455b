"""The built site, a server for it, and a browser."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from book_check.browser import MISSING, find_browser
from book_check.host import serve

from tests.book.built import EXTENSIONS, Page, Site, built_site
from tests.book.letters import with_the_books_font

if TYPE_CHECKING:
    from playwright.sync_api import Browser

sys.path.insert(0, str(EXTENSIONS))  # the extensions of the book are no part of the package
pytest.register_assert_rewrite("tests.book.playable")  # so that its assertions say what they found

PARTS = 8  # of the pages, for several processes
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def site() -> Site:
    """The site in the folder BOOK_HTML, else the one that `make book` built."""
    given = os.environ.get("BOOK_HTML")
    return Site(Path(given).resolve() if given else built_site())


@pytest.fixture(params=range(PARTS))
def some(request: pytest.FixtureRequest, site: Site) -> list[Page]:
    """A part of the pages, without those that only open another one."""
    return [page for page in site.pages if not page.leads_on][request.param :: PARTS]


@pytest.fixture(scope="session")
def server(site: Site) -> Iterator[str]:
    """The address under which this machine serves the site, compressed as a static host does."""
    with serve(site.folder) as address:
        yield address


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The Chromium of this machine, with the book's font."""
    program = find_browser()
    if program is None:
        pytest.skip(MISSING)
    from playwright.sync_api import sync_playwright

    environment = with_the_books_font(tmp_path_factory.mktemp("fonts"))
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=QUIET, env=environment)
        yield running
        running.close()
