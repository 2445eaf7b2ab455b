"""Broken lines are short, and they are the same code."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

import companion
from bookkit.notebook import show_source
from bookkit.notebook.narrow import WIDTH, narrow
from companion import (
    MultiHeadAttention,
    additive_score,
    scaled_dot_product_attention,
    tiled_attention,
)

PACKAGE = Path(companion.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
CALL = "found = some_function(first_argument, second_argument, third_argument, key=other[0])"
NESTED = (
    "sums = torch.stack([query[:, [i]] @ weight + key @ key_weight for i in range(queries)], 1)"
)


def longest(code: str) -> int:
    return max(map(len, code.splitlines()))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_package_stays_the_same_code(path: Path) -> None:
    code = path.read_text(encoding="utf-8")
    broken = narrow(code)
    assert ast.dump(ast.parse(broken)) == ast.dump(ast.parse(code))
    assert narrow(broken) == broken
    short = [line for line in code.splitlines() if len(line) <= WIDTH]
    assert set(short) <= set(broken.splitlines())  # a line that fits stays as it is


@pytest.mark.parametrize("code", [CALL, NESTED])
def test_a_long_line_is_broken_in_its_brackets(code: str) -> None:
    assert longest(code) > WIDTH
    broken = narrow(code)
    assert longest(broken) <= WIDTH
    assert "".join(broken.split()) == "".join(code.split())


def test_arguments_fill_their_lines() -> None:
    assert narrow(CALL, 40).splitlines() == [
        "found = some_function(",
        "    first_argument, second_argument,",
        "    third_argument, key=other[0]",
        ")",
    ]


def test_a_clause_is_not_cut_at_the_commas_of_its_target() -> None:
    code = "pairs = dict((second, first) for first, second in zip(names, numbers))"
    assert "    for first, second in zip(names, numbers)" in narrow(code, 50).splitlines()


def test_a_comment_moves_above_its_line() -> None:
    code = "if x:\n    y = 1  # a comment that is too long\n"
    assert narrow(code, 25) == "if x:\n    # a comment that is\n    # too long\n    y = 1\n"


@pytest.mark.parametrize(
    "code",
    [
        'text = """one\n' + "word " * 30 + '\n"""\n',
        "x = " + " + ".join(["first_number"] * 9),
        "short = 1\n\n\nother = (2, 3)\n",
    ],
)
def test_what_cannot_be_broken_stays(code: str) -> None:
    assert narrow(code) == code


@pytest.mark.parametrize(
    "definition",
    [additive_score, scaled_dot_product_attention, tiled_attention, MultiHeadAttention.forward],
)
def test_what_pages_show_is_as_narrow_as_a_page(definition: Any) -> None:
    shown = show_source(definition, doc=False).code
    assert longest(shown) <= WIDTH
    whole = "".join(inspect.getsource(definition).split())
    assert "".join(shown.splitlines()[-1].split()) in whole
