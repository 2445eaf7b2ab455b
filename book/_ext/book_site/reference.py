"""The API reference: one page a module, written from the source of the package.

The pages are generated into the folder `appendices/api`, which git ignores; api.md lists them. What
the source does not say, such as which lesson teaches a module, is in `package.yml`.
"""

import ast
import json
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import yaml
from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from book_site.catalogue import Entry, Module, catalogue
from book_site.contents import read_contents
from book_site.docstring import render
from book_site.repository import Repository

PACKAGE = "companion"
FOLDER = "appendices/api"
FILE = "package.yml"
MEASURED = ("counters", "growth", "resident", "roofline", "timing")
"""Modules of `companion.cost` that run what they count, and have a page of their own."""


class Reference:
    def __init__(self, package: Path) -> None:
        self.root = package.parent
        self.modules = catalogue(package)
        self.targets = self._targets()
        self.more: dict[str, Any] = {}
        self.lessons: dict[str, list[str]] = {}

    def add_book(self, folder: Path, toc: Path) -> None:
        """Read what the book says about the package, and which of its lessons import what."""
        self.more = yaml.safe_load((folder / FILE).read_text(encoding="utf-8"))
        lessons = defaultdict(list)
        for chapter in read_contents(toc):
            source = folder / f"{chapter.name}.ipynb"
            if source.exists() and not chapter.name.endswith("_evidence"):
                for name in {self.targets.get(one) for one in imported(source)} - {None}:
                    lessons[name].append(chapter.name)
        self.lessons = dict(lessons)

    def entries(self) -> Iterator[Entry]:
        for module in self.modules.values():
            for entry in module.entries:
                yield from (entry, *entry.members)

    def _targets(self) -> dict[str, str]:
        """Map every name by which something may be called to the one under which it is listed."""
        entries = list(self.entries())
        targets = {name: name for name in (*self.modules, *(entry.name for entry in entries))}
        targets |= {f"{e.home}.{e.name.rpartition('.')[2]}": e.name for e in entries}
        for module in self.modules.values():
            for alias, target in module.aliases.items():
                targets.setdefault(f"{module.name}.{alias}", targets.get(target, target))
        # A bare name is clear where only one thing has it; a method needs its class.
        bare = [entry.name for entry in entries if entry.kind not in ("method", "property")]
        counts = Counter(name.rpartition(".")[2] for name in bare)
        for name in bare:
            short = name.rpartition(".")[2]
            if counts[short] == 1:
                targets = {short: name, f"{PACKAGE}.{short}": name} | targets
        return targets

    def pages(self) -> dict[str, str]:
        """Return the text of the pages by name: a page for every module, or package of modules."""
        pages: dict[str, str] = {}
        for name in self.modules:
            short = name.removeprefix(f"{PACKAGE}.").partition(".")[0]
            if name == PACKAGE:
                continue
            level = "##" if short in pages else "#"
            text = f"{level} {name}\n\n```{{companion-module}} {name}\n```\n"
            pages[short] = f"{pages[short]}\n{text}" if short in pages else text
        if "cost" in pages:
            directive = "# Measuring costs\n\n```{companion-module} companion.cost\n"
            pages["cost_measured"] = f"{directive}:measured:\n```\n"
        return pages


