"""The built site, a server for it, and a browser."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from book_check.browser import MISSING, find_browser
from book_check.host import serve
from playwright.sync_api import Browser, Page, sync_playwright

from tests.book import built
from tests.book.built import EXTENSIONS, ROOT, Site, built_site

sys.path.insert(0, str(EXTENSIONS))  # the extensions of the book are no part of the package
pytest.register_assert_rewrite("tests.book.playable")  # so that its assertions say what they found

Open = Callable[..., Page]

PARTS = 8  # of the pages, for several processes
FEW = 12  # one page of so many is looked at more closely than the others, which are like it
WIDE, NARROW = 1280, 390
PATIENCE = 120_000  # milliseconds, for a busy machine
QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]  # fmt: skip


@pytest.fixture(scope="session")
def site() -> Site:
    """The site in the folder BOOK_HTML, else the one that `make book` built."""
    given = os.environ.get("BOOK_HTML")
    return Site(Path(given).resolve() if given else built_site())


@pytest.fixture(params=range(PARTS))
def some(request: pytest.FixtureRequest, site: Site) -> list[built.Page]:
    """A part of the pages, without those that only open another one."""
    return [page for page in site.pages if not page.leads_on][request.param :: PARTS]


@pytest.fixture
def few(site: Site) -> list[built.Page]:
    return [page for page in site.pages if not page.leads_on][::FEW]


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
    # A live output that is opened alone breaks its lines where it does in the book, whatever fonts
    # a machine has. As a font of the page it would come late, and everything would shift.
    folder = tmp_path_factory.mktemp("fonts")
    settings = folder / "fonts.conf"
    machine = os.environ.get("FONTCONFIG_FILE", "/etc/fonts/fonts.conf")
    settings.write_text(
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd"><fontconfig>'
        f'<include ignore_missing="yes">{machine}</include><dir>{ROOT / "bookkit" / "fonts"}</dir>'
        f"<cachedir>{folder / 'cache'}</cachedir></fontconfig>\n",
        encoding="utf-8",
    )
    environment: Any = {**os.environ, "FONTCONFIG_FILE": str(settings)}
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=QUIET, env=environment)
        yield running
        running.close()


@pytest.fixture
def open_page(server: str, browser: Browser) -> Iterator[Open]:
    """A function that opens a page, which may neither fail nor ask for anything elsewhere."""
    faults: list[str] = []

    def opened(name: str, width: int = WIDE, theme: Any = "light", **options: Any) -> Page:
        size: Any = {"width": width, "height": 844}
        context = stack.enter_context(
            browser.new_context(base_url=server, viewport=size, color_scheme=theme, **options)
        )
        context.set_default_timeout(PATIENCE)
        page = context.new_page()

        def note(fault: str, *, is_one: bool = True) -> None:
            faults.extend([f"{page.url}: {fault}"] if is_one else ())

        def watch(address: str) -> None:
            here = address.startswith((server, "data:", "blob:"))
            note(f"asked for {address}", is_one=not here)

        page.on("request", lambda it: watch(it.url))  # routing would turn the cache off
        page.on("console", lambda it: note(it.text, is_one=it.type in ("error", "warning")))
        page.on("pageerror", lambda error: note(str(error)))
        page.on("response", lambda it: note(f"{it.status} {it.url}", is_one=it.status >= 400))
        page.goto(name)
        return page

    with ExitStack() as stack:
        yield opened
    assert not faults
