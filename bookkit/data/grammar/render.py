"""Put a sentence into words, in English and in Spanish together.

Each function says a stretch of English, then writes its Spanish; the order of words differs only
within such a stretch, so links are known when a Spanish word is written.
"""

from typing import NamedTuple

from bookkit.data.grammar import lexicon as lex
from bookkit.data.grammar.draft import Draft
from bookkit.data.grammar.lexicon import Pronoun, Verb
from bookkit.data.grammar.trees import Clause, NounPhrase, Sentence
from companion.data.pairs import Pair

_CONTRACTIONS = {"a": "al", "de": "del"}


class _Lead(NamedTuple):
    """The Spanish preposition before a noun phrase, and its links."""

    word: str
    sure: int | None
    possible: tuple[int, ...] = ()


class _VerbGroup(NamedTuple):
    """Positions of the English words of a verb group; None where there is none."""

    auxiliary: int | None
    negation: int | None
    verb: int | None
    particle: int | None


def render(sentence: Sentence) -> Pair:
    """Return the English sentence, its Spanish translation and the links between them."""
    draft = Draft()
    for conjunction, clause in sentence:
        if conjunction is not None:
            draft.write(lex.CONJUNCTIONS[conjunction], "conjunction", draft.say(conjunction))
        _clause(draft, clause)
    return draft.pair()


def _clause(draft: Draft, clause: Clause) -> None:
    dropped = _subject(draft, clause)
    if clause.verb is None:
        _copula(draft, clause, dropped)
    else:
        _verb_and_object(draft, clause, clause.verb, dropped)
    if clause.adjunct is not None:
        _adjunct(draft, clause)
    if clause.adverb:
        english, spanish = lex.ADVERBS[clause.tense]
        draft.write(spanish, "adverb", draft.say(english))


def _subject(draft: Draft, clause: Clause) -> tuple[int, ...]:
    """Say the subject; return the position of an English pronoun that Spanish leaves out."""
    if isinstance(clause.subject, NounPhrase):
        _noun_phrase(draft, clause.subject)
    elif clause.subject is not None:
        position = draft.say(clause.subject.english[0])
        if clause.person == lex.FIRST and not clause.contrast:
            return (position,)
        draft.write(clause.subject.spanish[0], "pronoun", position)
    return ()


def _copula(draft: Draft, clause: Clause, dropped: tuple[int, ...]) -> None:
    assert clause.adjective is not None
    verb = draft.say(lex.BE[clause.person])
    if clause.negative:
        draft.write("no", "negation", draft.say("not"))
    draft.write(lex.SER[clause.person], "verb", verb, dropped)
    if clause.very:
        draft.write("muy", "adverb", draft.say("very"))
    form = 2 * (clause.person > lex.SINGULAR) + clause.feminine
    position = draft.say(clause.adjective.english)
    draft.write(clause.adjective.spanish[form], "adjective", position)


def _verb_and_object(draft: Draft, clause: Clause, verb: Verb, dropped: tuple[int, ...]) -> None:
    group = _say_verb_group(draft, clause, verb)
    pronoun = clause.object if isinstance(clause.object, Pronoun) else None
    position = draft.say(pronoun.english[1]) if pronoun else None
    progressive = clause.tense == "progressive"
    particle = () if group.particle is None else (group.particle,)
    auxiliary = () if group.auxiliary is None else (group.auxiliary,)
    if clause.negative:
        # The do of "does not" is there for the negation alone.
        do_support = auxiliary if clause.tense in ("present", "past") else ()
        draft.write("no", "negation", group.negation, do_support)
    if pronoun:
        draft.write(pronoun.spanish[1], "pronoun", position)
    if progressive:
        assert verb.gerund is not None
        draft.write(lex.ESTAR[clause.person], "auxiliary", group.auxiliary, dropped)
        draft.write(verb.gerund, "verb", group.verb, particle)
    else:
        form = verb.spanish[clause.tense][clause.person]
        draft.write(form, "verb", group.verb, dropped + auxiliary + particle)
    if isinstance(clause.object, NounPhrase):
        personal = clause.object.noun.kind in ("person", "animal")
        _noun_phrase(draft, clause.object, _Lead("a", None, particle) if personal else None)


def _say_verb_group(draft: Draft, clause: Clause, verb: Verb) -> _VerbGroup:
    base, third, past, continuous = verb.english
    auxiliary = {
        "present": ("do", "does", "do")[clause.person] if clause.negative else None,
        "past": "did" if clause.negative else None,
        "future": "will",
        "progressive": lex.BE[clause.person],
    }[clause.tense]
    form: str | None = base
    if clause.tense == "progressive":
        form = continuous
    elif auxiliary is None:
        form = past if clause.tense == "past" else (base, third, base)[clause.person]
    assert form is not None
    return _VerbGroup(
        None if auxiliary is None else draft.say(auxiliary),
        draft.say("not") if clause.negative else None,
        draft.say(form),
        None if verb.particle is None else draft.say(verb.particle),
    )


def _adjunct(draft: Draft, clause: Clause) -> None:
    assert clause.adjunct is not None
    preposition, phrase = clause.adjunct
    position = draft.say(preposition.english)
    *first, last = preposition.spanish
    for word in first:
        draft.write(word, "adverb", position)
    _noun_phrase(draft, phrase, _Lead(last, None, (position,)) if first else _Lead(last, position))


def _noun_phrase(draft: Draft, phrase: NounPhrase, lead: _Lead | None = None) -> None:
    form = 2 * phrase.plural + phrase.noun.feminine
    before, adjective = phrase.before, phrase.adjective
    words = [*(["very"] if phrase.very else []), phrase.noun.english[phrase.plural]]
    if adjective:
        words.insert(-1, adjective.english)
    if before:
        words.insert(0, before.english)
    article = phrase.determiner.english[phrase.plural]
    assert article is not None
    if phrase.determiner is lex.A and words[0][0] in "aeiou":
        article = "an"
    determiner = draft.say(article)
    positions = [draft.say(word) for word in words]
    noun = positions[-1]

    _determiner(draft, phrase.determiner.spanish[form], determiner, noun, lead)
    if before:
        assert before.before is not None
        draft.write(before.before[form], "adjective", positions[0])
    draft.write(phrase.noun.spanish[phrase.plural], "noun", noun)
    if phrase.very:
        draft.write("muy", "adverb", positions[-3])
    if adjective:
        draft.write(adjective.spanish[form], "adjective", positions[-2])
    if phrase.owner:
        _noun_phrase(draft, phrase.owner, _Lead("de", draft.say("of")))
    if phrase.relative:
        person = phrase.noun.kind == "person"
        draft.write("que", "relative", draft.say("who" if person else "that"))
        _clause(draft, phrase.relative)


def _determiner(draft: Draft, word: str, position: int, noun: int, lead: _Lead | None) -> None:
    """Write the determiner after its preposition, contracted with it where Spanish demands."""
    if lead is None:
        draft.write(word, "determiner", position)
    elif word == "el" and lead.word in _CONTRACTIONS:
        word = _CONTRACTIONS[lead.word]
        if lead.sure is None:
            draft.write(word, "contraction", position, lead.possible)
        else:
            draft.write(word, "contraction", lead.sure, (position, *lead.possible))
    else:
        # The personal a has no English word: its object will do.
        loose = (position, noun) if lead.word == "a" else ()
        draft.write(lead.word, "preposition", lead.sure, lead.possible + loose)
        draft.write(word, "determiner", position)