def imported(notebook: Path) -> Iterator[str]:
    """Yield what the code of a notebook imports, with full names."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    for source in ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"):
        with suppress(SyntaxError):  # what only IPython reads
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.ImportFrom):
                    yield from (f"{node.module}.{one.name}" for one in node.names)


class ModuleDirective(SphinxDirective):
    """`companion-module`: what a module is for, and all that it offers."""

    required_arguments = 1
    option_spec: ClassVar = {"measured": directives.flag}

    def run(self) -> list[nodes.Node]:
        module = _reference(self.env).modules[self.arguments[0]]
        self.env.note_dependency(str(module.path))
        self.env.note_dependency(str(Path(self.env.srcdir, FILE)))
        measured = "measured" in self.options
        content = self._opening(module) if not measured else self._parse(_MEASURED)
        for entry in module.entries:
            if (entry.home.rpartition(".")[2] in MEASURED) == measured:
                content += self._entry(entry, module)
        return content

    def _opening(self, module: Module) -> list[nodes.Node]:
        more, short = _reference(self.env).more, module.name.removeprefix(f"{PACKAGE}.")
        content = self._parse(f"```{{py:module}} {module.name}\n```")
        content += render(module.doc, self._link)
        if formula := more.get("formulas", {}).get(short):
            (lines,) = (one for one in content if isinstance(one, nodes.literal_block))
            content[content.index(lines) : content.index(lines) + 1] = self._parse(formula)
        if taught := more.get("taught", {}).get(short):
            content += self._parse(f"Taught in: {_docs(taught)}.")
        if short == "cost":
            content += self._parse(_FORMULAS)
        return content

    def _entry(self, entry: Entry, module: Module) -> list[nodes.Node]:
        name = entry.name.removeprefix(f"{module.name}.")
        said = name if entry.kind == "data" else name + entry.signature
        parsed = self._parse(f"```{{py:{entry.kind}}} {said}\n:module: {module.name}\n```")
        for description in (node for node in parsed if isinstance(node, addnodes.desc)):
            for line in description.findall(addnodes.desc_signature):
                self._resolve(line)
                if entry.kind == "data":
                    line += addnodes.desc_annotation("", entry.signature)
            content = description[-1]
            assert isinstance(content, addnodes.desc_content)
            content += render(entry.doc, self._link)
            if lessons := _reference(self.env).lessons.get(entry.name):
                content += self._parse(f"In the lessons: {_docs(lessons[:4])}.")
            for member in entry.members:
                content += self._entry(member, module)
        return parsed

    def _parse(self, text: str) -> list[nodes.Node]:
        parent = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), ""), self.content_offset, parent)
        return list(parent.children)

    def _link(self, code: str) -> nodes.Node:
        target = _reference(self.env).targets.get(code.removesuffix("()"))
        return _xref(target, nodes.literal(code, code)) if target else nodes.literal(code, code)

    def _resolve(self, signature: nodes.Element) -> None:
        """Link the types of this package in a signature, and leave all others as plain text."""
        targets = _reference(self.env).targets
        for link in list(signature.findall(addnodes.pending_xref)):
            if target := targets.get(link["reftarget"]):
                link["reftarget"] = target
                link["reftype"] = "obj"
            else:
                link.replace_self(link.children)


_FORMULAS = f"What runs the code is on a page of its own: {{doc}}`/{FOLDER}/cost_measured`."
_MEASURED = (
    "What these functions find by running code, {py:mod}`companion.cost` says by formula. All of "
    "them are imported from `companion.cost`."
)


def _docs(pages: Iterable[str]) -> str:
    return ", ".join(f"{{doc}}`/{page}`" for page in pages)


class FloorsDirective(SphinxDirective):
    """`companion-floors`: the modules of the package with a line each, lowest layer first."""

    def run(self) -> list[nodes.Node]:
        source = Path(self.env.srcdir).parent / "pyproject.toml"
        self.env.note_dependency(str(source))
        headings = _reference(self.env).more.get("headings", {})
        listed: list[nodes.Node] = []
        for floor in floors(source.read_text(encoding="utf-8")):
            if heading := headings.get(floor[0].removeprefix(f"{PACKAGE}.")):
                listed.append(nodes.rubric("", heading))
            listed.append(self._modules(floor))
        return listed

    def _modules(self, floor: list[str]) -> nodes.definition_list:
        listing = nodes.definition_list(classes=["floor"])
        for module in [_reference(self.env).modules[name] for name in floor]:
            self.env.note_dependency(str(module.path))
            term = nodes.term("", "", _xref(module.name, nodes.literal("", module.name)))
            said = nodes.definition("", *render(module.summary))
            listing += nodes.definition_list_item("", term, said)
        return listing


def floors(pyproject: str) -> list[list[str]]:
    """Return the modules of each layer that pyproject.toml enforces, the lowest first."""
    contracts = tomllib.loads(pyproject)["tool"]["importlinter"]["contracts"]
    (layers,) = (one["layers"] for one in contracts if one["id"] == PACKAGE)
    return [
        [f"{PACKAGE}.{name}" for name in re.findall(r"\w+", layer)] for layer in reversed(layers)
    ]


def _xref(target: str, child: nodes.Element) -> addnodes.pending_xref:
    return addnodes.pending_xref(
        "", child, refdomain="py", reftype="obj", reftarget=target, refexplicit=True, refwarn=True
    )


def _reference(env: BuildEnvironment) -> Reference:
    reference: Reference = env.app.book_reference  # type: ignore[attr-defined]
    return reference


def setup(app: Sphinx) -> None:
    app.add_directive("companion-module", ModuleDirective)
    app.add_directive("companion-floors", FloorsDirective)
    app.setup_extension("sphinx.ext.linkcode")
    app.connect("config-inited", _read, priority=100)
    app.connect("config-inited", _link_source, priority=600)
    app.connect("missing-reference", _find)
    app.connect("build-finished", _delete_old_pages, priority=100)


def _read(app: Sphinx, _config: Config) -> None:
    """Read the package and write the pages, those that changed alone."""
    reference = Reference(Path(app.srcdir).parent / PACKAGE)
    if Path(app.srcdir, FILE).exists():
        reference.add_book(Path(app.srcdir), Path(app.srcdir, app.config.external_toc_path))
    app.book_reference = reference  # type: ignore[attr-defined]
    folder = Path(app.srcdir, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    pages = {f"{name}.md": text for name, text in reference.pages().items()} | {".gitignore": "*\n"}
    for path in folder.iterdir():
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _link_source(app: Sphinx, config: Config) -> None:
    repository: Repository | None = config.book_repository
    reference: Reference = app.book_reference  # type: ignore[attr-defined]
    entries = {entry.name: entry for entry in reference.entries()}

    def resolve(_domain: str, info: dict[str, Any]) -> str | None:
        entry = entries.get(f"{info['module']}.{info['fullname']}")
        if repository is None or entry is None:
            return None
        return repository.file(entry.path.relative_to(reference.root).as_posix(), entry.line)

    config.linkcode_resolve = resolve


def _find(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.Element
) -> nodes.Element | None:
    """Resolve a name that is passed on, as companion.attend, to where it is described."""
    target = _reference(env).targets.get(node["reftarget"])
    if node.get("refdomain") != "py" or target in (None, node["reftarget"]):
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", target, node, content)


def _delete_old_pages(app: Sphinx, error: Exception | None) -> None:
    """Delete what an earlier build wrote for modules that are gone."""
    if error is None and app.builder.format == "html":
        kept = {*app.env.found_docs, *app.config.redirects}
        for folder in (Path(app.outdir, FOLDER), Path(app.outdir, "_sources", FOLDER)):
            for path in folder.glob("*.*"):
                if f"{FOLDER}/{path.name.partition('.')[0]}" not in kept:
                    path.unlink()
