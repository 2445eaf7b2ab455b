"""What a package offers, read from its source: nothing is imported, so nothing needs installing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Entry:
    """A public function, class, method, property or constant.

    Attributes:
        name: as a reader writes it, with the module that it is imported from.
        kind: the Python domain's word: function, class, exception, method, property or data.
        signature: what stands behind the name.
        doc: the docstring, without its indentation.
        home: the module that defines it.
        line: where in that module's file.
        members: methods and properties of a class.
    """

    name: str
    kind: str
    signature: str
    doc: str
    home: str
    line: int
    members: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class Module:
    """A public module or package.

    Attributes:
        name: its full name.
        path: its file.
        doc: the docstring.
        entries: what it offers, in the order of the source.
        aliases: names that it passes on from elsewhere in the package, with their full names.
    """

    name: str
    path: Path
    doc: str
    entries: tuple[Entry, ...]
    aliases: dict[str, str]

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.doc.partition("\n")[0]


def catalogue(package: Path) -> dict[str, Module]:
    """Read the public modules of a package, by name.

    A sub-package with an `__all__` is documented as one module, under the names that it exports;
    what lies in files or under names that start with an underscore is left out.

    Args:
        package: its folder.
    """
    sources = dict(_sources(package, package.name))
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in sources.items()}
    facades = {
        name
        for name, path in sources.items()
        if path.name == "__init__.py" and name != package.name and _exports(trees[name])
    }
    modules = {}
    for name, path in sources.items():
        if any(name.startswith(f"{facade}.") for facade in facades) or "._" in name:
            continue
        imported = _imports(trees[name])
        exported = _exports(trees[name]) or ()
        entries = list(_entries(trees[name], name, exported))
        if name in facades:
            entries += _passed_on(name, exported, imported, trees)
        aliases = {} if name in facades else _aliases(exported, imported)
        doc = ast.get_docstring(trees[name]) or ""
        modules[name] = Module(name, path, doc, tuple(entries), aliases)
    return modules


def _sources(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    """Yield the modules below a folder, packages first, in alphabetical order."""
    yield name, folder / "__init__.py"
    for path in sorted(folder.iterdir()):
        if (path / "__init__.py").is_file():
            yield from _sources(path, f"{name}.{path.name}")
        elif path.suffix == ".py" and path.stem != "__init__":
            yield f"{name}.{path.stem}", path


def _exports(tree: ast.Module) -> tuple[str, ...] | None:
    """Return `__all__`, where it is written out."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and "__all__" in _targets(node):
            try:
                return tuple(ast.literal_eval(node.value)) if node.value else None
            except ValueError:
                return None
    return None


def _imports(tree: ast.Module) -> dict[str, str]:
    """Return where imported names come from, those for type checkers alone included."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        for alias in node.names
    }


def _passed_on(
    facade: str, exported: tuple[str, ...], imported: dict[str, str], trees: dict[str, ast.Module]
) -> Iterator[Entry]:
    """Yield what a package exports from its own modules, in the order of those modules."""
    homes = dict.fromkeys(imported[name].rpartition(".")[0] for name in imported)
    for home in (home for home in homes if home.startswith(f"{facade}.") and home in trees):
        names = tuple(name for name in exported if imported.get(name) == f"{home}.{name}")
        for entry in _entries(trees[home], home, names):
            yield _rename(entry, home, facade)


def _rename(entry: Entry, old: str, new: str) -> Entry:
    return replace(
        entry,
        name=new + entry.name.removeprefix(old),
        members=tuple(_rename(member, old, new) for member in entry.members),
    )


def _aliases(exported: tuple[str, ...], imported: dict[str, str]) -> dict[str, str]:
    return {name: imported[name] for name in exported if name in imported}


def _entries(tree: ast.Module, module: str, exported: tuple[str, ...]) -> Iterator[Entry]:
    """Yield what a module defines: what it exports or, without `__all__`, all that is public."""
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        text = _string(after)
        for name in _targets(node):
            public = name in exported if exported else not name.startswith("_")
            if not public or _is_overload(node):
                continue
            if isinstance(node, ast.ClassDef):
                yield _class(node, module, classes)
            elif isinstance(node, _Function):
                yield _function(node, module, f"{module}.{name}", "function")
            elif text or name in exported:
                value = getattr(node, "value", None)
                written = f" = {ast.unparse(value)}" if isinstance(value, ast.Constant) else ""
                yield Entry(f"{module}.{name}", "data", written, text, module, node.lineno)


def _targets(node: ast.stmt) -> list[str]:
    """Return the names that a statement defines."""
    if isinstance(node, _Function | ast.ClassDef):
        return [node.name]
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _string(node: ast.stmt | None) -> str:
    """Return the text of a statement that is a string, as below a documented constant."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return node.value.value if isinstance(node.value.value, str) else ""
    return ""


