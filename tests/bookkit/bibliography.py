"""The bibliography of the book, in which sources are looked up."""

import re
from pathlib import Path

FILE = Path(__file__).parents[2] / "book" / "references.bib"


def entry(key: str) -> dict[str, str]:
    """Return the fields of an entry of the bibliography."""
    text = FILE.read_text(encoding="utf8")
    found = re.search(rf"^@\w+\{{{key},\n(.*?)\n\}}", text, re.MULTILINE | re.DOTALL)
    assert found, f"{key} is not in the bibliography"
    return dict(re.findall(r"^  (\w+) = \{(.*)\},$", found[1], re.MULTILINE))


def authors(key: str) -> str:
    """Return the authors of an entry as a text names them."""
    surnames = [
        re.sub(r"\{\\.(\w)\}", r"\1", name.split(",")[0].strip("{}"))
        for name in entry(key)["author"].split(" and ")
    ]
    return " and ".join(surnames) if len(surnames) < 3 else f"{surnames[0]} et al."
