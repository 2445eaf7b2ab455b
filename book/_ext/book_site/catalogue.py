"""What a package offers, read from its source by griffe: nothing is imported or installed for it.

Where a function states its shapes and ranges in the decorator `contract`, they are shown among its
arguments, as at a prompt.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import griffe

from companion.contracts import documented

_Found = griffe.Object | griffe.Alias


@dataclass(frozen=True)
class Entry:
    name: str  # as a reader writes it, with the module that it is imported from
    kind: str  # the Python domain's word: function, class, exception, method, property or data
    signature: str
    doc: str  # without its indentation, with the terms of a contract
    home: str  # the module that defines it, in a line of a file
    path: Path
    line: int
    members: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class Module:
    name: str
    path: Path
    doc: str
    entries: tuple[Entry, ...]  # in the order of the source
    aliases: dict[str, str]  # passed on from elsewhere in the package, with their full names

    @property
    def summary(self) -> str:
        return self.doc.partition("\n")[0]


def catalogue(package: Path) -> dict[str, Module]:
    """Read the public modules of a package, by name.

    A sub-package with an `__all__` is documented as one module, under the names that it exports;
    what lies in files or under names that start with an underscore is left out.
    """
    root = griffe.load(
        package.name,
        try_relative_path=False,
        search_paths=[package.parent],
        resolve_aliases=True,
        resolve_external=False,
        allow_inspection=False,
    )
    assert isinstance(root, griffe.Module)
    return {module.path: _describe(module) for module in _modules(root)}


def _modules(module: griffe.Module) -> Iterator[griffe.Module]:
    yield module
    if not _is_facade(module):
        for name, inner in sorted(module.modules.items()):
            if not (name.startswith("_") or inner.is_alias):  # an alias is a module's import
                yield from _modules(inner)


def _is_facade(module: griffe.Module) -> bool:
    return module.is_subpackage and bool(module.exports)


def _describe(module: griffe.Module) -> Module:
    """List the public names of a module; those of a facade in the order of its own modules."""
    defined = (griffe.Class, griffe.Function, griffe.Attribute)
    own = [one for one in module.members.values() if one.is_public and isinstance(one, defined)]
    entries = [_entry(one, module.path) for one in own]
    exported = map(str, module.exports or ())
    aliases = {name: module.imports[name] for name in exported if name in module.imports}
    if _is_facade(module):
        entries += [_entry(one, module.path, exported=True) for one in _passed_on(module, aliases)]
        aliases = {}
    doc = _doc(module)
    return Module(module.path, _file(module), doc, tuple(filter(None, entries)), aliases)


def _passed_on(module: griffe.Module, aliases: dict[str, str]) -> list[griffe.Object]:
    """Return what a package exports from its own modules, in the order of those modules."""
    sources = list(dict.fromkeys(path.rpartition(".")[0] for path in module.imports.values()))
    targets = []
    for path in aliases.values():
        with suppress(KeyError):  # a constant that is assigned together with others
            one = module.modules_collection.get_member(path)
            if path.startswith(f"{module.path}."):
                order = sources.index(path.rpartition(".")[0]), one.lineno
                targets.append((order, one.final_target if one.is_alias else one))
    return [one for _, one in sorted(targets, key=lambda target: target[0])]


def _entry(one: _Found, module: str, *, exported: bool = False) -> Entry | None:
    """Describe what a module defines, under the name of the module that offers it."""
    name = f"{module}.{one.name}"
    if isinstance(one, griffe.Class):
        return _class(one, name)
    if isinstance(one, griffe.Function):
        return _made(one, name, "function", _signature(one))
    assert isinstance(one, griffe.Attribute)
    if not (one.docstring or exported or one.name in (one.module.exports or ())):
        return None
    return _made(one, name, "data", f" = {one.value}" if isinstance(one.value, str) else "")


def _class(one: griffe.Class, name: str) -> Entry:
    members = []
    for member in one.all_members.values():
        owner = member.final_target.parent if isinstance(member, griffe.Alias) else one
        if owner is one or (owner and owner.name.startswith("_")):  # that has no entry of its own
            members.append(_member(member, name))
    bases = [str(base) for base in one.bases]
    init = one.all_members.get("__init__")
    signature = _signature(init, returns=False) if init else ""
    if "NamedTuple" in bases:
        signature = f"({', '.join(_fields(one))})"
    is_error = any(base.endswith(("Error", "Exception")) for base in bases)
    made = _made(one, name, "exception" if is_error else "class", signature, init)
    return replace(made, members=tuple(filter(None, members)))


def _member(one: _Found, owner: str) -> Entry | None:
    hidden = one.name.startswith("_") and one.name != "__call__"
    if hidden or not one.has_docstring:
        return None
    if one.is_function:
        return _made(one, f"{owner}.{one.name}", "method", _signature(one))
    if "property" in one.labels:
        return _made(one, f"{owner}.{one.name}", "property", "")
    return None


def _made(one: _Found, name: str, kind: str, signature: str, *more: _Found | None) -> Entry:
    home = one.canonical_path[: -len(one.path.removeprefix(one.module.path))]
    doc = _documented(one, *more)
    return Entry(name, kind, signature, doc, home, _file(one), one.lineno or 1)


def _file(one: _Found) -> Path:
    assert isinstance(one.filepath, Path)
    return one.filepath


def _doc(one: _Found) -> str:
    return one.docstring.value if one.docstring else ""


def _signature(one: _Found, *, returns: bool = True) -> str:
    function = one.final_target if isinstance(one, griffe.Alias) else one
    assert isinstance(function, griffe.Function)
    return function.signature(return_type=returns).removeprefix(function.name)


def _fields(one: griffe.Class) -> Iterator[str]:
    for field in one.attributes.values():
        if "property" not in field.labels and field.annotation:
            default = f" = {field.value}" if field.value is not None else ""
            yield f"{field.name}: {field.annotation}{default}"


def _documented(one: _Found, *more: _Found | None) -> str:
    """Return a docstring with the terms of the contract, which a class may have at its start."""
    checked = [one, *filter(None, more)]
    terms = {name: term for each in checked for name, term in _terms(each).items()}
    names = [given.name for each in checked for given in getattr(each, "parameters", ())]
    return documented(_doc(one), terms, dict.fromkeys(names)) if terms else _doc(one)


def _terms(one: _Found) -> dict[str, str]:
    target = one.final_target if isinstance(one, griffe.Alias) else one
    terms: dict[str, str] = {}
    for decorator in getattr(target, "decorators", ()):
        call = _constant(decorator.value, target)
        if isinstance(call, griffe.ExprCall) and call.function.canonical_name == "contract":
            for argument in call.arguments:
                if isinstance(argument, griffe.ExprVarKeyword):  # **SIZES
                    terms |= _evaluated(_constant(argument.value, target))
                elif argument.name not in ("matching", "rule"):  # type: ignore[union-attr]
                    terms[argument.name] = _evaluated(argument.value)  # type: ignore[union-attr]
    return terms


def _constant(expression: Any, user: griffe.Object) -> Any:
    """Return what a name of a constant stands for, or the expression itself."""
    if isinstance(expression, griffe.ExprName):
        with suppress(KeyError):  # of another package
            named = user.modules_collection.get_member(expression.canonical_path)
            return getattr(named, "value", None)
    return expression


def _evaluated(expression: str | griffe.Expr) -> Any:
    """Return the value of a text, or of a dictionary of texts, that is written out."""
    return eval(str(expression), {"__builtins__": {}, "dict": dict})
