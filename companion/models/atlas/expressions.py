"""Small expressions over the fields of a file, as `rules.toml` writes them.

They are Python's, turned into lists that begin with an operation, as the page evaluates them, too.
"""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable, Mapping
from typing import Any

Expression = Any
Check = Callable[[str, Any], Any]

_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.GtE: ">=", ast.In: "in",
}  # fmt: skip
_NUMBERS: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "<": operator.lt, ">=": operator.ge,
    "max": max, "divided": operator.floordiv,
}  # fmt: skip


def as_written(value: Any) -> str:
    """Return a value as a message has it: as JSON, and not too long."""
    text = json.dumps(value, default=repr)
    return text if len(text) <= 60 else f"{text[:57]}..."


def compiled(source: str) -> Expression:
    """Turn an expression into lists.

    >>> compiled("2 * heads if windows[i] else None")
    ['if', ['[]', 'windows', 'i'], ['*', 2, 'heads'], None]
    """
    return _listed(ast.parse(" ".join(source.split()), mode="eval").body)


def _listed(node: Any) -> Expression:
    match node:
        case ast.Constant(value=str(text)):
            return ["'", text]
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return name
        case ast.List(elts=parts):
            return ["list", *map(_listed, parts)]
        case ast.Attribute(value=inside, attr=name):
            return ["[]", _listed(inside), ["'", name]]
        case ast.Subscript(value=inside, slice=place):
            return ["[]", _listed(inside), _listed(place)]
        case ast.BinOp(left=left, op=sign, right=right):
            return [_BINARY[type(sign)], _listed(left), _listed(right)]
        case ast.Compare(left=left, ops=[sign], comparators=[right]):
            return [_BINARY[type(sign)], _listed(left), _listed(right)]
        case ast.BoolOp(op=sign, values=parts):
            name = "or" if isinstance(sign, ast.Or) else "and"
            return [name, *map(_listed, parts)]
        case ast.UnaryOp(op=ast.Not(), operand=part):
            return ["not", _listed(part)]
        case ast.UnaryOp(op=ast.USub(), operand=part):
            return ["-", 0, _listed(part)]
        case ast.IfExp(test=test, body=yes, orelse=no):
            return ["if", *map(_listed, (test, yes, no))]
        case ast.Call(func=ast.Name(id=name), args=parts):
            return [name, *map(_listed, parts)]
    wanted = "names, numbers, words, and operations that rules.toml knows"
    raise ValueError(f"source: got {ast.unparse(node)}, wanted {wanted}")


class Evaluator:
    """What expressions mean for the fields of one file.

    Args:
        fields: the fields and their values.
        check: takes the name of a field and its value; returns the value as it counts, or raises.
        path: what errors call the file.
    """

    def __init__(
        self, fields: Mapping[str, Any], check: Check, path: str
    ) -> None:
        self.fields, self.check, self.path = fields, check, path

    def __call__(self, it: Expression, at: int = 0) -> Any:
        """Return the value of an expression for the layer of some number."""
        if isinstance(it, str):
            return at if it == "i" else self.check(it, self.fields.get(it))
        if not isinstance(it, list):
            return it
        name, *parts = it
        if name == "'":
            return parts[0]
        if name == "if":
            return self(parts[1 if self(parts[0], at) else 2], at)
        if name in ("or", "and"):
            for part in parts[:-1]:
                value = self(part, at)
                if bool(value) == (name == "or"):
                    return value
            return self(parts[-1], at)
        if name in _NUMBERS:
            return self._number(name, parts, at)
        if name == "list":
            return [self(part, at) for part in parts]
        first, *others = (self(part, at) for part in parts)
        if name == "[]":
            return self._entry(parts[0], first, others[0])
        if name == "len" and first is None:
            raise self.refused(parts[0], first, "letters or a list")
        others_of: dict[str, Callable[[], Any]] = {
            "not": lambda: not first,
            "==": lambda: first == others[0],
            "!=": lambda: first != others[0],
            "in": lambda: first in (others[0] or ()),
            "len": lambda: len(first),
            "text": lambda: isinstance(first, str),
            "numbers": lambda: [
                int(one) for one in str(first).strip("[]").split(",")
            ],
        }
        return others_of[name]()

    def refused(self, it: Expression, value: Any, wanted: str) -> ValueError:
        """Return the error that a field has one value where another one is wanted."""
        return ValueError(
            f"{field_of(it)}: {self.path} has {as_written(value)}, wanted {wanted}"
        )

    def _number(self, name: str, parts: list[Expression], at: int) -> Any:
        values = [self(part, at) for part in parts]
        for part, value in zip(parts, values, strict=True):
            if not isinstance(value, int | float) or isinstance(value, bool):
                raise self.refused(part, value, "a number")
        if name in ("/", "//", "%", "divided") and values[1] == 0:
            raise self.refused(parts[1], 0, "at least 1")
        if name == "divided" and values[0] % values[1]:
            whole = f"a multiple of {field_of(parts[1])}, {values[1]}"
            raise self.refused(parts[0], values[0], whole)
        return _NUMBERS[name](*values)

    def _entry(self, it: Expression, inside: Any, place: Any) -> Any:
        if inside is None:
            return None
        if isinstance(inside, Mapping):
            written = (
                place,
                str(place),
                f"{place:02}" if place != str(place) else place,
            )
            found = (inside[one] for one in written if one in inside)
            return self.check(str(place), next(found, None))
        if not isinstance(inside, list | str) or not isinstance(place, int):
            raise self.refused(it, inside, "a list")
        if place >= len(inside):
            raise self.refused(it, inside, f"{place + 1} entries or more")
        return inside[place]


def field_of(it: Expression) -> str:
    """Return the field that an expression is about: the last one of a path, or the first."""
    if isinstance(it, str):
        return it
    if not isinstance(it, list):
        return str(it)
    if it[0] == "[]" and isinstance(it[2], list):
        return str(it[2][1])
    return field_of(it[1])
