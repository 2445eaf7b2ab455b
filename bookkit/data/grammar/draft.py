"""A sentence pair in the making: words are added to both sides, and linked as they come."""

from collections.abc import Iterable

from companion.data.pairs import Pair

WORD_CLASSES = (
    "adjective", "adverb", "auxiliary", "conjunction", "contraction", "determiner", "negation",
    "noun", "preposition", "pronoun", "relative", "verb",
)  # fmt: skip
"""The classes of Spanish words; `auxiliary` is estar before a gerund, `contraction` al and del."""


class Draft:
    """Collects English and Spanish words with their links.

    Every Spanish word gets at most one sure link, and at least one link of either kind: then an
    aligner that gives every target word one link can reach an alignment error rate of 0.
    """

    def __init__(self) -> None:
        self._source: list[str] = []
        self._target: list[str] = []
        self._classes: list[str] = []
        self._sure: list[tuple[int, int]] = []
        self._possible: list[tuple[int, int]] = []

    def say(self, word: str) -> int:
        """Add an English word and return its position."""
        self._source.append(word)
        return len(self._source) - 1

    def write(
        self, word: str, word_class: str, sure: int | None, possible: Iterable[int] = ()
    ) -> None:
        """Add a Spanish word, linked to positions of English words."""
        position = len(self._target)
        self._target.append(word)
        self._classes.append(word_class)
        if sure is not None:
            self._sure.append((position, sure))
        self._possible += ((position, column) for column in possible)

    def pair(self) -> Pair:
        """Return what has been collected."""
        sure, possible = frozenset(self._sure), frozenset(self._possible)
        return Pair(tuple(self._source), tuple(self._target), sure, possible, tuple(self._classes))
