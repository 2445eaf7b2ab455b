"""Stories of several sentences, with the chance of every next word known exactly.

A story has a hero, a place, a thing that the hero comes across, and a relative: "a young queen
works in the garden . she finds a new house . her brother waits for her . she works in the new
house . she is happy ." Words, and what goes together, are those of `bookkit.data.grammar`; the
full stop is a word, too.

The story-teller is a generator of Python: it yields the chances of the next word and is sent the
word that came. Because it knows at every word what has been said, the chances are those of the
next word given all words before, and so the entropy of the text can be computed: no model can
predict these stories better than the teller does.
"""

import math
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from bookkit.data.grammar.dice import Dice
from bookkit.data.grammar.lexicon import ADJECTIVES, NOUNS, VERBS, Noun, Verb, suits
from companion.contracts import contract

__all__ = ["END", "STOP", "next_words", "stories", "surprisals"]

END = "<eos>"
"""What comes after the last word; the vocabulary's own name for it."""
STOP = "."

MOST_EVENTS = 3
"""Sentences in the middle of a story, at most."""

_CLOSE = 0.4
"""The chance that a sentence in which there may be another event closes the story."""

T = TypeVar("T")
Words = Generator[Mapping[str, float], str, T]
"""Yields the chances of the next word, is sent that word, and returns what was said."""


class Option(NamedTuple, Generic[T]):
    """One thing to say: its words, its weight among the options, and what it means."""

    words: tuple[str, ...]
    weight: float
    meaning: T


@dataclass
class Tale:
    """What has been told so far, as far as later sentences depend on it."""

    hero: Noun
    place: Noun
    past: bool
    relative: Noun
    thing: Noun | None = None
    described: tuple[str, ...] = ()
    said: set[str] = field(default_factory=set)

    def verb(self, verb: Verb) -> tuple[str, ...]:
        """Return the words of a verb, in the tense of the story."""
        return (
            verb.english[2] if self.past else verb.english[1],
            *([verb.particle] if verb.particle else []),
        )


def _named(kind: str) -> tuple[Noun, ...]:
    return tuple(noun for noun in NOUNS if noun.kind == kind)


_HEROES = tuple(noun for noun in _named("person") if not noun.owned)
_RELATIVES = tuple(noun for noun in _named("person") if noun.owned)
_PLACES = _named("place")
_THINGS = tuple(n for n in NOUNS if n.kind in ("animal", "food", "thing", "plant", "place"))
_IDLE = tuple(verb for verb in VERBS if not verb.nouns)
_MEET = tuple(verb for verb in VERBS if verb.name in ("see", "find", "buy", "look for"))
_MOODS = tuple(word for word in ADJECTIVES if word.english in ("happy", "strong", "good"))


def _say(options: Sequence[Option[T]]) -> Words[T]:
    """Say one of some options, word by word; none may be the beginning of another one."""
    left, at = list(options), 0
    while len(left) > 1 or at < len(left[0].words):
        total = sum(option.weight for option in left)
        chances: dict[str, float] = {}
        for option in left:
            word = option.words[at]
            chances[word] = chances.get(word, 0.0) + option.weight / total
        said = yield chances
        left = [option for option in left if option.words[at] == said]
        at += 1
    return left[0].meaning


def _described(nouns: Collection[Noun]) -> list[Option[tuple[Noun, tuple[str, ...]]]]:
    """Return every noun, plain or with an adjective, and what is said of it."""
    options = []
    for noun in nouns:
        fitting = [None, *(a for a in ADJECTIVES if suits(a, noun))]
        for adjective in fitting:
            words = (*([adjective.english] if adjective else []), noun.name)
            options.append(Option(words, 1 / len(fitting), (noun, words)))
    return options


def _with_article(options: Sequence[Option[T]]) -> list[Option[T]]:
    """Put "a" or "an" before what is said."""
    return [
        option._replace(words=("an" if option.words[0][0] in "aeiou" else "a", *option.words))
        for option in options
    ]


def _pronoun(noun: Noun, *, objective: bool = False) -> str:
    return ("her" if objective else "she") if noun.feminine else ("him" if objective else "he")


def _story() -> Words[Tale]:
    """Tell a story."""
    tale = yield from _opening()
    yield from _meeting(tale)
    yield from _answer(tale)
    for told in range(MOST_EVENTS + 1):
        closed = yield from _sentence(tale, may_go_on=told < MOST_EVENTS)
        if closed:
            break
    yield {END: 1.0}
    return tale


def _opening() -> Words[Tale]:
    """Say "a young queen works in the garden ."."""
    hero, words = yield from _say(_with_article(_described(_HEROES)))
    past = [
        Option((verb.english[2] if p else verb.english[1],), 1.0, p)
        for verb in _IDLE
        for p in (0, 1)
    ]
    in_the_past = yield from _say(past)
    places = [Option(("in", "the", n.name, STOP), 1.0, n) for n in _PLACES]
    place = yield from _say(places)
    return Tale(hero, place, bool(in_the_past), _RELATIVES[0], said=set(words))


def _meeting(tale: Tale) -> Words[None]:
    """Say "she finds a new house .": the thing that the story is about."""
    pronoun = _pronoun(tale.hero)
    verb = yield from _say([Option((pronoun, *tale.verb(v)), 1.0, v) for v in _MEET])
    things = [noun for noun in _THINGS if suits(verb, noun) and noun is not tale.place]
    tale.thing, tale.described = yield from _say(_with_article(_described(things)))
    yield {STOP: 1.0}


