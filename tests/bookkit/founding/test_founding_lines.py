"""What the exhibits show as the founding notebook's lines stands in its cell, word by word."""

import io
import tokenize
from collections.abc import Callable
from typing import Any

from bookkit.founding import (
    FoundingAttention,
    RepairedAttention,
    notebook_cell,
    reads_the_answers,
    reads_what_came_before,
)
from bookkit.notebook.beside import statements

LAYOUT = {
    tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
    tokenize.COMMENT,
}  # fmt: skip


def words(code: str) -> str:
    """Return the words and signs of a piece of code, however its lines are broken."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return " ".join(token.string for token in tokens if token.type not in LAYOUT)


def test_the_layer_has_the_lines_of_the_notebook() -> None:
    for quoted in (FoundingAttention.score, FoundingAttention.weigh, FoundingAttention.blend):
        assert words(statements(quoted)) in words(notebook_cell())


def test_the_call_of_fit_is_the_one_that_the_notebook_left_out() -> None:
    (line,) = [line for line in notebook_cell().splitlines() if "model.fit(" in line]
    assert words(statements(reads_the_answers)) == words(line.removeprefix("# "))


def test_no_repair_passes_for_a_line_of_the_notebook() -> None:
    repairs: list[Callable[..., Any]] = [
        RepairedAttention.score, RepairedAttention.weigh, RepairedAttention.weigh_letters,
        RepairedAttention.blend, reads_what_came_before,
    ]  # fmt: skip
    for repaired in repairs:
        assert words(statements(repaired)) not in words(notebook_cell())
