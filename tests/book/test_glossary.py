"""The glossary: every entry is a word of the book, explained, with the page that introduces it."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

import pytest

from tests.book.test_notebooks import ROOT, markdown, pages

GLOSSARY = ROOT / "book" / "appendices" / "glossary.md"
LINK = re.compile(r"\]\(([^)#]+)\)")
TERM = re.compile(r"\{term\}`([^`]+)`")


@dataclass(frozen=True)
class Entry:
    """An entry of the glossary.

    Attributes:
        terms: the words that it explains.
        text: what it says of them.
    """

    terms: tuple[str, ...]
    text: str


@cache
def entries() -> list[Entry]:
    entries = []
    body = GLOSSARY.read_text(encoding="utf8").split("{glossary}\n")[1].rpartition("\n````")[0]
    for part in re.split(r"\n\n(?=\S)", body.partition("\n\n")[2].strip()):
        lines = part.splitlines()
        terms = tuple(line for line in lines if not line.startswith(" "))
        entries.append(Entry(terms, " ".join(line.strip() for line in lines[len(terms) :])))
    return entries


@cache
def prose(page: str) -> str:
    return markdown(json.loads((ROOT / page).read_text(encoding="utf8")))


def uses(text: str, term: str) -> bool:
    r"""Tell whether a text has a word, in the singular or the plural, emphasised or not.

    >>> uses("Two *gold*\nlinks.", "gold link"), uses("The keyboard.", "key")
    (True, False)
    """
    words = r"\s+".join(map(re.escape, term.split()))
    plain = re.sub(r"[*`]", "", text)
    return re.search(rf"\b{words}(?:s|es)?\b", plain, re.IGNORECASE) is not None


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.terms[0])
def test_an_entry_is_a_word_of_the_page_that_it_names(entry: Entry) -> None:
    links = LINK.findall(entry.text)
    introduced = (GLOSSARY.parent / links[-1]).resolve().relative_to(ROOT).as_posix()
    assert introduced in pages()
    assert any(uses(prose(introduced), term) for term in entry.terms)
    for term in entry.terms:
        assert any(uses(prose(page), term) for page in pages()), term


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.terms[0])
def test_an_entry_is_short(entry: Entry) -> None:
    said = entry.text.rpartition(" See [")[0]
    assert 5 <= len(said.split()) <= 80
    assert said.endswith((".", ".)", "?"))


def test_entries_are_in_order_and_single() -> None:
    terms = [term for entry in entries() for term in entry.terms]
    assert len(terms) > 80
    assert [term for term, times in Counter(map(str.lower, terms)).items() if times > 1] == []
    firsts = [entry.terms[0].lower() for entry in entries()]
    assert firsts == sorted(firsts)


def test_pages_link_terms_that_are_there() -> None:
    """A page links its first mention of a word that another page introduces, and no other."""
    known = {term for entry in entries() for term in entry.terms}
    linked = 0
    for page in pages():
        named = TERM.findall(prose(page))
        targets = [re.sub(r"^.*<(.*)>$", r"\1", name) for name in named]
        assert set(targets) <= known, page
        assert len(targets) == len(set(targets)), page
        linked += len(targets)
    assert linked >= 2 * (len(pages()) - 2)
