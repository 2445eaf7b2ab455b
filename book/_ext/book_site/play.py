"""Draw playables in Node, and ship each module once.

A page's output holds a figure with its data as JSON. After the build, one Node process runs the
modules of all figures and writes what a reader sees first into the pages: for paper, for readers
without scripts, and so that nothing moves when the script comes. A page loads the scripts of its
own playables alone.
"""

import hashlib
import json
import re
import subprocess
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from book_site.formulas import EXTENSIONS
from book_site.node import find_node
from bookkit.playables.playable import FOLDER, KIT, script_of, style_of

_FIGURE = re.compile(
    r'(<figure class="am-play" data-play="([\w-]+)"[^>]*>)(.*?)'
    r'(<script type="application/json">(.*?)</script>)',
    flags=re.DOTALL,
)
_OURS = re.compile(
    r'<style class="am-play-style">.*?</style>|<script defer[^>]*_static/play/[^>]*></script>',
    flags=re.DOTALL,
)


def run(script: Path, job: Any) -> Any:
    command = [find_node(), script]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, encoding="utf-8")
    if done.returncode:
        raise ExtensionError(f"{done.stderr.strip()}\nIs all there? npm ci --prefix book/_ext")
    return json.loads(done.stdout)


def draw(pages: dict[Path, str]) -> dict[Path, str]:
    found = {path: _FIGURE.findall(page) for path, page in pages.items()}
    asked = [
        (name, "still", json.loads(data)) for all_ in found.values() for _, name, _, _, data in all_
    ]
    drawn = iter(run(FOLDER / "node.mjs", asked))
    return {
        path: _FIGURE.sub(lambda match: f"{match[1]}{next(drawn)}{match[4]}", page)
        for path, page in pages.items()
    }


def ship(names: list[str], folder: Path) -> dict[str, str]:
    """Write scripts, minified, into a folder; return their file names, stamped."""
    folder.mkdir(parents=True, exist_ok=True)
    small = run(EXTENSIONS / "bundle.mjs", {"scripts": {name: script_of(name) for name in names}})
    return {
        name: f"{name}.js?v={write(folder / f'{name}.js', text)}" for name, text in small.items()
    }


def write(path: Path, text: str) -> str:
    """Write a file; return the stamp that tells browsers when it has changed."""
    path.write_text(text, encoding="utf-8")
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def names_in(page: str) -> tuple[str, ...]:
    return tuple(sorted({name for _, name, *_ in _FIGURE.findall(page)}))


def refer(page: str, style: str, scripts: list[str]) -> str:
    """Return a page whose head has a style and scripts, and none of an earlier build."""
    tags = "".join(f'<script defer src="{script}"></script>' for script in scripts)
    head = f'<style class="am-play-style">{style}</style>{tags}</head>'
    return _OURS.sub("", page).replace("</head>", head, 1)


def setup(app: Sphinx) -> None:
    # Before fonts and styles are cut to the pages.
    app.connect("build-finished", _write, priority=50)


def _write(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    static = folder / "_static" / "play"
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.html"))}
    pages = draw({path: text for path, text in texts.items() if 'data-play="' in text})
    sets = {names_in(page) for page in pages.values()}
    scripts = ship([KIT, *sorted({name for names in sets for name in names})], static)
    styles = {" ".join(names): style_of(*names) for names in sets}
    styles = run(EXTENSIONS / "bundle.mjs", {"sheets": styles})
    for path, page in pages.items():
        names, root = names_in(page), "../" * (len(path.relative_to(folder).parts) - 1)
        files = [f"{root}_static/play/{scripts[name]}" for name in (KIT, *names)]
        path.write_text(refer(page, styles[" ".join(names)], files), encoding="utf-8")
