"""What is said, before it is put into words: noun phrases and clauses."""

from __future__ import annotations

from dataclasses import dataclass

from bookkit.data.grammar import lexicon as lex
from bookkit.data.grammar.lexicon import Adjective, Determiner, Noun, Pronoun, Tense, Verb


@dataclass(slots=True)
class NounPhrase:
    """The good old king of the city, the book that the girl bought."""

    noun: Noun
    plural: bool
    determiner: Determiner
    before: Adjective | None = None
    adjective: Adjective | None = None
    very: bool = False
    owner: NounPhrase | None = None
    relative: Clause | None = None

    @property
    def person(self) -> int:
        """Index into `Persons`."""
        return lex.PLURAL if self.plural else lex.SINGULAR

    @property
    def feminine(self) -> bool:
        """Gender of the noun."""
        return self.noun.feminine


@dataclass(slots=True)
class Clause:
    """Someone does something, or is like something; all that its translation depends on."""

    subject: NounPhrase | Pronoun | None  # None when it is understood: "and sleeps", "who sleeps"
    person: int  # person and number that the verb agrees with
    feminine: bool  # gender that a predicative adjective agrees with
    tense: Tense  # of the verb
    negative: bool  # "does not"
    verb: Verb | None = None  # None in "the house is big"
    adjective: Adjective | None = None  # the predicative adjective then, possibly after "very"
    very: bool = False
    # None for intransitive verbs, and where a relative pronoun stands for it
    object: NounPhrase | Pronoun | None = None
    adjunct: tuple[lex.Preposition, NounPhrase] | None = None  # "in the garden"
    adverb: bool = False  # whether the tense's adverb is added: yesterday, tomorrow, now
    # Whether Spanish says "yo": after "and" and "but", where the subject changes
    contrast: bool = False

    @property
    def closed(self) -> bool:
        """Whether a relative clause ends it, so that words added would seem to belong there."""
        return isinstance(self.object, NounPhrase) and self.object.relative is not None


Sentence = list[tuple[str | None, Clause]]
"""Clauses, each with the conjunction before it; the first has none."""
