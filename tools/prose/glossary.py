"""Entries of the glossary: short, in order, and words of the page that they name."""

import re
from collections.abc import Iterator

from tools.prose.pages import BOOK, pages, prose

GLOSSARY = BOOK / "appendices" / "glossary.md"
SHORTEST, LONGEST = 5, 80  # words


def entries() -> Iterator[tuple[list[str], str]]:
    """Yield the entries: the words that each explains, and what it says of them."""
    body = GLOSSARY.read_text(encoding="utf8").split("{glossary}\n")[1].rpartition("\n````")[0]
    for part in re.split(r"\n\n(?=\S)", body.partition("\n\n")[2].strip()):
        lines = part.splitlines()
        terms = [line for line in lines if not line.startswith(" ")]
        yield terms, " ".join(line.strip() for line in lines[len(terms) :])


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
    for terms, text in entries():
        first = terms[0]
        length = len(text.rpartition(" See [")[0].split())
        if not SHORTEST <= length <= LONGEST:
            yield f"glossary: {first}: {length} words, wanted {SHORTEST} to {LONGEST}"
        if first.lower() < before:
            yield f"glossary: {first} stands behind {before}"
        before = first.lower()
        link = re.findall(r"\]\(([^)#]+)\)", text)[-1]
        page = (GLOSSARY.parent / link).resolve().relative_to(BOOK).as_posix()
        if page not in pages() or not any(uses(prose(pages()[page]), term) for term in terms):
            yield f"glossary: {first}: {page} does not use the word"
