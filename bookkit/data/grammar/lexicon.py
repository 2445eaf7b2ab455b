"""The words: what they are in both languages, and what they may be said of.

Nouns, adjectives and verbs are those of `words.yaml`. Spanish forms are written out, so that they
can be read and checked one by one. Adjectives and determiners list four forms, addressed by
`2 * plural + feminine`; tenses list three persons, in the order of `PERSONS`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

Kind = Literal["person", "animal", "food", "thing", "plant", "place"]
Tense = Literal["present", "past", "future", "progressive"]
Forms = tuple[str, str, str, str]
"""Masculine, feminine, plural masculine, plural feminine."""
Persons = tuple[str, str, str]
"""First person singular, third singular, third plural."""

FIRST, SINGULAR, PLURAL = range(3)


@dataclass(frozen=True, eq=False)
class Noun:
    """A noun: (singular, plural) in both languages; `owned` if "my" and "of the man" suit it."""

    english: tuple[str, str]
    spanish: tuple[str, str]
    feminine: bool
    kind: Kind
    owned: bool = True

    @property
    def name(self) -> str:
        """The English singular."""
        return self.english[0]


@dataclass(frozen=True, eq=False)
class Adjective:
    """An adjective.

    `nouns` lists the kinds and nouns that it suits. Of one `scale`, a noun gets one adjective: no
    house is big and small. `before` holds the forms in front of a noun, if it stands there.
    """

    english: str
    spanish: Forms
    scale: str
    nouns: str
    before: Forms | None = None
    predicative: bool = True
    gradable: bool = True

    @property
    def name(self) -> str:
        """The English word."""
        return self.english


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb: (base, -s, past, -ing) in English, with the particle that decides its meaning.

    `nouns` lists the kinds and nouns of its objects, and is empty for an intransitive verb. A verb
    without -ing form has no progressive. An `event` comes to an end, and may so follow "when" in
    the past, where others would need the Spanish imperfect.
    """

    english: tuple[str, str, str, str | None]
    spanish: dict[Tense, Persons]
    gerund: str | None = None
    particle: str | None = None
    nouns: str = ""
    animals: bool = True
    event: bool = False

    @property
    def name(self) -> str:
        """The English base form, with its particle."""
        return f"{self.english[0]} {self.particle}" if self.particle else self.english[0]


@dataclass(frozen=True, eq=False)
class Determiner:
    """A determiner: (singular, plural or None) in English, four forms in Spanish."""

    english: tuple[str, str | None]
    spanish: Forms
    possessive: bool = False


@dataclass(frozen=True, eq=False)
class Pronoun:
    """A personal pronoun: subject and object form in both languages."""

    english: tuple[str, str]
    spanish: tuple[str, str]
    person: int
    feminine: bool = False


@dataclass(frozen=True, eq=False)
class Preposition:
    """A preposition before a place, a thing or a person; `spanish` may be two words."""

    english: str
    spanish: tuple[str, ...]
    nouns: str


def suits(word: Adjective | Verb | Preposition, noun: Noun) -> bool:
    """Tell whether an adjective, a verb or a preposition makes sense with a noun."""
    return bool({noun.kind, noun.name} & set(word.nouns.split()))


def _forms(forms: str) -> Any:
    return tuple(forms.split())


def _nouns(kind: Kind, words: str, *, owned: bool = True) -> Iterator[Noun]:
    for noun in words.split(", "):
        one, many, uno, muchos, *feminine = noun.split()
        yield Noun((one, many), (uno, muchos), bool(feminine), kind, owned)


def _adjective(spanish: str, before: str = "", **rest: Any) -> Adjective:
    return Adjective(spanish=_forms(spanish), before=_forms(before) or None, **rest)


def _verb(english: str, present: str, past: str, future: str, **rest: Any) -> Verb:
    base, third, before, *going = english.split()
    tenses = {"present": present, "past": past, "future": future}
    spanish: Any = {tense: _forms(forms) for tense, forms in tenses.items()}
    return Verb((base, third, before, going[0] if going else None), spanish, **rest)


_WORDS = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"))
NOUNS = tuple(noun for group in _WORDS["nouns"] for noun in _nouns(**group))
ADJECTIVES = tuple(_adjective(**entry) for entry in _WORDS["adjectives"])
VERBS = tuple(_verb(**entry) for entry in _WORDS["verbs"])

BE: Persons = ("am", "is", "are")
SER: Persons = ("soy", "es", "son")
"""What something is like: la casa es grande."""
ESTAR: Persons = ("estoy", "está", "están")
"""What is going on: está comiendo."""

THE = Determiner(("the", "the"), ("el", "la", "los", "las"))
A = Determiner(("a", None), ("un", "una", "", ""))
THIS = Determiner(("this", "these"), ("este", "esta", "estos", "estas"))
THAT = Determiner(("that", "those"), ("ese", "esa", "esos", "esas"))
EVERY = Determiner(("every", None), ("cada", "cada", "", ""))
MY = Determiner(("my", "my"), ("mi", "mi", "mis", "mis"), possessive=True)
HIS = Determiner(("his", "his"), ("su", "su", "sus", "sus"), possessive=True)
HER = Determiner(("her", "her"), ("su", "su", "sus", "sus"), possessive=True)
DETERMINERS = (THE, A, THIS, THAT, EVERY, MY, HIS, HER)

I = Pronoun(("i", "me"), ("yo", "me"), FIRST)  # noqa: E741
HE = Pronoun(("he", "him"), ("él", "lo"), SINGULAR)
SHE = Pronoun(("she", "her"), ("ella", "la"), SINGULAR, feminine=True)
THEY = Pronoun(("they", "them"), ("ellos", "los"), PLURAL)
PRONOUNS = (I, HE, SHE, THEY)

IN = Preposition("in", ("en",), "place")
NEAR = Preposition("near", ("cerca", "de"), "person plant place car window")
WITH = Preposition("with", ("con",), "person")
PREPOSITIONS = (IN, NEAR, WITH)

ADVERBS: dict[Tense, tuple[str, str]] = {
    "past": ("yesterday", "ayer"),
    "future": ("tomorrow", "mañana"),
    "progressive": ("now", "ahora"),
}

CONJUNCTIONS = {
    "and": "y", "but": "pero", "because": "porque", "when": "cuando", "while": "mientras",
}  # fmt: skip
