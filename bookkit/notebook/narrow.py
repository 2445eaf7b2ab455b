"""Code in lines of at most 79 letters, as wide as a page shows whole: the same code, broken again.

The package has lines of up to 100 letters. A line that is too long is broken as a formatter would:
what stands in its last brackets moves to lines of its own, which are filled.
"""

from __future__ import annotations

import ast
import io
import textwrap
import tokenize
from collections.abc import Iterator
from itertools import accumulate

WIDTH = 79
_STEP = 4
_CLAUSES = ("for", "async", "if", "else", "and", "or")


def narrow(code: str, width: int = WIDTH) -> str:
    r"""Break the lines of a piece of Python that are longer than a page is wide.

    Strings stay as they are, docstrings among them, and so does a line without brackets.

    Args:
        code: whole statements.
        width: letters that a line may have.

    >>> print(narrow("def attend(query, key, value):\n    return weigh(query, key) @ value", 24))
    def attend(
        query, key, value
    ):
        return weigh(
            query, key
        ) @ value
    """
    lines, end = code.splitlines(), "\n" if code.endswith("\n") else ""
    while True:
        rows = zip(lines, _rows("\n".join(lines)), strict=True)
        shorter = [
            _broken(line, *row, width) if len(line) > width else [line] for line, row in rows
        ]
        if all(len(several) == 1 for several in shorter):
            break
        lines = [line for several in shorter for line in several]
    broken = "\n".join(lines) + end
    return broken if ast.dump(ast.parse(broken)) == ast.dump(ast.parse(code)) else code


def _rows(code: str) -> list[tuple[list[tokenize.TokenInfo], int]]:
    """Return, for every line, its tokens and how many brackets are open where it begins."""
    count = len(code.splitlines())
    tokens: list[list[tokenize.TokenInfo]] = [[] for _ in range(count)]
    depths = [0] * (count + 1)
    for token in _tokens(code):
        for row in range(token.start[0] - 1, token.end[0]):
            tokens[row].append(token)
        depths[token.start[0]] += _deeper(token)
    return list(zip(tokens, accumulate(depths[:-1]), strict=True))


def _broken(line: str, tokens: list[tokenize.TokenInfo], open_before: int, width: int) -> list[str]:
    """Return a line of some code as several; as it is if it cannot be broken."""
    indent = " " * (len(line) - len(line.lstrip()))
    if not tokens or any(token.start[0] != token.end[0] for token in tokens):
        return [line]  # it belongs to a string of several lines
    if tokens[-1].type == tokenize.COMMENT:
        comment = tokens[-1].string.removeprefix("#").strip()
        above = textwrap.wrap(comment, width, initial_indent=f"{indent}# ",
                              subsequent_indent=f"{indent}# ")  # fmt: skip
        rest = line[: tokens[-1].start[1]].rstrip()
        return [*above, *([rest] if rest else [])]
    if open_before > 0 and (cut := _cut(tokens, width)):
        return [line[:cut].rstrip(), indent + line[cut:].strip()]
    for start, stop in reversed(list(_outer_brackets(tokens))):
        body = line[start + 1 : stop].strip()
        if body and indent + " " * _STEP + body != line:
            return [line[: start + 1], f"{indent}{' ' * _STEP}{body}", indent + line[stop:]]
    return [line]


def _cut(tokens: list[tokenize.TokenInfo], width: int) -> int:
    """Return where to break a line that stands inside brackets: before a clause, else at a comma.

    It is the last such column that leaves a first part of the width; 0 if there is none.
    """
    depth, commas, clauses = 0, [0], [0]
    for token in tokens:
        depth += _deeper(token)
        if depth == 0 and token.string == "," and token is not tokens[-1]:
            commas.append(token.end[1])
        if depth == 0 and token.type == tokenize.NAME and token.string in _CLAUSES:
            clauses.append(token.start[1] * (token is not tokens[0]))
    first, second = (
        max(column for column in columns if column <= width) for columns in (clauses, commas)
    )
    return first or second


def _deeper(token: tokenize.TokenInfo) -> int:
    """Return 1 for a bracket that opens, -1 for one that closes, else 0."""
    if token.type != tokenize.OP:
        return 0
    return (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))


def _tokens(code: str) -> list[tokenize.TokenInfo]:
    kept = tokenize.generate_tokens(io.StringIO(code).readline)
    layout = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    return [token for token in kept if token.type not in layout]


def _outer_brackets(tokens: list[tokenize.TokenInfo]) -> Iterator[tuple[int, int]]:
    """Yield the columns of brackets that open and close in a line, but not inside others."""
    opened: list[int] = []
    for token in tokens:
        if _deeper(token) > 0:
            opened.append(token.start[1])
        if _deeper(token) < 0 and opened:
            start = opened.pop()
            if not opened:
                yield start, token.start[1]