def _decorators(node: _Function | ast.ClassDef) -> list[str]:
    names = (deco.func if isinstance(deco, ast.Call) else deco for deco in node.decorator_list)
    return [ast.unparse(name).rpartition(".")[2] for name in names]


def _is_overload(node: ast.stmt) -> bool:
    return isinstance(node, _Function) and "overload" in _decorators(node)


def _function(node: _Function, module: str, name: str, kind: str) -> Entry:
    arguments = node.args
    if kind == "method" and "staticmethod" not in _decorators(node):
        arguments = _without_first(arguments)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    signature = f"({ast.unparse(arguments)}){returns}"
    if kind == "method" and "property" in _decorators(node):
        kind, signature = "property", ""
    return Entry(name, kind, signature, ast.get_docstring(node) or "", module, node.lineno)


def _without_first(arguments: ast.arguments) -> ast.arguments:
    """Leave out self or cls."""
    rest = ast.arguments(**{field: getattr(arguments, field) for field in arguments._fields})
    if rest.posonlyargs:
        rest.posonlyargs = rest.posonlyargs[1:]
    else:
        rest.args = rest.args[1:]
    return rest


def _class(node: ast.ClassDef, module: str, classes: dict[str, ast.ClassDef]) -> Entry:
    name = f"{module}.{node.name}"
    methods: dict[str, Entry] = {}
    signature = ""
    for owner in (*_private_bases(node, classes), node):
        for part in owner.body:
            if not isinstance(part, _Function) or _is_overload(part):
                continue
            entry = _function(part, module, f"{name}.{part.name}", "method")
            if part.name == "__init__":
                signature = entry.signature.removesuffix(" -> None")
            elif entry.doc and (not part.name.startswith("_") or part.name == "__call__"):
                methods[part.name] = entry
    if not signature and ("dataclass" in _decorators(node) or _has_base(node, "NamedTuple")):
        signature = f"({', '.join(_fields(node))})"
    kind = "exception" if any(_has_base(node, end) for end in ("Error", "Exception")) else "class"
    doc = ast.get_docstring(node) or ""
    return Entry(name, kind, signature, doc, module, node.lineno, tuple(methods.values()))


def _private_bases(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> Iterator[ast.ClassDef]:
    """Yield the bases that have no entry of their own, whose methods belong to this one's."""
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id.startswith("_") and base.id in classes:
            yield from _private_bases(classes[base.id], classes)
            yield classes[base.id]


def _has_base(node: ast.ClassDef, end: str) -> bool:
    return any(ast.unparse(base).endswith(end) for base in node.bases)


def _fields(node: ast.ClassDef) -> Iterator[str]:
    """Yield the fields of a dataclass or named tuple as arguments."""
    for part in node.body:
        if not isinstance(part, ast.AnnAssign) or not isinstance(part.target, ast.Name):
            continue
        value = part.value
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "field":
            value = next((word.value for word in value.keywords if word.arg == "default"), None)
            value = value or ast.Constant(...)  # made by a factory
        default = f" = {ast.unparse(value)}" if value else ""
        yield f"{part.target.id}: {ast.unparse(part.annotation)}{default}"
