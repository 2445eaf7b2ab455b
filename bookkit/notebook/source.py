"""Show the code of the package as the output of a cell: what a page explains is what was tested."""

import ast
import inspect
import textwrap
from dataclasses import dataclass
from itertools import groupby
from typing import Any

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
    """Source code from named modules, as highlighted HTML or as text."""

    pieces: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        return "\n\n".join(f"# {module}\n{code}" for module, code in self._by_module())

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
            (module, "\n\n\n".join(code for _, code in group))
            for module, group in groupby(self.pieces, key=lambda piece: piece[0])
        ]


def show_source(obj: Any, *more: Any) -> Source:
    """Show functions, classes and methods as they stand in their files, from `def` or `class` on.

    Their decorators and all docstrings are left out; nothing else changes.

    Args:
        obj: what to show.
        more: what to show below it.

    >>> print(show_source(show_source))
    # bookkit.notebook.source
    def show_source(obj: Any, *more: Any) -> Source:
        return Source(tuple(_piece(one) for one in (obj, *more)))
    """
    return Source(tuple(_piece(one) for one in (obj, *more)))


def _piece(obj: Any) -> tuple[str, str]:
    obj = obj.fget if isinstance(obj, property) else obj
    obj = inspect.unwrap(obj) if callable(obj) else obj
    try:
        code = textwrap.dedent(inspect.getsource(obj))
    except (TypeError, OSError):
        raise TypeError(
            f"obj: got {obj!r}, wanted a function, class or method written in Python"
        ) from None
    lines: list[str | None] = [*code.splitlines()]
    (definition,) = ast.parse(code).body
    lines[: definition.lineno - 1] = [None] * (definition.lineno - 1)  # decorators
    for node in ast.walk(definition):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if ast.get_docstring(node, clean=False) is None or len(node.body) == 1:
            continue
        start, stop = node.body[0].lineno - 1, node.body[0].end_lineno or 0
        stop += not lines[stop]  # the blank line below it goes, too
        lines[start:stop] = [None] * (stop - start)
    return obj.__module__, "\n".join(line for line in lines if line is not None)
