"""Sentences that people wrote: those of this book's pages, letter by letter.

The file is a copy of the pages as they stood on one day, without formulas, code and numbers, in
lower case. Whoever changes a page changes no training. It is licensed as the book's text is, under
Creative Commons Attribution 4.0 International.
"""

import random
from pathlib import Path

__all__ = ["FILE", "LONGEST", "SYMBOLS", "sentences"]

FILE = Path(__file__).parent / "sentences.txt"
SYMBOLS = " abcdefghijklmnopqrstuvwxyz.,;:?()'\"-"
"""Letters and marks of which the sentences consist."""
LONGEST = 100
"""Letters and marks of a sentence, at most."""
Letters = tuple[str, ...]
HELD_OUT = 10
"""One sentence in so many is for testing."""


def sentences() -> tuple[list[Letters], list[Letters]]:
    """Return the sentences to train with and those to test with, each in one fixed, mixed order.

    No sentence occurs twice.

    >>> train, test = sentences()
    >>> len(train) > 8 * len(test), set(train) & set(test)
    (True, set())
    >>> "".join(min(train + test))[:20]
    '"a silent mistake co'
    """
    lines = [tuple(line) for line in FILE.read_text(encoding="utf8").splitlines()]
    random.Random(0).shuffle(lines)
    held_out = len(lines) // HELD_OUT
    return lines[held_out:], lines[:held_out]
