"""The phrase book: everyday phrases for models that read and write characters."""

from importlib.resources import as_file, files

from companion.data.pairs import Pair, characters, read_pairs


def phrase_book() -> list[Pair]:
    """Return the everyday phrases as pairs of characters, English to Spanish.

    The file `phrases.tsv` beside this module holds them, one pair a line, lower case and without
    punctuation; where English leaves something open, a third field says what was taken.

    >>> "".join(phrase_book()[1].target)
    'cómo estás'
    """
    with as_file(files("bookkit.data") / "phrases.tsv") as path:
        return read_pairs(path, tokenize=characters)
