"""A digest of the code that makes a run, so that a stored run is never taken for one of other code.

From a function and the classes of what it is called with, every name that their definitions use is
followed to its own definition, as far as `companion` and `experiments` go. What is never reached,
such as the wording of a claim or the drawing of a figure, may change without making a run old;
comments, docstrings and layout do not matter either.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

OURS = ("companion", "experiments")
CHECKS_ALONE = ("companion.contracts",)
"""Modules that refuse bad calls and change nothing in good ones."""

Place = tuple[str, str]
"""A module, and a name at its top level."""


def code_digest(work: object, *arguments: object) -> str:
    """Return a short digest of all code of ours that a call may run.

    Args:
        work: the function.
        arguments: what it is called with; the classes of those that are ours are followed, too.

    >>> from companion.data.pairs import Pair
    >>> code_digest(Pair) == code_digest(Pair)
    True
    """
    found: dict[Place, str] = {}
    waiting = [place for thing in (work, *arguments) for place in _places(thing)]
    while waiting:
        module, name = waiting.pop()
        if (module, name) not in found and _is_ours(module):
            definition = _definitions(module).get(name)
            found[module, name] = _written(definition)
            waiting += _used(module, name, definition)
    reached = sorted((place, code) for place, code in found.items() if code)
    text = "\n".join(f"{module}.{name} {code}" for (module, name), code in reached)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _places(thing: object) -> Iterator[Place]:
    """Yield where a function or the class of a value is defined, and those of its fields."""
    if callable(thing) and hasattr(thing, "__qualname__"):
        yield thing.__module__, thing.__qualname__.partition(".")[0]
        return
    yield type(thing).__module__, type(thing).__name__
    if is_dataclass(thing):
        for part in fields(thing):
            yield from _places(getattr(thing, part.name))


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in OURS and not module.startswith(CHECKS_ALONE)


@cache
def _definitions(module: str) -> dict[str, ast.stmt]:
    """Return the statements at the top level of a module by the names that they define."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return {}
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf8"))
    return {name: statement for statement in _top(tree.body) for name in _defined(statement)}


def _top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, ast.If | ast.Try):
            for_types = isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.dump(
                statement.test
            )
            yield from _top([*([] if for_types else statement.body), *statement.orelse])
        else:
            yield statement


def _defined(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in names)
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
            yield from (
                part.id
                for part in ast.walk(statement)
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
            )


def _used(module: str, name: str, definition: ast.stmt | None) -> Iterator[Place]:
    """Yield where the names are defined that the definition of a name uses."""
    if definition is None:
        return
    if isinstance(definition, ast.ImportFrom):
        yield from (place for known, place in _imported(definition) if known == name)
        return
    for part in ast.walk(definition):
        if isinstance(part, ast.ImportFrom):
            yield from (place for _, place in _imported(part))
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            yield module, part.id
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            whole = _module_called(module, part.value.id)
            if whole is not None:
                yield whole, part.attr


def _imported(statement: ast.ImportFrom) -> Iterator[tuple[str, Place]]:
    """Yield the names that a statement imports from us, and where each is defined."""
    source = statement.module or ""
    if _is_ours(source):
        for alias in statement.names:
            yield alias.asname or alias.name, _origin(source, alias.name)


@cache
def _origin(module: str, name: str) -> Place:
    """Return where a name is defined that a module offers, also one that it loads when asked."""
    if name not in _definitions(module):
        where = getattr(getattr(import_module(module), name, None), "__module__", None)
        if isinstance(where, str) and where != module:
            return where, name
    return module, name


def _module_called(module: str, name: str) -> str | None:
    """Return the whole name of the module of ours that a name stands for there, if it does."""
    statement = _definitions(module).get(name)
    if not isinstance(statement, ast.ImportFrom) or not _is_ours(statement.module or ""):
        return None
    whole = [f"{statement.module}.{a.name}" for a in statement.names if name in (a.asname, a.name)]
    return next((known for known in whole if _is_module(known)), None)


def _is_module(whole: str) -> bool:
    try:
        return find_spec(whole) is not None
    except ModuleNotFoundError:  # its parent is no package
        return False


def _written(node: ast.AST | list[object] | object) -> str:
    """Write a syntax tree the same way in every version of Python, docstrings left out.

    Imports are written as nothing: what they import is followed, and where it stood is no matter.
    """
    if node is None or isinstance(node, ast.Import | ast.ImportFrom):
        return ""
    if isinstance(node, list):
        return "[" + ",".join(map(_written, node)) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = {name: value for name, value in ast.iter_fields(node) if value not in (None, [])}
    parts = {name: value for name, value in parts.items() if name not in ("ctx", "kind")}
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
        parts["body"] = node.body[1:]
    inner = ",".join(f"{name}={_written(value)}" for name, value in parts.items())
    return f"{type(node).__name__}({inner})"
