"""Code beside code: the lines in which they differ are marked, in colours, signs and text."""

from bookkit.notebook import beside
from bookkit.notebook.beside import statements

WRONG = """score = encoder + decoder
weights = softmax(score, axis=1)

return_nothing(weights)"""
RIGHT = """score = encoder[:, None] + decoder[:, :, None]
weights = softmax(score, axis=1)

return_nothing(weights)
print('<b>')"""


def documented(x: list[float], y: float = 2) -> list[float]:
    """Multiply.

    Twice, even.
    """
    for number in x:
        y *= number
    # A comment stays.
    x = [y]
    return x


def bare(x: float) -> None:
    x += 1


def test_only_the_lines_that_differ_are_marked() -> None:
    assert beside(WRONG, RIGHT).changed == ({0}, {0, 4})
    assert beside(WRONG, WRONG).changed == (set(), set())


def test_of_a_function_the_statements_are_shown() -> None:
    assert statements(documented) == (
        "for number in x:\n    y *= number\n# A comment stays.\nx = [y]"
    )
    assert statements(bare) == "x += 1"
