"""Code beside code: the lines in which they differ are marked, in colours, signs and text."""

from bs4 import BeautifulSoup

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


def test_the_text_has_signs_and_titles() -> None:
    lines = repr(beside(WRONG, RIGHT, titles=("before", "after"))).splitlines()
    assert lines[0] == "# before"
    assert lines[1] == "- score = encoder + decoder"
    assert lines[2] == "  weights = softmax(score, axis=1)"
    assert lines[6] == "# after"
    assert lines[-1] == "+ print('<b>')"


def test_the_page_shows_both_codes_whole_and_marks_the_same_lines() -> None:
    shown = beside(WRONG, RIGHT)
    soup = BeautifulSoup(shown._repr_html_(), "html.parser")
    wrong, right = soup.select(".am-beside > div")
    for side, code, changed in zip((wrong, right), (WRONG, RIGHT), shown.changed, strict=True):
        lines = side.select("pre > .am-line")
        assert "".join(line.get_text() for line in lines) == f"{code}\n"
        assert {n for n, line in enumerate(lines) if line.name == "mark"} == changed
    assert right.select_one("b") is None  # what the code holds is text
    assert [place.get_text() for place in soup.select(".am-place")] == [
        "the notebook",
        "the repair",
    ]


def test_of_a_function_the_statements_are_shown() -> None:
    assert statements(documented) == (
        "for number in x:\n    y *= number\n# A comment stays.\nx = [y]"
    )
    assert statements(bare) == "x += 1"
