"""Sentences translated by hand, among them every irregularity that the grammar knows."""

from pathlib import Path

from bookkit.data.grammar.reading import read
from bookkit.data.grammar.render import render

FILE = Path(__file__).with_name("translations.txt")
"""An English sentence and a Spanish one a line. Where there are numbers: for every Spanish word the
place of the English word surely linked to it, and in parentheses those of words possibly linked."""


def test_translations_and_links() -> None:
    for line in FILE.read_text(encoding="utf8").splitlines():
        english, spanish = line.split(" = ")
        tree = read(english.split())
        assert tree is not None, english
        pair = render(tree)
        assert " ".join(pair.source) == english
        if "0" not in spanish:
            assert " ".join(pair.target) == spanish
            continue
        sure, described = dict(pair.sure), []
        for row, word in enumerate(pair.target):
            loose = " ".join(str(column) for place, column in sorted(pair.possible) if place == row)
            described += [word, *([str(sure[row])] if row in sure else [])]
            described += [f"({loose})"] if loose else []
        assert " ".join(described) == spanish
