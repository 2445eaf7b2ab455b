"""Show the code of the package as the output of a cell: what a page explains is what was tested."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from dataclasses import dataclass
from itertools import groupby
from types import ModuleType
from typing import Any

from bookkit.notebook.narrow import narrow

# Inside :where() nothing outweighs the style of the page; where it has none, these speak.
_STYLE = (
    ":where(.am-source){margin:.5rem 0}"
    ":where(.am-source .am-place){font-size:.875em;opacity:.8}"
    ":where(.am-source pre){overflow-x:auto;line-height:1.45}"
    ":where(.am-source :is(.k,.kn,.kc,.ow,.nf,.nc)){font-weight:700}"
    ":where(.am-source :is(.c1,.sd)){opacity:.8;font-style:italic}"
)


@dataclass(frozen=True, repr=False)
class Source:
    """Source code from named modules, as highlighted HTML or as text.

    Attributes:
        pieces: (module, code) pairs.
    """

    pieces: tuple[tuple[str, str], ...]

    @property
    def code(self) -> str:
        """The code alone."""
        return "\n\n".join(code for _, code in self.pieces)

    def __repr__(self) -> str:
        return "\n\n".join(f"# {module}\n{code}" for module, code in self._by_module()).rstrip()

    def _repr_html_(self) -> str:
        from pygments import formatters, highlight, lexers  # type: ignore[import-untyped]

        lexer, formatter = lexers.PythonLexer(), formatters.HtmlFormatter(cssclass="highlight")
        parts = (
            f'<div class="am-place">{module}</div>{highlight(code, lexer, formatter)}'
            for module, code in self._by_module()
        )
        return f'<div class="am-source"><style>{_STYLE}</style>{"".join(parts)}</div>'

    def _by_module(self) -> list[tuple[str, str]]:
        return [
            (module, "\n\n".join(code for _, code in group))
            for module, group in groupby(self.pieces, key=lambda piece: piece[0])
        ]


def show_source(
    obj: Any, *more: Any, doc: bool = True, contract: bool = False, hints: bool = True
) -> Source:
    """Show the source of functions, classes, methods or modules, as it is installed.

    Lines that are longer than a page is wide are broken again; nothing else changes.

    Args:
        obj: what to show.
        more: what to show below it.
        doc: False leaves the docstrings out.
        contract: also show what checks the arguments, where kernels are asked, and what is there
            for type checkers alone.
        hints: False leaves out which types arguments and variables have.

    Raises:
        TypeError: an object has no Python source, as a number or a built-in function.

    >>> print(show_source(show_source, doc=False, hints=False))
    # bookkit.notebook.source
    def show_source(obj, *more, doc=True, contract=False, hints=True):
        shown = (_piece(one, doc, contract, hints) for one in (obj, *more))
        return Source(tuple(shown))
    """
    shown = (_piece(one, doc, contract, hints) for one in (obj, *more))
    return Source(tuple(shown))


def _piece(obj: Any, doc: bool, contract: bool, hints: bool) -> tuple[str, str]:
    if isinstance(obj, property):
        obj = obj.fget
    obj = inspect.unwrap(obj) if callable(obj) else obj
    try:
        code = textwrap.dedent(inspect.getsource(obj))
    except (TypeError, OSError):
        raise TypeError(
            f"obj: got {obj!r}, wanted a function, class, method or module written in Python"
        ) from None
    module = obj.__name__ if isinstance(obj, ModuleType) else obj.__module__
    code = code if contract else _without_contracts(code)
    code = code if doc else _without_docstrings(code)
    return module, narrow(code if hints else _without_hints(code))


def _without_contracts(code: str) -> str:
    """Leave out what a reader of a definition does not need: contracts, kernels, typing."""
    lines = code.splitlines(keepends=True)
    for node in ast.walk(ast.parse(code)):
        decorators = getattr(node, "decorator_list", [])
        names = [_name(decorator) for decorator in decorators]
        if isinstance(node, ast.FunctionDef) and "overload" in names:
            _leave_out(lines, decorators[0].lineno, node)
        if isinstance(node, ast.If) and _name(node.test) == "TYPE_CHECKING" and not node.orelse:
            _leave_out(lines, node.lineno, node)
        for name, decorator in zip(names, decorators, strict=True):
            if name in ("contract", "accelerated"):
                _leave_out(lines, decorator.lineno, decorator)
    text = re.sub(r"(?m)^[ ]*# fmt: (on|off)\n|  # fmt: skip$", "", "".join(lines))
    return f"{text.rstrip()}\n"


def _name(node: ast.expr) -> str:
    """Return the name of what is used or called; nothing if it has none."""
    call = node.func if isinstance(node, ast.Call) else node
    return call.id if isinstance(call, ast.Name) else ""


def _leave_out(lines: list[str], start: int, node: ast.stmt | ast.expr) -> None:
    """Empty the lines from a number on to the end of a piece of code."""
    stop = node.end_lineno or start
    lines[start - 1 : stop] = [""] * (stop - start + 1)
    # Below a statement that goes, the blank line that set it off goes, too.
    if isinstance(node, ast.stmt) and stop < len(lines) and not lines[stop].strip():
        lines[stop] = ""


def _without_docstrings(code: str) -> str:
    """Leave out every docstring, and the blank line below it."""
    lines = code.splitlines(keepends=True)
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is None:
            continue
        text = node.body[0]
        if lines[text.lineno - 1][: text.col_offset].strip():
            continue  # it shares its line with the definition
        start, stop = text.lineno - 1, text.end_lineno or text.lineno
        only = len(node.body) == 1 and not isinstance(node, ast.Module)
        lines[start] = " " * text.col_offset + "...\n" if only else ""
        lines[start + 1 : stop] = [""] * (stop - start - 1)
        if stop < len(lines) and not lines[stop].strip() and not only:
            lines[stop] = ""
    return "".join(lines)


def _without_hints(code: str) -> str:
    """Leave out the types of arguments, of what is returned, and of variables with a value."""
    lines = re.sub(r"(?m)  # type: ignore.*$", "", code).splitlines(keepends=True)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            at, stop = node.target.end_col_offset, node.value.col_offset
            if node.lineno == node.value.lineno:
                line = lines[node.lineno - 1]
                lines[node.lineno - 1] = f"{line[:at]} = {line[stop:]}"
        if isinstance(node, ast.FunctionDef):
            _leave_out_hints(lines, node)
    return "".join(lines)


def _leave_out_hints(lines: list[str], node: ast.FunctionDef) -> None:
    """Write the head of a function without types, in one line."""
    for one in ast.walk(node.args):
        if isinstance(one, ast.arg):
            one.annotation = None
    start = stop = node.lineno - 1
    while not re.search(r":\s*(?:#.*)?$", lines[stop]):
        stop += 1
    if stop >= node.body[0].lineno - 1:
        return  # the body begins in the line of the head
    head = f"{' ' * node.col_offset}def {node.name}({ast.unparse(node.args)}):\n"
    lines[start : stop + 1] = [head, *[""] * (stop - start)]
