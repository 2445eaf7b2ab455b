"""Rules for the committed pages."""

import ast
import json
import re
import socket
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from experiments.tools.fold import folded

ROOT = Path(__file__).parents[2]
LARGEST_PAGE = 1_500_000  # bytes
LINE_LENGTH = 79

Page = dict[str, Any]
Rule = Callable[[Page], Iterator[str]]


def table_of_contents() -> list[str]:
    """Return every file that `_toc.yml` names, from the root and without suffix."""
    toc = (ROOT / "_toc.yml").read_text(encoding="utf8")
    return [f"book/{name}" for name in re.findall(r"(?m)^[\s-]*(?:root|file): (\S+)", toc)]


def pages() -> list[str]:
    return [f"{name}.ipynb" for name in table_of_contents() if (ROOT / f"{name}.ipynb").exists()]


def read(name: str) -> Page:
    page: Page = json.loads((ROOT / name).read_text(encoding="utf8"))
    return page


# What a page consists of


def code(page: Page) -> list[Page]:
    """Return the code cells that hold code."""
    return [c for c in page["cells"] if c["cell_type"] == "code" and text(c["source"]).strip()]


def markdown(page: Page) -> str:
    return "\n\n".join(text(c["source"]) for c in page["cells"] if c["cell_type"] == "markdown")


def text(value: Any) -> str:
    return "".join(value) if isinstance(value, list) else str(value)


def outputs(page: Page) -> Iterator[Page]:
    for cell in code(page):
        yield from cell["outputs"]


def printed(page: Page) -> Iterator[str]:
    """Yield what the outputs say: streams, and data that are text."""
    for output in outputs(page):
        yield text(output.get("text", ""))
        for kind, data in output.get("data", {}).items():
            if kind.startswith(("text/", "image/svg")):
                yield text(data)


def trees(page: Page) -> Iterator[ast.Module]:
    for cell in code(page):
        yield ast.parse(text(cell["source"]))


# The rules


def ran_in_order(page: Page) -> Iterator[str]:
    counts = [cell["execution_count"] for cell in code(page)]
    if counts != list(range(1, len(counts) + 1)):
        yield f"execution counts are {counts}: run the page once, from the top"


def imports_what_is_declared(page: Page) -> Iterator[str]:
    known = sys.stdlib_module_names | notebook_packages() | {"companion", "bookkit"}
    for tree in trees(page):
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or "."]
            for package in {name.split(".")[0] for name in names} - known:
                yield f"imports {package}, which the extra `notebooks` does not declare"


def redefines_nothing(page: Page) -> Iterator[str]:
    imported: set[str] = set()
    named = public_names() - set(page["metadata"].get("lesson", {}).get("builds", ()))
    for tree in trees(page):
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("companion"):
                imported |= {alias.asname or alias.name for alias in node.names}
    for tree in trees(page):
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in named:
                yield f"defines {node.name}, which a package has: import it, or call it otherwise"
            targets = node.targets if isinstance(node, ast.Assign) else []
            bound = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
            for name in bound & imported:
                yield f"assigns to {name}, which it imports from companion"


def says_nothing_of_the_machine(page: Page) -> Iterator[str]:
    host = socket.gethostname()
    for said in (EMBEDDED.sub("", said) for said in printed(page)):
        for found in ABSOLUTE_PATH.findall(said):
            yield f"absolute path in an output: {found}"
        if len(host) > 3 and host != "localhost" and re.search(rf"\b{re.escape(host)}\b", said):
            yield "the machine's name in an output"
        for found in ADDRESS.findall(said):
            yield f"network address in an output: {found}"


def has_a_plain_kernel(page: Page) -> Iterator[str]:
    kernel = page["metadata"].get("kernelspec", {})
    if kernel.get("name") != "python3" or not kernel.get("display_name", "").startswith("Python 3"):
        yield f"kernelspec is {kernel}, wanted the plain python3"
    if (page["nbformat"], page["nbformat_minor"]) < (4, 5):
        yield "older than notebook format 4.5"


def has_short_lines(page: Page) -> Iterator[str]:
    for line in (line for cell in code(page) for line in text(cell["source"]).splitlines()):
        if len(line) > LINE_LENGTH:
            yield f"{len(line)} characters, at most {LINE_LENGTH}: {line[:40]}..."


