"""Where the book is published: what whole addresses, as social cards need them, are made from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError

from book_site.repository import Repository, find_repository

_PAGES = {"github.com": "github.io", "gitlab.com": "gitlab.io"}


def pages_address(repository: Repository | None) -> str:
    """Return where a forge publishes the pages of a repository, or nothing if that is unknown.

    >>> pages_address(Repository("https://github.com/Reader/attention", "github"))
    'https://reader.github.io/attention/'
    >>> pages_address(Repository("https://github.com/reader/reader.github.io", "github"))
    'https://reader.github.io/'
    """
    if repository is None:
        return ""
    host, owner, *path = repository.url.removeprefix("https://").split("/")
    if host not in _PAGES:
        return ""
    site = f"{owner.lower()}.{_PAGES[host]}"
    folder = "" if path == [site] else "/".join(path) + "/"
    return f"https://{site}/{folder}"


def find_address(environ: Mapping[str, str], folder: Path) -> str:
    """Return where the book is published: BOOK_ADDRESS, else where its repository publishes.

    Args:
        environ: the environment variables.
        folder: a folder of the working tree.

    Returns:
        An address that ends with a stroke; empty where none is known.

    Raises:
        ConfigError: BOOK_ADDRESS is no address.
    """
    if given := environ.get("BOOK_ADDRESS"):
        if not given.startswith(("https://", "http://")):
            raise ConfigError(f"BOOK_ADDRESS: got {given!r}, wanted https://host/path/")
        return given.rstrip("/") + "/"
    return pages_address(find_repository(environ, folder))


def setup(app: Sphinx) -> None:
    app.add_config_value("book_address", "", "html", types=(str,))
    app.connect("config-inited", _configure)


def _configure(app: Sphinx, config: Config) -> None:
    config.book_address = config.book_address or find_address(os.environ, Path(app.srcdir))
