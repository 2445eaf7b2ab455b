"""Passages of books in the public domain, for models that can read English."""

from pathlib import Path
from typing import NamedTuple

import yaml


class Passage(NamedTuple):
    """A passage of 1,500 to 2,500 tokens, and where it is from."""

    title: str
    author: str
    year: int
    begins: str  # where in the book
    source: str  # Project Gutenberg's page of the book
    sha256: str  # of the text in UTF-8
    text: str


def passages() -> list[Passage]:
    """Return the passages of `texts.yaml`."""
    text = Path(__file__).with_name("texts.yaml").read_text(encoding="utf-8")
    return [Passage(**one) for one in yaml.safe_load(text)]
