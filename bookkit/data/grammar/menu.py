"""Which words go together, and which combinations are held out of training."""

import zlib
from collections.abc import Iterator
from functools import cache

from bookkit.data.grammar.lexicon import ADJECTIVES, NOUNS, VERBS, Adjective, Noun, Verb, suits
from bookkit.data.grammar.trees import Clause, NounPhrase, Sentence

_BUCKETS = 8

_PARTS = {
    "window": "house car", "flower": "garden", "tree": "garden", "king": "city", "queen": "city",
    "city": "king queen",
}  # fmt: skip
"""What a noun may be of, besides any person that may own it."""


@cache
def is_held_out(word: str, noun: str) -> bool:
    """Tell whether an adjective or verb is kept from a noun in training.

    Args:
        word: an English adjective, or the base form of a verb with its particle ("look at").
        noun: the singular of the noun that it describes, or of the verb's object.

    >>> is_held_out("red", "house"), is_held_out("see", "man")
    (False, True)
    """
    return zlib.crc32(f"{word} {noun}".encode()) % _BUCKETS == 0


class Menu:
    """Adjectives by noun, objects by verb and so on, with or without held-out combinations."""

    def __init__(self, *, held_out: bool) -> None:
        def allowed(word: Adjective | Verb, noun: Noun) -> bool:
            return suits(word, noun) and (held_out or not is_held_out(word.name, noun.name))

        described = {n: [a for a in ADJECTIVES if allowed(a, n)] for n in NOUNS}
        self.after = {n: [a for a in described[n] if a.before is None] for n in NOUNS}
        self.before = {n: [a for a in described[n] if a.before is not None] for n in NOUNS}
        self.predicative = {n: [a for a in described[n] if a.predicative] for n in NOUNS}
        self.objects = {verb: [n for n in NOUNS if allowed(verb, n)] for verb in VERBS}
        self.verbs = {n: [verb for verb in VERBS if allowed(verb, n)] for n in NOUNS}
        self.owners = {n: [owner for owner in NOUNS if _may_own(owner, n)] for n in NOUNS}


@cache
def menu(*, held_out: bool) -> Menu:
    """Return the menu; all calls share it."""
    return Menu(held_out=held_out)


def combinations(sentence: Sentence) -> Iterator[tuple[str, str]]:
    """Yield all pairs of adjective and noun and of verb and object, as `is_held_out` takes them."""
    for _, clause in sentence:
        yield from _in_clause(clause, None)


def _in_clause(clause: Clause, antecedent: Noun | None) -> Iterator[tuple[str, str]]:
    if isinstance(clause.subject, NounPhrase):
        yield from _in_phrase(clause.subject)
        if clause.adjective:
            yield clause.adjective.name, clause.subject.noun.name
    if clause.verb and isinstance(clause.object, NounPhrase):
        yield clause.verb.name, clause.object.noun.name
        yield from _in_phrase(clause.object)
    elif clause.verb and clause.subject and antecedent:
        # "the book that the boy bought": the antecedent is the object.
        yield clause.verb.name, antecedent.name
    if clause.adjunct:
        yield from _in_phrase(clause.adjunct[1])


def _in_phrase(phrase: NounPhrase) -> Iterator[tuple[str, str]]:
    for adjective in (phrase.before, phrase.adjective):
        if adjective:
            yield adjective.name, phrase.noun.name
    if phrase.owner:
        yield from _in_phrase(phrase.owner)
    if phrase.relative:
        yield from _in_clause(phrase.relative, phrase.noun)


def _may_own(owner: Noun, noun: Noun) -> bool:
    # The king has a sister; a sister of a brother is too much.
    kin = noun.kind == owner.kind and owner.owned
    by_person = owner.kind == "person" and noun.owned and not kin
    return by_person or owner.name in _PARTS.get(noun.name, "").split()
