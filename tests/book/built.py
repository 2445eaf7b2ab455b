"""The built book, as the tests look at it: its pages, links and what they load."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

from bs4 import BeautifulSoup, Tag

ROOT = Path(__file__).parents[2]
EXTENSIONS = ROOT / "book" / "_ext"


@dataclass(frozen=True)
class Page:
    path: Path
    site: Path

    @property
    def name(self) -> str:
        return self.path.relative_to(self.site).as_posix()

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def soup(self) -> BeautifulSoup:
        return BeautifulSoup(self.text, "html.parser")

    @cached_property
    def anchors(self) -> frozenset[str]:
        return frozenset(str(tag["id"]) for tag in self.soup.find_all(id=True))

    @property
    def leads_on(self) -> bool:
        """Whether it only opens another page."""
        return 'http-equiv="refresh"' in self.text

    def article(self) -> Tag:
        """What its author wrote, without the menus around it."""
        article = self.soup.select_one("article.bd-article")
        assert article is not None, f"{self.name} has no article"
        return article

    def follow(self, address: str) -> tuple[Path, str]:
        """Return the file to which a relative address leads, and the anchor in it."""
        path, anchor = urldefrag(address)
        if not path:
            return self.path, unquote(anchor)
        target = (self.path.parent / unquote(urlsplit(path).path)).resolve()
        return (target / "index.html" if target.is_dir() else target), unquote(anchor)


@dataclass(frozen=True)
class Site:
    folder: Path

    @cached_property
    def pages(self) -> list[Page]:
        """All pages, the redirection at the root included."""
        static = self.folder / "_static"
        return [
            Page(path, self.folder)
            for path in sorted(self.folder.rglob("*.html"))
            if static not in path.parents
        ]

    @cached_property
    def chapters(self) -> list[Page]:
        sources = self.folder / "_sources"
        return [p for p in self.pages if list(sources.glob(f"{p.name.removesuffix('.html')}.*"))]

    def page(self, name: str) -> Page:
        return next(page for page in self.pages if page.name == name)


def is_elsewhere(address: str) -> bool:
    """Tell whether an address leaves the site."""
    return bool(re.match(r"(?:[a-z][a-z+.-]*:)?//", address, flags=re.IGNORECASE))


def resources(page: Page) -> Iterator[str]:
    """Yield the address of everything that a page loads by itself."""
    for tag in page.soup.find_all(["script", "img", "iframe", "source", "video", "audio", "embed"]):
        if tag.get("src"):
            yield str(tag["src"])
        for part in str(tag.get("srcset") or "").split(","):
            if part.strip():
                yield part.split()[0]
    for tag in page.soup.find_all("link"):
        if not set(tag.get("rel") or ()) & {"canonical", "index", "search", "next", "prev"}:
            yield str(tag["href"])
    for style in page.soup.find_all("style"):
        yield from style_resources(style.get_text())
    for tag in page.soup.find_all(style=True):
        yield from style_resources(str(tag["style"]))


def style_resources(style: str) -> Iterator[str]:
    """Yield what a style sheet loads."""
    for quoted, bare in re.findall(r"""url\(\s*(?:["'](.*?)["']|([^"')]*))\s*\)""", style):
        yield quoted or bare
    yield from re.findall(r"""@import\s+["'](.*?)["']""", style)


def sources() -> Iterator[Path]:
    yield from (ROOT / "_config.yml", ROOT / "_toc.yml")
    for folder in (ROOT / "book", ROOT / "bookkit", ROOT / "companion"):
        for path in folder.rglob("*"):
            parts = path.relative_to(ROOT).parts
            made = any(part in ("node_modules", "__pycache__") or part[0] == "." for part in parts)
            if path.is_file() and not made and path.parent.parts[-2:] != ("appendices", "api"):
                yield path


def built_site() -> Path:
    """Return the site that `make book` built, if nothing has changed since."""
    site = ROOT / "_build" / "html"
    marker = site / "searchindex.js"
    last = max(path.stat().st_mtime for path in sources())
    fresh = marker.exists() and marker.stat().st_mtime > last
    assert fresh, "the built book is older than what it is made from: make book"
    return site
