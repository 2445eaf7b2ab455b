"""How to run a page: a button above its exercises, or at its end, with every way that there is."""

import html
import re
from pathlib import PurePosixPath

from book_site.repository import Repository

_EXERCISES = re.compile(r'<section id="exercises">\s*<h2>.*?</h2>', re.DOTALL)
_INSTALL = "pip install -c constraints.txt -e . -e './bookkit[notebooks]'"
_COLAB = (
    '%pip install "attention-companion @ git+{url}" '
    '"attention-bookkit[notebooks] @ git+{url}#subdirectory=bookkit"'
)


def with_ways_to_run(body: str, page: str, repository: Repository | None) -> str:
    """Say in a page, seen from the repository, how to run it: before its exercises, if it has some.

    >>> body = '<section id="exercises"><h2>Exercises</h2><p>One.</p>'
    >>> with_ways_to_run(body, "book/a.ipynb", None).index("jupyter lab book/a.ipynb") < 400
    True
    """
    found = _EXERCISES.search(body)
    if found is None:
        return body + _ways(page, repository, "Run this page")
    box = _ways(page, repository, "Run this page and check your answers")
    return body[: found.end()] + box + body[found.end() :]


def _ways(page: str, repository: Repository | None, label: str) -> str:
    lines = [_INSTALL, f"jupyter lab {page}"]
    if repository is None:
        where = "In a copy of the book’s repository, these two commands open it in JupyterLab:"
        online = ""
    else:
        name = PurePosixPath(repository.url).name
        lines.insert(0, f"git clone {repository.url} &amp;&amp; cd {name}")
        where = "On your own machine, these commands open it in JupyterLab:"
        online = _online(page, repository)
    return (
        f'<details class="run-here"><summary>{label}</summary>'
        "<p>The exercises can be checked where the page runs: a check prints “Right.”, or a hint."
        f" {where}</p>{_code(*lines)}{online}</details>\n"
    )


def _online(page: str, repository: Repository) -> str:
    """Links to the two services, where they can reach the repository."""
    ways = []
    if binder := repository.binder(page):
        ways.append(f'<p>Or <a href="{binder}">open it on Binder</a>, in a minute or two.</p>')
    if colab := repository.colab(page):
        ways.append(
            f'<p>Or <a href="{colab}">open it on Colab</a>, and run this in a first cell:</p>'
            + _code(html.escape(_COLAB.format(url=repository.url), quote=False))
        )
    return "".join(ways)


def _code(*lines: str) -> str:
    shown = "\n".join(lines)
    return (
        '<div class="highlight-sh notranslate"><div class="highlight">'
        f"<pre>{shown}\n</pre></div></div>"
    )