def _answer(tale: Tale) -> Words[None]:
    """Say "her brother waits for her .": the relative of the hero."""
    owner = "her" if tale.hero.feminine else "his"
    tale.relative = yield from _say([Option((owner, n.name), 1.0, n) for n in _RELATIVES])
    yield from _say(_deeds(tale, tale.relative, tale.hero))


def _sentence(tale: Tale, *, may_go_on: bool) -> Words[bool]:
    """Say what the hero or the relative does, or what one of them is like, which ends a story."""
    both = tale.hero, tale.relative
    subject = yield from _say(
        [Option(_subject(tale, person), 0.6 if person is tale.hero else 0.4, person)
         for person in both]
    )  # fmt: skip
    moods = [a.english for a in _MOODS if a.english not in tale.said or subject is not tale.hero]
    closing = [
        Option(("was" if tale.past else "is", mood, STOP), _CLOSE / len(moods), True)
        for mood in moods
    ]
    if not may_go_on:
        return (yield from _say(closing))
    deeds = _deeds(tale, subject, both[subject is tale.hero])
    share = (1 - _CLOSE) / sum(option.weight for option in deeds)
    going_on = [Option(o.words, o.weight * share, False) for o in deeds]
    return (yield from _say([*closing, *going_on]))


def _subject(tale: Tale, person: Noun) -> tuple[str, ...]:
    """Return a pronoun where it is clear who is meant, else "the queen" or "her sister"."""
    if tale.hero.feminine != tale.relative.feminine:
        return (_pronoun(person),)
    if person is tale.hero:
        return "the", person.name
    return "her" if tale.hero.feminine else "his", person.name


def _deeds(tale: Tale, subject: Noun, other: Noun) -> list[Option[None]]:
    """Return what somebody may do with the thing, for the other person, or in the place."""
    assert tale.thing is not None
    whole = ("the", *tale.described)
    deeds: list[tuple[str, ...]] = []
    for verb in VERBS:
        if suits(verb, tale.thing) and verb.name != "buy":
            deeds.append((*tale.verb(verb), *whole, STOP))
        if suits(verb, other) and verb.name != "find":
            deeds.append((*tale.verb(verb), _pronoun(other, objective=True), STOP))
        if not verb.nouns:
            where = whole if tale.thing.kind == "place" else ("the", tale.place.name)
            deeds.append((*tale.verb(verb), "in", *where, STOP))
    return [Option(words, 1.0, None) for words in deeds]


# Telling, and listening


class WordDice(Dice):
    """Draws words as well, each by a chance of its own."""

    def word(self, chances: Mapping[str, float]) -> str:
        """Choose one of at least one word, with chances that sum to 1."""
        drawn, total = self._random(), 0.0
        for choice, chance in chances.items():
            total += chance
            if drawn < total:
                return choice
        return choice  # the chances may sum to a little less than 1


@contract(count=">= 1")
def stories(count: int, *, seed: int) -> list[tuple[str, ...]]:
    """Tell stories, each as its words, without the end; a seed tells the same on every machine.

    >>> " ".join(stories(1, seed=3)[0])
    'a good man sings in the house . he sees an old garden . his brother finds the old garden . \
the man looks at the old garden . his brother sings in the old garden . the man is happy .'
    """
    dice = WordDice(seed)
    return [_told(dice) for _ in range(count)]


def _told(dice: WordDice) -> tuple[str, ...]:
    teller, words = _story(), []
    chances = next(teller)
    while END not in chances:
        words.append(dice.word(chances))
        chances = teller.send(words[-1])
    return tuple(words)


@contract()
def next_words(beginning: Sequence[str]) -> dict[str, float]:
    """Return the chance of every word that may follow the first words of a story, or begin one.

    `END` is among them, and none follows it.

    Raises:
        ValueError: no story begins like this.

    >>> next_words("a king sings in".split())
    {'the': 1.0}
    """
    return dict(_heard(beginning)[-1])


@contract()
def surprisals(story: Sequence[str]) -> list[float]:
    """Return -log of the chance of every word of a whole story, given without its end, and of that.

    A chance is that of the word given all the words before, so their sum is -log of the chance of
    the story, in nats, and their mean over many stories estimates the source's entropy a word.

    Raises:
        ValueError: this is no story, or not a whole one.

    >>> round(sum(surprisals(stories(1, seed=3)[0])), 2)
    25.84
    """
    return [
        -math.log(_chance(chances, word, number))
        for number, (chances, word) in enumerate(zip(_heard(story), (*story, END), strict=True))
    ]


def _heard(words: Sequence[str]) -> list[Mapping[str, float]]:
    """Return the chances at each of the words, and those of what follows."""
    teller = _story()
    chances = [next(teller)]
    for number, word in enumerate(words):
        _chance(chances[-1], word, number)
        chances.append(teller.send(word) if word != END else {})
    return chances


def _chance(chances: Mapping[str, float], word: str, number: int) -> float:
    if word not in chances:
        wanted = ", ".join(sorted(chances)[:5]) or "no more words"
        raise ValueError(f"story: got {word!r} as word {number}, wanted {wanted}")
    return chances[word]
