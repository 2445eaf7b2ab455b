"""Random choices within a number of words."""

from collections.abc import Sequence

from bookkit.data.grammar.dice import Dice
from bookkit.data.grammar.lexicon import Noun, Pronoun

_TRIES = 12


class DeadEndError(Exception):
    """Nothing that may be said here is short enough for the room left; try another sentence."""


class Budget:
    """Keeps count of the words left to say, and of what has been said."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.room = 0
        self.feminine = False
        self._zest = 0.0
        self._in_sentence: set[Noun] = set()
        self._in_clause: set[Noun] = set()

    def open_sentence(self) -> None:
        """Forget the nouns of the sentence before."""
        self._in_sentence.clear()
        self.feminine = False

    def open_clause(self, room: int) -> None:
        """Start a clause of at most `room` words."""
        self._in_clause.clear()
        self.room = room

    def spend(self, words: int) -> None:
        """Take the room of what must be said; the more is left, the more will be added."""
        self.room -= words
        self._zest = 0.4 + min(0.9, self.room / 8)

    def wants(self, words: int, chance: float) -> bool:
        """Decide on something optional, and take its room; never if there is too little."""
        if self.room < words or not self.dice.yes(chance * self._zest):
            return False
        self.room -= words
        return True

    def noun(self, choices: Sequence[Noun], apart: object = None) -> Noun:
        """Choose a noun new to the sentence if one comes up soon, or else new to the clause.

        Args:
            choices: the nouns to choose from.
            apart: a noun that is not noted yet, and must not be chosen.

        Raises:
            DeadEndError: all choices are in the clause already.
        """
        for _ in range(_TRIES):
            noun = self.dice.pick(choices)
            if noun not in self._in_sentence and noun is not apart:
                return noun
        left = [noun for noun in choices if noun not in self._in_clause and noun is not apart]
        if not left:
            raise DeadEndError
        return self.dice.pick(left)

    def note(self, word: Noun | Pronoun | None) -> None:
        """Remember a word as said, and in `feminine` whether one was feminine."""
        if word is not None and word.feminine:
            self.feminine = True
        if isinstance(word, Noun):
            self._in_sentence.add(word)
            self._in_clause.add(word)


def size(word: Noun | Pronoun | None) -> int:
    """Return the least number of English words for a subject or object."""
    return 0 if word is None else 2 if isinstance(word, Noun) else 1
