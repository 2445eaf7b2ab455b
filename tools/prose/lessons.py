"""How long a lesson is, and how much code it shows."""

import re
from collections.abc import Iterator

from bookkit.contents import FOLDED
from tools.prose.pages import Page, before_exercises, pages, said

FEWEST_WORDS, MOST_WORDS = 1200, 2000
MOST_LINES, LONGEST_CELL = 60, 20
# Fenced blocks other than boxes, displayed formulas, tables, headings, options, pictures.
NO_PROSE = re.compile(
    r"(?ms)^([`:]{3,})(?!\{(?:note|admonition|margin|tip|warning|important|dropdown)\b).*?^\1\s*$"
    r"|\$\$.*?\$\$|^(?:#{1,6} |\||:[\w-]+:|%|[`:]{3,}).*?$|!\[[^\]]*\]\([^)]*\)|<[^>]+>"
)


def words(source: str) -> int:
    r"""Count the words of prose; a formula in a line of text is one.

    >>> words("# Title\nTwo $a + b$ words.\n\n| a | b |\n$$\nx\n$$\n```python\na = 1\n```")
    3
    """
    text = re.sub(r"\$[^$]+\$", "formula", NO_PROSE.sub(" ", source))
    return sum(1 for word in text.split() if re.search(r"\w", word))


def shown(cell: Page) -> int:
    """Return how many lines of code of a cell a reader sees without opening anything."""
    if cell["cell_type"] != "code" or FOLDED & set(cell["metadata"].get("tags", ())):
        return 0
    return sum(1 for line in "".join(cell["source"]).splitlines() if line.strip())


def warnings() -> Iterator[str]:
    """Yield what is longer or shorter than a lesson should be."""
    for name, page in pages().items():
        if lesson := page["metadata"].get("lesson"):
            cells = list(before_exercises(page))
            count = words("\n\n".join(map(said, cells)))
            if not FEWEST_WORDS <= count <= MOST_WORDS:
                yield f"{name}: {count} words, wanted {FEWEST_WORDS} to {MOST_WORDS}"
            lines = [shown(cell) for cell in cells]
            most = lesson.get("code_lines", {}).get("most", MOST_LINES)
            if sum(lines) > most:
                yield f"{name}: {sum(lines)} lines of code in view, at most {most}"
            if max(lines) > LONGEST_CELL:
                yield f"{name}: a cell of {max(lines)} lines, at most {LONGEST_CELL}"
