"""Read an English sentence: can this grammar say it, and what does it say then?"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from bookkit.data.grammar import lexicon as lex
from bookkit.data.grammar.clauses import MAX_CLAUSES
from bookkit.data.grammar.lexicon import Pronoun, Tense, Verb
from bookkit.data.grammar.render import render
from bookkit.data.grammar.rules import clause_follows
from bookkit.data.grammar.trees import Clause, NounPhrase, Sentence

_ADJECTIVES = {adjective.english: adjective for adjective in lex.ADJECTIVES}
_NOUNS = {word: (noun, bool(n)) for noun in lex.NOUNS for n, word in enumerate(noun.english)}


def read(words: Sequence[str]) -> Sentence | None:
    """Return the clauses of an English sentence, or None if the grammar cannot say it.

    The rules are those of `rules`. Combinations that are held out of training count as any other,
    and how long a sentence may be is no rule. Of several readings of a sentence the first is
    returned.

    Raises:
        TypeError: a string, not its words.

    >>> read("the dog sleeps".split()) is None, read("the dog sleep".split()) is None
    (False, True)
    """
    if isinstance(words, str):
        raise TypeError(f"words: got the string {words!r}, wanted a sequence of words")
    # The reader is not strict, "a" may stand for "an": what a tree says aloud decides.
    trees = _Reader(tuple(words)).sentences(0, [])
    return next((tree for tree in trees if render(tree).source == tuple(words)), None)


class _VerbGroup(NamedTuple):
    """The English words of a verb, with auxiliary, "not" and particle, and what they mean."""

    words: tuple[str, ...]
    verb: Verb
    tense: Tense
    negative: bool


@cache
def _verb_groups(person: int) -> tuple[_VerbGroup, ...]:
    """Return every verb in every tense, for a person as in `Persons`."""
    groups = []
    for verb in lex.VERBS:
        base, third, past, continuous = verb.english
        after = () if verb.particle is None else (verb.particle,)
        do, present = ("does", third) if person == lex.SINGULAR else ("do", base)
        forms: list[tuple[Tense, tuple[str, ...], tuple[str, ...]]] = [
            ("present", (present,), (do, "not", base)),
            ("past", (past,), ("did", "not", base)),
            ("future", ("will", base), ("will", "not", base)),
        ]
        if continuous is not None:
            be = lex.BE[person]
            forms.append(("progressive", (be, continuous), (be, "not", continuous)))
        for tense, said, denied in forms:
            groups.append(_VerbGroup((*said, *after), verb, tense, negative=False))
            groups.append(_VerbGroup((*denied, *after), verb, tense, negative=True))
    return tuple(groups)


class _Reader:
    """Follows every reading of a sentence, and yields what is read with the position of its end."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self._words = words

    def sentences(self, position: int, said: Sentence) -> Iterator[Sentence]:
        """Yield what the whole sentence may say, after the clauses read so far."""
        conjunction = None
        if said:
            conjunction, position = self._at(position), position + 1
        for clause, end in self._clauses(position, said):
            clause.contrast = conjunction in ("and", "but")
            if not clause_follows(clause, conjunction, said):
                continue
            whole = [*said, (conjunction, clause)]
            if end == len(self._words):
                yield whole
            elif len(whole) < MAX_CLAUSES:
                yield from self.sentences(end, whole)

    def _clauses(self, position: int, said: Sentence) -> Iterator[tuple[Clause, int]]:
        for subject, end in self._things(position, "subject"):
            person, feminine = subject.person, subject.feminine
            yield from self._predicates(end, subject)
            for clause, after in self._actions(end, person, feminine):
                yield from self._circumstances(replace(clause, subject=subject), after)
        if said:  # "the dog runs and sleeps"
            before = said[-1][1]
            for clause, after in self._actions(position, before.person, before.feminine):
                yield from self._circumstances(clause, after)

    def _predicates(
        self, position: int, subject: NounPhrase | Pronoun
    ) -> Iterator[tuple[Clause, int]]:
        """Read "is (not) (very) big"."""
        if self._at(position) != lex.BE[subject.person]:
            return
        negative = self._at(position + 1) == "not"
        very = self._at(position + 1 + negative) == "very"
        end = position + 1 + negative + very
        if self._at(end) in _ADJECTIVES:
            yield (
                Clause(
                    subject, subject.person, subject.feminine, "present", negative,
                    adjective=_ADJECTIVES[self._at(end)], very=very,
                ),
                end + 1,
            )  # fmt: skip

    def _actions(
        self, position: int, person: int, feminine: bool, *, has_object: bool = True
    ) -> Iterator[tuple[Clause, int]]:
        """Read a verb and its object, if it has one here; the clause lacks its subject."""
        for words, verb, tense, negative in _verb_groups(person):
            end = position + len(words)
            if self._words[position:end] != words:
                continue
            clause = Clause(None, person, feminine, tense, negative, verb)
            if not (verb.nouns and has_object):
                yield clause, end
                continue
            for thing, after in self._things(end, "object"):
                yield replace(clause, object=thing), after

    def _circumstances(self, clause: Clause, position: int) -> Iterator[tuple[Clause, int]]:
        """Read "in the garden", "yesterday", both or neither."""
        yield from self._adverb(clause, position)
        for preposition in lex.PREPOSITIONS:
            if self._at(position) == preposition.english:
                for phrase, end in self._phrases(position + 1):
                    placed = replace(clause, adjunct=(preposition, phrase))
                    yield from self._adverb(placed, end)

    def _adverb(self, clause: Clause, position: int) -> Iterator[tuple[Clause, int]]:
        yield clause, position
        if clause.tense in lex.ADVERBS and self._at(position) == lex.ADVERBS[clause.tense][0]:
            yield replace(clause, adverb=True), position + 1

    def _things(self, position: int, case: str) -> Iterator[tuple[NounPhrase | Pronoun, int]]:
        for pronoun in lex.PRONOUNS:
            if self._at(position) == pronoun.english[case == "object"]:
                yield pronoun, position + 1
        yield from self._phrases(position)

    def _phrases(self, position: int) -> Iterator[tuple[NounPhrase, int]]:
        """Read a noun and what is said about it."""
        for phrase, end in self._nouns(position):
            yield phrase, end
            if self._at(end) == "of":
                for owner, after in self._nouns(end + 1):
                    yield replace(phrase, owner=owner), after
            if self._at(end) in ("who", "that"):
                for clause, after in self._relatives(end + 1, phrase):
                    yield replace(phrase, relative=clause), after

    def _nouns(self, position: int) -> Iterator[tuple[NounPhrase, int]]:
        """Read determiner, adjectives and noun: "the good very old king"."""
        before = _ADJECTIVES.get(self._at(position + 1))
        for first in (None, before) if before else (None,):
            start = position + 1 + (first is not None)
            very = self._at(start) == "very"
            second = _ADJECTIVES.get(self._at(start + very))
            last = start + very + (second is not None)
            if self._at(last) not in _NOUNS:
                continue
            noun, plural = _NOUNS[self._at(last)]
            article = "a" if self._at(position) == "an" else self._at(position)
            for determiner in lex.DETERMINERS:
                if article == determiner.english[plural]:
                    phrase = NounPhrase(noun, plural, determiner, first, second, very)
                    yield phrase, last + 1

    def _relatives(self, position: int, phrase: NounPhrase) -> Iterator[tuple[Clause, int]]:
        """Read what follows "who" or "that": what a being does, or what is done to a thing."""
        if phrase.noun.kind in ("person", "animal"):
            yield from self._actions(position, phrase.person, phrase.feminine)
            return
        for subject, end in self._things(position, "subject"):
            actions = self._actions(end, subject.person, subject.feminine, has_object=False)
            for clause, after in actions:
                yield replace(clause, subject=subject), after

    def _at(self, position: int) -> str:
        return self._words[position] if position < len(self._words) else ""
