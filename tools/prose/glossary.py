"""Entries of the glossary: short, in order, and words of the page that they name."""

import re
from collections.abc import Iterator

from book_site.glossary import entries, pages_of

from tools.prose.pages import BOOK, pages, prose

SHORTEST, LONGEST = 5, 80  # words


def uses(text: str, term: str) -> bool:
    r"""Tell whether a text has a word, in the singular or the plural, emphasised or not.

    >>> uses("Two *gold*\nlinks.", "gold link"), uses("The keyboard.", "key")
    (True, False)
    """
    words = r"\s+".join(map(re.escape, term.split()))
    plain = re.sub(r"[*`]", "", text)
    return re.search(rf"\b{words}(?:s|es)?\b", plain, re.IGNORECASE) is not None


def warnings() -> Iterator[str]:
    """Yield what is odd about an entry."""
    before = ""
    for terms, text in entries(BOOK):
        first = terms[0]
        if first.lower() < before:
            yield f"glossary: {first} stands behind {before}"
        before = first.lower()
        if text.startswith("See {term}"):
            continue
        length = len(text.rpartition(" See {doc}")[0].split())
        if not SHORTEST <= length <= LONGEST:
            yield f"glossary: {first}: {length} words, wanted {SHORTEST} to {LONGEST}"
        page = f"{pages_of(text)[-1]}.ipynb"
        if page not in pages() or not any(uses(prose(pages()[page]), term) for term in terms):
            yield f"glossary: {first}: {page} does not use the word"
