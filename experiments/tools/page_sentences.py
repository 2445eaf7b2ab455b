"""Make the text of the lesson on language models: the sentences of this book's own pages.

`python -m experiments.tools.page_sentences` reads the pages as they stand in `book/` and writes
`bookkit/data/sentences.txt`, one sentence a line, in lower case. The file is a copy of one day.
It does not follow the pages, so that what is trained with it stays the same. Sentences with
formulas, code, numbers, half a bracket or other letters than a to z are left out, and so is a
sentence that came before.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from bookkit.data.sentences import FILE, LONGEST, SYMBOLS

BOOK = Path("book")
SHORTEST = 20
"""Letters of a sentence, at least; the longest is that of the package."""

_BLOCK = re.compile(r"^(`{3,}|:{3,}).*?^\1[ \t]*$|^\$\$.*?\$\$$", re.MULTILINE | re.DOTALL)
_NO_PROSE = re.compile(r"\s*(?:#|\||\(.*\)=|:\w|- \( \))")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_TERM = re.compile(r"\{term\}`([^`<]*?)(?: <[^>]*>)?`")
_END = re.compile(r"(?<=[.?!])\s+")
_PLAIN = {"’": "'", "“": '"', "”": '"', "‘": "'", "*": "", "_": ""}


def prose(markdown: str) -> Iterator[str]:
    r"""Yield the paragraphs of a text, without headings, tables and blocks of other kinds.

    >>> list(prose("# Title\nOne *line*\nand [one](a.md) more.\n\n| a |\n- a point"))
    ['One line and one more.', 'a point']
    """
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:-|\d+\.) )", _BLOCK.sub("\n\n", markdown)):
        lines = [line for line in paragraph.splitlines() if not _NO_PROSE.match(line)]
        text = _LINK.sub(r"\1", " ".join(line.strip() for line in lines))
        text = _TERM.sub(r"\1", text)
        for mark, plain in _PLAIN.items():
            text = text.replace(mark, plain)
        if said := re.sub(r"^(?:-|\d+\.)\s+|^Guess first\. ", "", text.strip()):
            yield said


def sentences(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph that consist of the symbols alone.

    >>> list(sentences("Here we count the words. It has 3 words. Is it really so short?"))
    ['here we count the words.', 'is it really so short?']
    """
    for sentence in _END.split(paragraph):
        said = sentence.lower()
        whole = said.count("(") == said.count(")") and said.count('"') % 2 == 0
        if whole and SHORTEST <= len(said) <= LONGEST and set(said) <= set(SYMBOLS):
            yield said


def main() -> None:
    """Write the file."""
    found: dict[str, None] = {}
    for page in sorted(BOOK.glob("*/*.ipynb")):
        for cell in json.loads(page.read_text("utf8"))["cells"]:
            if cell["cell_type"] == "markdown":
                for paragraph in prose("".join(cell["source"])):
                    found |= dict.fromkeys(sentences(paragraph))
    FILE.write_text("\n".join(found) + "\n", encoding="utf8")
    print(f"{len(found):,} sentences, {sum(map(len, found)):,} letters")


if __name__ == "__main__":
    main()
