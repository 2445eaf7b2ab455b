"""Glosses: what each Spanish word of the grammar means in English, one word at a time."""

from collections.abc import Iterator, Sequence
from functools import cache

from bookkit.data.grammar import lexicon
from bookkit.data.grammar.lexicon import FIRST, SINGULAR, Tense, Verb

UNKNOWN = "?"
_SMALL_WORDS = {
    "a": "(to)", "al": "(to) the", "de": "of", "del": "of the", "no": "not", "que": "who/that",
    "yo": "I", "muy": "very", "en": "in", "cerca": "near", "con": "with", "su": "his/her",
    "sus": "his/her",
}  # fmt: skip
_BEFORE_A_VERB = {"la": "her", "los": "them"}
_BEFORE_A_NOUN = {"grandes": "great"}


def english_glosses(words: Sequence[str]) -> list[str]:
    """Say in English what each word of a Spanish sentence means.

    The English words stand in the Spanish order, one gloss a word, as linguists print it. "La" and
    "los" are articles, except before a verb, where they are "her" and "them"; "grandes" is "great"
    before its noun and "big" behind it. The "a" that Spanish puts before people and animals has no
    English word: its gloss stands in brackets. A verb whose ending says "I" has "I" in its gloss,
    unless "yo" has said so.

    Args:
        words: Spanish words of the grammar, in any order; they need not be a right sentence.

    Returns:
        One gloss a word, "?" for a word that the grammar does not have.

    Raises:
        TypeError: a string, not its words.

    >>> english_glosses("ella trabaja en la casa nueva".split())
    ['she', 'works', 'in', 'the', 'house', 'new']
    """
    if isinstance(words, str):
        raise TypeError(f"words: got the string {words!r}, wanted a sequence of words")
    return [_gloss(words, position) for position in range(len(words))]


def _gloss(words: Sequence[str], position: int) -> str:
    word, after = words[position], set(words[position + 1 : position + 2])
    if word in _BEFORE_A_VERB and after & _verb_forms():
        return _BEFORE_A_VERB[word]
    if word in _BEFORE_A_NOUN and after & _noun_forms():
        return _BEFORE_A_NOUN[word]
    said = _meanings().get(word, UNKNOWN)
    return said.removeprefix("I ") if "yo" in words[max(0, position - 3) : position] else said


@cache
def _meanings() -> dict[str, str]:
    """Return the gloss of every Spanish word; where two share a form, the first one's."""
    found: dict[str, str] = {}
    for spanish, english in _entries():
        found.setdefault(spanish, english)
    return found


@cache
def _verb_forms() -> frozenset[str]:
    """Return the forms of verbs that a pronoun may stand before, auxiliaries included."""
    forms = {form for verb in lexicon.VERBS for forms in verb.spanish.values() for form in forms}
    return frozenset(forms | set(lexicon.ESTAR))


@cache
def _noun_forms() -> frozenset[str]:
    return frozenset(form for noun in lexicon.NOUNS for form in noun.spanish)


def _entries() -> Iterator[tuple[str, str]]:
    yield from _SMALL_WORDS.items()
    yield from _determiners()
    for noun in lexicon.NOUNS:
        yield from zip(noun.spanish, noun.english, strict=True)
    for adjective in lexicon.ADJECTIVES:
        yield from ((form, adjective.english) for form in adjective.spanish)
    for adjective in lexicon.ADJECTIVES:
        yield from ((form, adjective.english) for form in adjective.before or ())
    for verb in lexicon.VERBS:
        yield from _verb(verb)
    for pronoun in lexicon.PRONOUNS:
        yield from zip(pronoun.spanish, pronoun.english, strict=True)
    for spanish in (lexicon.SER, lexicon.ESTAR):
        yield from zip(spanish, ("I am", *lexicon.BE[1:]), strict=True)
    yield from ((spanish, english) for english, spanish in lexicon.ADVERBS.values())
    yield from ((spanish, english) for english, spanish in lexicon.CONJUNCTIONS.items())


def _determiners() -> Iterator[tuple[str, str]]:
    for determiner in lexicon.DETERMINERS[:6]:
        singular, plural = determiner.english
        for form, word in enumerate(determiner.spanish):
            english = plural if form >= 2 else singular
            if word and english:
                yield word, english


def _verb(verb: Verb) -> Iterator[tuple[str, str]]:
    particle = f" {verb.particle}" if verb.particle else ""
    if verb.gerund is not None:
        yield verb.gerund, f"{verb.english[3]}{particle}"
    for tense, forms in verb.spanish.items():
        for person, form in enumerate(forms):
            said = _english(verb, tense, person)
            yield form, f"I {said}{particle}" if person == FIRST else f"{said}{particle}"


def _english(verb: Verb, tense: Tense, person: int) -> str:
    base, third, past, _ = verb.english
    if tense == "future":
        return f"will {base}"
    if tense == "past":
        return past
    return third if person == SINGULAR else base