def has_alt_text(page: Page) -> Iterator[str]:
    for cell in code(page):
        kinds = {kind for output in cell["outputs"] for kind in output.get("data", {})}
        pictures = {kind for kind in kinds if kind.startswith("image/")}
        alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
        if pictures and "text/html" not in kinds and len(alt.split()) < 3:
            yield f"cell {cell.get('id')}: a picture without mystnb.image.alt in its metadata"
        for data in (output.get("data", {}) for output in cell["outputs"]):
            html = text(data.get("text/html", ""))
            if "data-play=" in html and len(text(data.get("text/plain", "")).split()) < 3:
                yield f"cell {cell.get('id')}: a playable that says nothing as text"
    for directive, name, options in FIGURE_DIRECTIVE.findall(markdown(page)):
        if not re.search(r"^:alt:\s*\S", options, re.MULTILINE):
            yield f"{{{directive}}} {name} without :alt:"
    for name in re.findall(r"!\[\s*\]\(([^)]*)\)", markdown(page)):
        yield f"![]({name}) without alternative text"


def has_a_modest_size(page: Page) -> Iterator[str]:
    size = len(json.dumps(page, ensure_ascii=False).encode())
    if size > LARGEST_PAGE:
        yield f"{size / 1e6:.1f} MB, at most {LARGEST_PAGE / 1e6:.1f} MB"


def says_when_it_ran(page: Page) -> Iterator[str]:
    run = page["metadata"].get("am", {}).get("run", {})
    if code(page) and not {"date", "versions", "processor"} <= run.keys():
        yield f"stamped {run}: python -m experiments.tools.stamp PAGE, after it ran"


def folds_in_jupyter_as_on_the_page(page: Page) -> Iterator[str]:
    for cell in page["cells"]:
        if cell["cell_type"] == "code" and folded(cell["metadata"]) != cell["metadata"]:
            yield f"cell {cell.get('id')}: JupyterLab folds other parts: `make format` mends it"


RULES: tuple[Rule, ...] = (
    ran_in_order, imports_what_is_declared, redefines_nothing, says_nothing_of_the_machine,
    has_a_plain_kernel, has_short_lines, has_alt_text, has_a_modest_size, says_when_it_ran,
    folds_in_jupyter_as_on_the_page,
)  # fmt: skip

# Two folders at least, and not the tail of an address, a closing tag or a relative path.
ABSOLUTE_PATH = re.compile(r"(?<![\w./:<])(?:/[A-Za-z_][\w.@+-]*){2,}|\b[A-Z]:\\\w+|\bfile://\S+")
# The letters of a picture or of numbers, not words.
EMBEDDED = re.compile(
    r"\bdata:[^\s\"')]*(?:\s+[A-Za-z0-9+/=]{40,})*"
    r'|"base64":"[^"]*"'
)
ADDRESS = re.compile(r"\blocalhost\b|(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
FIGURE_DIRECTIVE = re.compile(
    r"^(?:`{3,}|:{3,})\{((?:glue:)?(?:figure|image))\}[ ]*(\S*)\n((?:.*\n)*?)(?:`{3,}|:{3,})[ ]*$",
    re.MULTILINE,
)


@cache
def public_names() -> frozenset[str]:
    """Return every public function and class of the packages, read without importing them."""
    return frozenset(
        node.name
        for package in ("companion", "bookkit")
        for module in (ROOT / package).rglob("*.py")
        for node in ast.parse(module.read_text(encoding="utf8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    )


@cache
def notebook_packages() -> frozenset[str]:
    """Return the import names of what running a page installs."""
    files = ("pyproject.toml", "bookkit/pyproject.toml")
    own, kit = (tomllib.loads((ROOT / one).read_text(encoding="utf8"))["project"] for one in files)
    declared = own["dependencies"] + own["optional-dependencies"]["train"]
    declared += kit["optional-dependencies"]["notebooks"]
    names = (re.split(r"[<>=!~\[; ]", line)[0].replace("-", "_") for line in declared)
    renamed = {"ipython": "IPython", "scikit_learn": "sklearn"}
    return frozenset(renamed.get(name, name) for name in names)


# The pages keep the rules


def test_pages_keep_the_rules() -> None:
    faults = [
        f"{name}: {rule.__name__}: {problem}"
        for name in pages()
        for page in [read(name)]
        for rule in RULES
        for problem in rule(page)
    ]
    assert faults == []


def test_every_page_is_in_the_table_of_contents_once() -> None:
    found = {
        path.relative_to(ROOT).with_suffix("").as_posix()
        for path in (ROOT / "book").rglob("*.ipynb")
        if not any(part.startswith((".", "_")) for part in path.relative_to(ROOT).parts)
    }
    listed = table_of_contents()
    assert found <= set(listed)
    assert len(listed) == len(set(listed))
