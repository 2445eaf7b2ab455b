"""Where the book's repository is, and where it is published: every whole address asks here.

A fork gets its own links, because nothing here is written down: the address comes from the
environment or from git. Where it cannot be known there are no buttons, rather than dead ones.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.util.docutils import SphinxDirective, SphinxRole

_ADDRESS = re.compile(
    r"(?:https?://(?:[^/@]*@)?|ssh://git@|git@)"
    r"(?P<host>[\w-]+(?:\.[\w-]+)+)[:/]"
    r"(?P<owner>[\w.-]+(?:/[\w.-]+)*)/(?P<name>[\w.-]+?)(?:\.git)?/?"
)
_PROVIDERS = ("github", "gitlab", "bitbucket")
_PAGES = {"github.com": "github.io", "gitlab.com": "gitlab.io"}  # where they publish
_PLACE = "ADDRESS"


@dataclass(frozen=True)
class Repository:
    url: str  # https://host/owner/name
    provider: str  # in the theme's words: github, gitlab or bitbucket
    branch: str = "main"

    def file(self, path: str, line: int | None = None) -> str:
        view = {"github": "blob", "gitlab": "-/blob", "bitbucket": "src"}[self.provider]
        mark = {"github": "#L", "gitlab": "#L", "bitbucket": "#lines-"}[self.provider]
        anchor = f"{mark}{line}" if line else ""
        return f"{self.url}/{view}/{quote(self.branch)}/{quote(path)}{anchor}"


def parse_address(address: str, branch: str = "main") -> Repository | None:
    """Read an https or ssh address of the form host/owner/name; anything else is no repository."""
    match = _ADDRESS.fullmatch(address.strip())
    if match is None:
        return None
    host = match["host"].lower()
    provider = next((name for name in _PROVIDERS if name in host), None)
    if provider is None or (provider != "gitlab" and "/" in match["owner"]):
        return None
    return Repository(f"https://{host}/{match['owner']}/{match['name']}", provider, branch)


def find_repository(environ: Mapping[str, str], folder: Path) -> Repository | None:
    """Find the repository: BOOK_REPOSITORY_URL, else the workflow's, else git's origin in a folder.

    A BOOK_REPOSITORY_URL that is no address of a repository is a ConfigError.
    """
    branch = environ.get("BOOK_REPOSITORY_BRANCH") or (
        environ.get("GITHUB_REF_NAME") if environ.get("GITHUB_REF_TYPE") == "branch" else None
    )
    if address := environ.get("BOOK_REPOSITORY_URL"):
        if repository := parse_address(address, branch or "main"):
            return repository
        wanted = f"https://host/owner/name on {', '.join(_PROVIDERS)}"
        raise ConfigError(f"BOOK_REPOSITORY_URL: got {address!r}, wanted {wanted}")
    if name := environ.get("GITHUB_REPOSITORY"):
        server = environ.get("GITHUB_SERVER_URL", "https://github.com")
        return Repository(f"{server}/{name}", "github", branch or "main")
    address = _git(folder, "config", "--get", "remote.origin.url")
    default = _git(folder, "rev-parse", "--abbrev-ref", "origin/HEAD").partition("/")[2]
    return parse_address(address, branch or default or "main")


def _git(folder: Path, *words: str) -> str:
    """Return what git answers, and nothing where it has no answer or is not there."""
    with suppress(FileNotFoundError):
        asked = ["git", *words]
        found = subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=False)
        return found.stdout.strip() if found.returncode == 0 else ""
    return ""


def find_address(environ: Mapping[str, str], folder: Path) -> str:
    """Return where the book is published: BOOK_ADDRESS, else where its repository publishes.

    It ends with a slash, and is empty where none is known. A wrong address is a ConfigError.
    """
    if given := environ.get("BOOK_ADDRESS"):
        if not given.startswith(("https://", "http://")):
            raise ConfigError(f"BOOK_ADDRESS: got {given!r}, wanted https://host/path/")
        return given.rstrip("/") + "/"
    repository = find_repository(environ, folder)
    if repository is None:
        return ""
    host, owner, *path = repository.url.removeprefix("https://").split("/")
    if host not in _PAGES:
        return ""
    site = f"{owner.lower()}.{_PAGES[host]}"
    return f"https://{site}/" if path == [site] else f"https://{site}/{'/'.join(path)}/"


def theme_options(repository: Repository | None) -> dict[str, Any]:
    """Return the options of the theme that make its buttons right, or make none."""
    if repository is None:
        return {"repository_url": "", "use_repository_button": False, "launch_buttons": {}}
    host = repository.url.split("/")[2]
    launch = {"notebook_interface": "jupyterlab"}
    if host in ("github.com", "gitlab.com"):
        launch["binderhub_url"] = "https://mybinder.org"
    if host == "github.com":
        launch["colab_url"] = "https://colab.research.google.com"
    return {
        "repository_url": repository.url,
        "repository_provider": repository.provider,
        "repository_branch": repository.branch,
        "path_to_docs": "book",
        "use_repository_button": True,
        "launch_buttons": launch,
    }


class RepositoryFile(SphinxRole):
    """The role `repo`: a path in the repository, as a link where its address is known."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        path = nodes.literal(self.rawtext, self.text)
        repository: Repository | None = self.config.book_repository
        if repository is None:
            return [path], []
        return [nodes.reference("", "", path, refuri=repository.file(self.text))], []


def with_address(lines: Iterable[str], repository: Repository | None) -> list[str]:
    """Put the repository's address into commands; without one, leave out those that need it.

    >>> with_address(["git clone ADDRESS", "make book"], None)
    ['make book']
    """
    if repository is None:
        return [line for line in lines if _PLACE not in line]
    return [line.replace(_PLACE, repository.url) for line in lines]


class Commands(SphinxDirective):
    """The directive `commands`: a block for the shell, in which ADDRESS is the repository's."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        text = "\n".join(with_address(self.content, self.config.book_repository))
        return [nodes.literal_block(text, text, language="sh")]


def setup(app: Sphinx) -> None:
    app.add_directive("commands", Commands)
    app.add_config_value("book_repository", None, "env", types=(Repository, type(None)))
    app.add_config_value("book_address", "", "html", types=(str,))
    app.add_role("repo", RepositoryFile())
    app.connect("config-inited", _configure)


def _configure(app: Sphinx, config: Config) -> None:
    config.book_repository = find_repository(os.environ, Path(app.srcdir))
    config.book_address = config.book_address or find_address(os.environ, Path(app.srcdir))
    config.html_theme_options.update(theme_options(config.book_repository))
