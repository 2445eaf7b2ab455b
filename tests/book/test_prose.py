"""The warnings about prose find what they are for, and can read the whole book."""

from book_site.glossary import entries

from tests.book.built import ROOT
from tools.prose import glossary, lessons, symbols, unusual


def test_the_whole_book_can_be_read() -> None:
    assert len(list(entries(ROOT / "book"))) > 80
    for part in (lessons, glossary, symbols, unusual):
        assert all(isinstance(warning, str) for warning in part.warnings())
