"""The exercises of "Learned by heart"."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from bookkit.exercises.exercise import Function, Value

Book = Sequence[tuple[str, str]]

check_score = Value(
    "How many of 100 test phrases a network gets right that knows every phrase it learned and no "
    "other, if 36 of 40 test phrases are also among those it learned.",
    right=90, mistakes={
        "4 of 40 are new, and those it does not know": 100,
        "that is the share of new phrases, which it gets wrong": 10,
        "that is a number of phrases; how many would it be of 100?": 36,
    }, otherwise="got {got:g}: it is right on 36 of 40 phrases",
)  # fmt: skip

check_wrong_letters = Value(
    "How many of 100 letters are wrong in `está cerca`, if `está lejos` is right.",
    right=40, mistakes={
        "that is the number of edits; divide it by the length of the longer text": 4,
        "the e of cerca may stay: it stands where the e of lejos stands": 50,
        "divide by the length of the whole text, the space included": (80, 400 / 9),
        "that is the share of letters that are right": 60,
    }, otherwise="got {got:g}: count the letters to insert, delete or replace, of ten",
)  # fmt: skip


@lru_cache
def count_edits(one: str, other: str) -> int:
    """Count the letters to insert, delete or replace."""
    if not one or not other:
        return len(one) + len(other)
    ends = count_edits(one[:-1], other[:-1]) + (one[-1] != other[-1])
    return min(ends, count_edits(one[:-1], other) + 1, count_edits(one, other[:-1]) + 1)


def _nearest(phrase: str, book: Book, distance: Callable[[str, str], float] = count_edits) -> str:
    return min(book, key=lambda pair: distance(phrase, pair[0]))[1]


BOOK = [("good night", "buenas noches"), ("no", "no"), ("open the door", "abre la puerta"),
        ("good luck", "buena suerte"), ("close", "cerca")]  # fmt: skip

check_look_up = Function(
    "`look_up(phrase, book)`, the translation of the phrase of a book that is most like another "
    "phrase: the one with the fewest letters to insert, delete or replace; of equals the first. "
    "A book is a list of pairs of texts, English and Spanish.",
    right=_nearest, cases=[(phrase, BOOK) for phrase in
                           ("close the window", "good light", "good night", "nope", "boa suerte")],
    mistakes={
        "that is the English phrase: copy its translation":
            lambda phrase, book: min(book, key=lambda pair: count_edits(phrase, pair[0]))[0],
        "that is the phrase that is least like it: take the fewest edits": lambda phrase, book:
            _nearest(phrase, book, lambda one, other: -count_edits(one, other)),
        "compare with the English side of the book":
            lambda phrase, book: min(book, key=lambda pair: count_edits(phrase, pair[1]))[1],
        "letters may also be inserted and deleted: do not compare place by place":
            lambda phrase, book: _nearest(phrase, book, lambda one, other: sum(
                a != b for a, b in zip(one, other, strict=False)) + abs(len(one) - len(other))),
        "that is a pair: return its second part":
            lambda phrase, book: min(book, key=lambda pair: count_edits(phrase, pair[0])),
    }, otherwise="for “{0}” got “{got}”, wanted “{wanted}”", why="Is a book a list of pairs?",
)  # fmt: skip


def _spelled(phrase: str) -> str:
    return " ".join("".join(one for one in phrase.lower() if one.isalpha() or one == " ").split())


def _seen(learned: Sequence[str], hidden: Sequence[str]) -> list[str]:
    known = {_spelled(one) for one in learned}
    return [one for one in hidden if _spelled(one) in known]


LEARNED = ["good night", "how are you", "Thank you!", "see you  later"]
HIDDEN = ["Good night!", "How are you", "thank you", "good luck", "see you later?", "how old"]

check_leaked = Function(
    "`leaked(learned, hidden)`, the list of those hidden phrases that were learned after all, in "
    "the order in which they are given. Capitals, signs and spaces too many make no difference.",
    right=_seen, cases=[(LEARNED, HIDDEN), (LEARNED, ["goodbye"]), (HIDDEN, LEARNED)], mistakes={
        "only equal texts are found: a capital or a sign hides a phrase from you":
            lambda learned, hidden: [one for one in hidden if one in learned],
        "capitals no longer matter, but signs still do": lambda learned, hidden:
            [one for one in hidden if one.lower() in [other.lower() for other in learned]],
        "those are the phrases that are really new": lambda learned, hidden:
            [one for one in hidden if one not in _seen(learned, hidden)],
        "give the hidden phrases as they were given to you": lambda learned, hidden:
            [_spelled(one) for one in _seen(learned, hidden)],
    }, otherwise="got {got}, wanted {wanted}", why="Are both lists of texts?",
)  # fmt: skip
