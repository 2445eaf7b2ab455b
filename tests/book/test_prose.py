"""The warnings about prose find what they are for, and can read the whole book."""

from tools.prose import glossary, lessons, symbols, unusual


def test_the_whole_book_can_be_read() -> None:
    assert len(list(glossary.entries())) > 80
    for part in (lessons, glossary, symbols, unusual):
        assert all(isinstance(warning, str) for warning in part.warnings())


def test_a_letter_that_no_table_explains_is_found() -> None:
    assert symbols.symbols(r"\hat{Q} = W_Z + \zeta") == {r"\hat Q", "W_Z", r"\zeta"}
    known = set().union(*(named for named, _ in symbols.shared()))
    assert "q" not in known - symbols.symbols("q")
    assert r"\zeta" not in known
